"""The choice of an encoding for strings and other bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.binary.block_dictionary import BLOCK_DICTIONARY
from amudai.encoding.binary.contract import BinaryEncoding
from amudai.encoding.binary.fsst import FSST
from amudai.encoding.binary.lz4 import LZ4
from amudai.encoding.binary.plain import PLAIN
from amudai.encoding.binary.shared import LZ4_SHARED, ZSTD_SHARED
from amudai.encoding.binary.snappy import SNAPPY
from amudai.encoding.binary.zstd import ZSTD
from amudai.encoding.binary.zstd_work import zstd_work
from amudai.encoding.codec import (
    LONG_MATCHES,
    QUICK,
    RECORDS,
    THOROUGH,
    compress_lz4,
    compress_records,
    compress_snappy,
    compress_zstd,
    encode_section,
    steps_section,
)
from amudai.encoding.numeric.delta import DELTA
from amudai.encoding.numeric.ffor import FFOR
from amudai.encoding.numeric.fl_bit_pack import FL_BIT_PACK
from amudai.encoding.numeric.patched import PATCHED
from amudai.encoding.plan import EncodingPlan
from amudai.encoding.profile import Profile
from amudai.encoding.shared_encoder import SharedEncoder

__all__ = [
    "BytesBlock",
    "BytesChoice",
    "EncodedBlock",
    "choose_bytes",
    "decoding_time",
    "encode_region",
    "lookup_price",
    "lz4_blocks",
    "reach_time",
]

U8 = npt.NDArray[np.uint8]
U64 = npt.NDArray[np.uint64]

_STEPS: Final = EncodingPlan(DELTA, (EncodingPlan(FFOR),)).program
_PATCHED_STEPS: Final = EncodingPlan(DELTA, (EncodingPlan(PATCHED),)).program
_CODES: Final = EncodingPlan(FFOR).program
_LENGTHS: Final = EncodingPlan(FL_BIT_PACK).program

# Nanoseconds to decode a byte, and for each value in addition: measured once, so that files do not depend on the
# machine. FSST's varies with the text between half and twice LZ4's. It is equal to LZ4's, so that the smaller of the
# two is chosen. Snappy takes a quarter more, LZ4 with a dictionary two thirds: its matches are less often near.
_BYTE_PRICE: Final = {PLAIN: 0.05, FSST: 0.27, LZ4: 0.27, BLOCK_DICTIONARY: 0.05, SNAPPY: 0.34, LZ4_SHARED: 0.45}
_VALUE_PRICE: Final = {
    PLAIN: 0.5,
    FSST: 0.5,
    LZ4: 0.5,
    ZSTD: 0.5,
    BLOCK_DICTIONARY: 2.5,
    SNAPPY: 0.5,
    LZ4_SHARED: 0.5,
    ZSTD_SHARED: 0.5,
}
_TIGHT: Final = 0.18  # an LZ4 block that shrinks to this fraction decompresses in half the time
_HALVED: Final = frozenset({LZ4, LZ4_SHARED})
# Nanoseconds to decompress a Zstandard frame, one of its literals, and one of its sequences (a match each), and for
# each byte in addition: fitted to text of many kinds, at levels 1 and 9, in frames of 16 to 128 KiB.
_FRAME_PRICE: Final = 2700.0
_LITERAL_PRICE: Final = 0.65
_SEQUENCE_PRICE: Final = 9.6
_COPY_PRICE: Final = 0.08
_DECIMAL_SIZE: Final = 16
_RECORD_PRICE: Final = 1.5  # for a value of this size in a frame of records: 1.1 with nine digits, 2.7 with more
_DECIMAL_PRICE: Final = 0.5  # for a byte of values of this size, whose upper bytes are mostly the same
# The least that a byte costs in text that shrinks to a twentieth.
_LEAST_PRICE: Final = _BYTE_PRICE | {LZ4: 0.135, ZSTD: 0.25}
_LOOKUP_PRICE: Final = 0.5  # to look up a value in a dictionary that all blocks share
# For a single value, Zstandard decompresses the whole block, LZ4 half of it on average. Blocks are made smaller than
# the profile says, by `_DIVISOR`, if the time saved for one value in `_ALONE`, at the profile's price, is worth more
# than the additional bytes.
_DIVISOR: Final = {LZ4: 2, ZSTD: 4}
# Nanoseconds for a byte of the block.
_REACH_PRICE: Final = {LZ4: 0.055, ZSTD: 0.3, LZ4_SHARED: 0.2, ZSTD_SHARED: 0.35}
_ALONE: Final = 1000
_HURRY: Final = 0.2  # below this price only size counts
# Blocks with fewer bytes are not compressed.
_LEAST: Final = 64
_HEADER: Final = {ZSTD: 8, ZSTD_SHARED: 16}  # bytes of a region before its Zstandard frame
_GAIN: Final = 0.97
# The choice for a longer value is made by this many of its bytes.
_SAMPLED: Final = 4 * 1024 * 1024
# Five microseconds of writing are worth a byte. For each byte of text, the slow level takes 0.1 microseconds more, and
# the usual level 5 nanoseconds more than `LONG_MATCHES`, so each must save this many bytes. The first of `_PART` parts
# of a block shows what the slow level saves.
_SLOW_GAIN: Final = 0.02
_USUAL_GAIN: Final = 0.001
_PART: Final = 8
# Where reading counts, a quarter of a microsecond of writing is worth a byte. LZ4's thorough search takes a nanosecond
# more for each byte of text than the quick one.
_THOROUGH_GAIN: Final = 0.004
# FSST's search for symbols takes a third of a millisecond in the smallest block, as long as these bytes are worth. A
# byte of FSST stands for eight bytes of text at most.
_FSST_SEARCH: Final = 1400
_FSST_MOST: Final = 8


@dataclass(frozen=True, slots=True, eq=False)
class BytesBlock:
    """The slots of one block: `data`, and the offsets of the values in it or their fixed size."""

    offsets: npt.NDArray[Any] | None
    data: U8
    count: int
    valid: npt.NDArray[np.bool_] | None

    @property
    def content(self) -> U8:
        """The bytes of all values."""
        if self.offsets is None:
            return self.data
        return self.data[self.offsets[0] : self.offsets[-1]]

    def head(self, count: int) -> BytesBlock:
        """The first `count` slots."""
        return self.part(0, count)

    def part(self, start: int, end: int) -> BytesBlock:
        """The slots `start..end`."""
        valid = None if self.valid is None else self.valid[start:end]
        if self.offsets is None:
            size = len(self.data) // self.count
            return BytesBlock(None, self.data[start * size : end * size], end - start, valid)
        return BytesBlock(self.offsets[start : end + 1], self.data, end - start, valid)


@dataclass(frozen=True, slots=True)
class BytesChoice:
    """An encoding, its level if it has levels, and the expected bytes and total cost of a slot."""

    encoding: BinaryEncoding
    level: int
    bytes_per_slot: float
    cost: float
    # Blocks are smaller than the profile says by this factor.
    divisor: int = 1

    def is_like(self, other: BytesChoice) -> bool:
        """Whether both make the same blocks."""
        return (self.encoding, self.level, self.divisor) == (other.encoding, other.level, other.divisor)


@dataclass(frozen=True, slots=True)
class EncodedBlock:
    """A whole block, and the bytes that its values take in it."""

    block: bytes | memoryview
    values: int


def choose_bytes(block: BytesBlock, profile: Profile) -> BytesChoice:
    """The cheapest encoding for slots like these."""
    raw = len(block.content)
    if block.count == 1 and raw > _SAMPLED:
        # Each trial would need as much memory as the value. Its beginning shows how it can be compressed.
        begin = np.array([0, _SAMPLED], np.int64)
        found = choose_bytes(BytesBlock(begin, block.content[:_SAMPLED], 1, None), replace(profile, slow_level=0))
        return replace(found, bytes_per_slot=found.bytes_per_slot * raw / _SAMPLED, divisor=1)
    if profile.plain or raw < _LEAST:
        return BytesChoice(PLAIN, 0, float("inf"), float("inf"))
    best = BytesChoice(PLAIN, 0, float("inf"), float("inf"))
    average = raw / block.count
    for encoding, level in _candidates(block, profile):
        if profile.price * (_LEAST_PRICE[encoding] * average + _VALUE_PRICE[encoding]) >= best.cost:
            continue  # too expensive at any size
        if encoding is FSST and profile.price and best.bytes_per_slot * block.count - raw / _FSST_MOST < _FSST_SEARCH:
            continue  # it takes longer to try than it can save
        region = encode_region(block, encoding, level, profile)
        if region is None:
            continue
        size = len(region) / block.count
        if encoding is not PLAIN and size > _GAIN * (average + 8):
            continue
        cost = size + profile.price * decoding_time(block, encoding, region, level)
        if cost < best.cost:
            found = _divided(block, BytesChoice(encoding, level, size, cost), profile)
            best = min(best, found, key=lambda choice: choice.cost)
    if best.encoding is ZSTD and profile.price == 0:
        smaller = _slower(block, best, profile) if profile.slow_level else None
        best = _quicker(block, best, LONG_MATCHES, _USUAL_GAIN, profile) if smaller is None else smaller
    if best.encoding is LZ4 and best.level == THOROUGH and profile.price > 0:
        best = _quicker(block, best, QUICK, _THOROUGH_GAIN, profile)
    return best


def decoding_time(block: BytesBlock, encoding: BinaryEncoding, region: bytes, level: int = 0) -> float:
    """Nanoseconds to decode a slot of a block, given all of its slots as a region."""
    if encoding is ZSTD and level == RECORDS:
        return _RECORD_PRICE
    raw = len(block.content)
    return _bytes_time(block, encoding, region, raw) / block.count + _VALUE_PRICE[encoding]


def _bytes_time(block: BytesBlock, encoding: BinaryEncoding, region: bytes, raw: int) -> float:
    if encoding not in _HEADER:
        return _BYTE_PRICE[encoding] * raw / (2 if encoding in _HALVED and len(region) < _TIGHT * raw else 1)
    if block.offsets is None and raw == _DECIMAL_SIZE * block.count:
        return _DECIMAL_PRICE * raw / (2 if len(region) < _TIGHT * raw else 1)
    work = zstd_work(memoryview(region)[_HEADER[encoding] :])
    return _FRAME_PRICE + _COPY_PRICE * raw + _LITERAL_PRICE * work.literals + _SEQUENCE_PRICE * work.sequences


def _slower(block: BytesBlock, best: BytesChoice, profile: Profile) -> BytesChoice | None:
    """The choice with the slow level of Zstandard, if that makes a part of the block much smaller."""
    part = block.head(max(1, block.count // _PART))
    usual, slow = (encode_region(part, ZSTD, level, profile) for level in (best.level, profile.slow_level))
    if usual is None or slow is None or len(usual) - len(slow) < _SLOW_GAIN * len(part.content):
        return None
    saved = best.bytes_per_slot * (1 - len(slow) / len(usual))
    return replace(best, level=profile.slow_level, bytes_per_slot=best.bytes_per_slot - saved, cost=best.cost - saved)


def _quicker(block: BytesBlock, best: BytesChoice, level: int, gain: float, profile: Profile) -> BytesChoice:
    """The choice with a level that searches quicker, unless `best` saves `gain` bytes or more of each byte of text."""
    if block.offsets is None or (best.encoding is ZSTD and best.level == min(profile.zstd_levels)):
        return best
    region = encode_region(block, best.encoding, level, profile)
    if region is None:
        return best
    more = len(region) / block.count - best.bytes_per_slot
    if more * block.count >= gain * len(block.content):
        return best
    return replace(best, level=level, bytes_per_slot=best.bytes_per_slot + more, cost=best.cost + more)


def _divided(block: BytesBlock, choice: BytesChoice, profile: Profile) -> BytesChoice:
    """The choice with smaller blocks, at the cost of these, if single values make them worth it."""
    # A record is found by its place.
    divisor = 1 if choice.level == RECORDS else _DIVISOR.get(choice.encoding, 1)
    rows = block.count // divisor
    if profile.price < _HURRY or divisor == 1 or rows == 0:
        return choice
    head = block.head(rows)
    region = encode_region(head, choice.encoding, choice.level, profile)
    if region is None:
        return choice
    growth = len(region) / rows - choice.bytes_per_slot
    saved = _REACH_PRICE[choice.encoding] * len(block.content) * (1 - 1 / divisor)
    if growth * _ALONE > profile.price * saved:
        return choice
    cost = len(region) / rows + profile.price * decoding_time(head, choice.encoding, region, choice.level)
    return replace(choice, cost=cost, divisor=divisor)


def reach_time(choice: BytesChoice, size: float, profile: Profile) -> float:
    """Nanoseconds of a slot for those that are reached alone, in blocks with values of `size` bytes."""
    return _REACH_PRICE.get(choice.encoding, 0.0) * size / _ALONE if profile.price >= _HURRY else 0.0


def lookup_price(block: BytesBlock, profile: Profile) -> float:
    """The cost of a slot besides its bytes if it is a code of a dictionary that all blocks share."""
    return profile.price * (_BYTE_PRICE[PLAIN] * len(block.content) / block.count + _LOOKUP_PRICE)


def _candidates(block: BytesBlock, profile: Profile) -> Iterator[tuple[BinaryEncoding, int]]:
    yield PLAIN, 0
    if block.offsets is not None and profile.cascades:
        yield BLOCK_DICTIONARY, 0
    if profile.zstd_levels and block.offsets is None and len(block.data) == _DECIMAL_SIZE * block.count:
        yield ZSTD, RECORDS
    yield FSST, 0
    yield LZ4, profile.lz4_level
    if profile.extended and not profile.zstd_levels:
        yield SNAPPY, 0
    for level in profile.zstd_levels:
        yield ZSTD, level


def encode_region(
    block: BytesBlock, encoding: BinaryEncoding, level: int, profile: Profile, shared: SharedEncoder | None = None
) -> bytes | None:
    """The encoded values of a block; None if the encoding is not suitable for them.

    `shared` compresses with a dictionary, for encodings that need one.
    """
    if encoding is PLAIN:
        return _kernels.plain_region(block.offsets, block.data)
    content = block.content
    if encoding is BLOCK_DICTIONARY:
        return _dictionary(block)
    if encoding is ZSTD and level == RECORDS:
        frame = compress_records(content, block.valid)
        return None if frame is None else _kernels.zstd_region(frame, None, False, None)
    offsets, nested = (None, False) if block.offsets is None else _offsets(block.offsets, profile)
    if encoding is FSST:
        if len(content) < _LEAST:
            return None
        symbols, lengths, codes = _kernels.fsst_encode(content)
        return _kernels.fsst_region(symbols, lengths, codes, offsets, nested)
    compressed = _compressed(content, encoding, level, shared)
    if len(compressed) >= len(content):
        return None
    dictionary = None if shared is None else shared.checksum
    if encoding is LZ4 or encoding is LZ4_SHARED:
        return _kernels.lz4_region(compressed, len(content), offsets, nested, dictionary)
    if encoding is SNAPPY:
        return _kernels.snappy_region(compressed, offsets, nested)
    if block.offsets is not None and offsets is not None and nested:
        offsets = _shortest(block.offsets, offsets) if profile.price == 0 else offsets
    return _kernels.zstd_region(compressed, offsets, nested, dictionary)


def lz4_blocks(
    slots: BytesBlock, cuts: list[int], bits: U8 | None, level: int, profile: Profile
) -> list[EncodedBlock | None]:
    """The blocks of the slots between `cuts`, as `encode_region` would make their values by LZ4 with this level.

    `bits` says which slots are not null. The level is one of those of the kernels.
    """
    assert slots.offsets is not None
    programs = [_STEPS, _PATCHED_STEPS] if profile.extended else [_STEPS]
    data, sizes, values = _kernels.lz4_blocks(
        slots.offsets, slots.data, bits, np.array(cuts, np.int64), level == THOROUGH, programs
    )
    ends = np.cumsum(sizes, dtype=np.int64).tolist()
    whole = memoryview(data)
    return [
        EncodedBlock(whole[end - size : end], taken) if size else None
        for end, size, taken in zip(ends, sizes.tolist(), values.tolist(), strict=True)
    ]


def _compressed(content: U8, encoding: BinaryEncoding, level: int, shared: SharedEncoder | None) -> bytes:
    if shared is not None:
        return shared.compress_lz4(content) if encoding is LZ4_SHARED else shared.compress_zstd(content, level)
    if encoding is SNAPPY:
        return compress_snappy(content)
    return compress_lz4(content, level) if encoding is LZ4 else compress_zstd(content, level)


def _offsets(offsets: npt.NDArray[np.int64], profile: Profile) -> tuple[bytes, bool]:
    """Offsets from 0 on, as a section or raw, whichever is shorter."""
    rebased = (offsets - offsets[0]).view(np.uint64)
    section = encode_section(rebased, _STEPS)
    if profile.extended:
        section = min(section, encode_section(rebased, _PATCHED_STEPS), key=len)
    return (section, True) if len(section) < rebased.nbytes else (rebased.tobytes(), False)


def _shortest(offsets: npt.NDArray[np.int64], section: bytes) -> bytes:
    """The offsets as `section`, or as compressed steps if those are shorter. They take ten times as long to read."""
    steps = steps_section((offsets - offsets[0]).view(np.uint64))
    return min(section, steps, key=len)


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
