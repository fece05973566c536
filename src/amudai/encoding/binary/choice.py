"""Which encoding for these strings?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.binary.block_dictionary import BLOCK_DICTIONARY
from amudai.encoding.binary.contract import BinaryEncoding
from amudai.encoding.binary.fsst import FSST
from amudai.encoding.binary.lz4 import LZ4
from amudai.encoding.binary.plain import PLAIN
from amudai.encoding.binary.zstd import ZSTD
from amudai.encoding.codec import compress_lz4, compress_zstd, encode_section
from amudai.encoding.numeric.delta import DELTA
from amudai.encoding.numeric.ffor import FFOR
from amudai.encoding.numeric.fl_bit_pack import FL_BIT_PACK
from amudai.encoding.plan import Plan
from amudai.encoding.profile import Profile

__all__ = ["BytesBlock", "BytesChoice", "choose_bytes", "encode_region"]

U8 = npt.NDArray[np.uint8]
U64 = npt.NDArray[np.uint64]

_STEPS: Final = Plan(DELTA, (Plan(FFOR),)).program
_CODES: Final = Plan(FFOR).program
_LENGTHS: Final = Plan(FL_BIT_PACK).program

# Nanoseconds to decode a byte, and a value besides: measured once, so that files do not depend on the machine.
_BYTE_PRICE: Final = {PLAIN: 0.05, FSST: 0.2, LZ4: 0.27, ZSTD: 0.7, BLOCK_DICTIONARY: 0.05}
_VALUE_PRICE: Final = {BLOCK_DICTIONARY: 2.5}
_TIGHT: Final = 0.18  # what shrinks this much inflates in half the time
# Compressed blocks below this many bytes are not worth the trouble.
_LEAST: Final = 64
_GAIN: Final = 0.97


@dataclass(frozen=True, slots=True, eq=False)
class BytesBlock:
    """The slots of one block: where each value begins and ends in `data`, or how long all of them are."""

    offsets: npt.NDArray[np.int64] | None
    data: U8
    count: int
    valid: npt.NDArray[np.bool_] | None

    @property
    def content(self) -> U8:
        """The values, back to back."""
        if self.offsets is None:
            return self.data
        return self.data[self.offsets[0] : self.offsets[-1]]


@dataclass(frozen=True, slots=True)
class BytesChoice:
    """An encoding, its level where it has one, and the bytes that a slot is expected to take."""

    encoding: BinaryEncoding
    level: int
    bytes_per_slot: float
    # Zstandard inflates a block as a whole: small blocks keep single values cheap.
    small_blocks: bool = False


def choose_bytes(block: BytesBlock, profile: Profile) -> BytesChoice:
    """The cheapest way to store slots like these."""
    raw = len(block.content)
    if profile.plain or raw < _LEAST:
        return BytesChoice(PLAIN, 0, float("inf"))
    best, least = BytesChoice(PLAIN, 0, float("inf")), float("inf")
    for encoding, level in _candidates(block, profile):
        region = encode_region(block, encoding, level)
        if region is None:
            continue
        size = len(region) / block.count
        slower = _BYTE_PRICE[encoding]
        if encoding in (LZ4, ZSTD) and len(region) < _TIGHT * raw:
            slower /= 2
        cost = size + profile.price * (slower * raw / block.count + _VALUE_PRICE.get(encoding, 0.0))
        if encoding is not PLAIN and size > _GAIN * (raw / block.count + 8):
            continue
        if cost < least:
            small = encoding is ZSTD and profile.price >= 0.2
            best, least = BytesChoice(encoding, level, size, small), cost
    return best


def _candidates(block: BytesBlock, profile: Profile) -> Iterator[tuple[BinaryEncoding, int]]:
    yield PLAIN, 0
    if block.offsets is not None and profile.cascades:
        yield BLOCK_DICTIONARY, 0
    yield FSST, 0
    yield LZ4, profile.lz4_level
    for level in profile.zstd_levels:
        yield ZSTD, level


def encode_region(block: BytesBlock, encoding: BinaryEncoding, level: int) -> bytes | None:
    """The block's values; None where the encoding cannot or should not hold them."""
    if encoding is PLAIN:
        return _kernels.plain_region(block.offsets, block.data)
    content = block.content
    if encoding is BLOCK_DICTIONARY:
        return _dictionary(block)
    offsets, nested = (None, False) if block.offsets is None else _offsets(block.offsets)
    if encoding is FSST:
        if len(content) < _LEAST:
            return None
        symbols, lengths, codes = _kernels.fsst_encode(content)
        return _kernels.fsst_region(symbols, lengths, codes, offsets, nested)
    if encoding is LZ4:
        compressed = compress_lz4(content, level)
        return (
            None if len(compressed) >= len(content) else _kernels.lz4_region(compressed, len(content), offsets, nested)
        )
    compressed = compress_zstd(content, level)
    return None if len(compressed) >= len(content) else _kernels.zstd_region(compressed, offsets, nested)


def _offsets(offsets: npt.NDArray[np.int64]) -> tuple[bytes, bool]:
    """Offsets from 0 on, as a section or raw, whichever is shorter."""
    rebased = (offsets - offsets[0]).view(np.uint64)
    section = encode_section(rebased, _STEPS)
    raw = rebased.tobytes()
    return (section, True) if len(section) < len(raw) else (raw, False)


def _dictionary(block: BytesBlock) -> bytes | None:
    if block.offsets is None:
        return None
    bits = None if block.valid is None else np.packbits(block.valid, bitorder="little")
    found = _kernels.block_dictionary(block.offsets, block.data, bits, 0)
    if found is None:
        return None
    codes, lengths, entries = found
    packed = encode_section(lengths, _LENGTHS)
    nested = len(packed) < lengths.nbytes
    return _kernels.dictionary_region(
        encode_section(codes, _CODES), packed if nested else lengths.tobytes(), nested, len(lengths), entries
    )
