"""Compression with Zstandard, LZ4, Snappy and Pco.

All but some levels of LZ4 come from Python packages. Therefore a run of numbers with such a codec inside is
encoded in steps: the kernels return the bytes to compress, the packages compress them, and the kernels put the result
in its place.
"""

from __future__ import annotations

from struct import Struct
from threading import local
from typing import Any, Final

import lz4.block
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import zstandard

from amudai import _kernels
from amudai.encoding.numeric.delta import DELTA
from amudai.encoding.numeric.lz4 import LZ4
from amudai.encoding.numeric.pco import PCO
from amudai.encoding.numeric.snappy import SNAPPY
from amudai.encoding.numeric.zstd import ZSTD
from amudai.encoding.pco_codec import compress_pco
from amudai.encoding.plan import EncodingPlan

__all__ = [
    "KERNEL_LEVELS",
    "LONG_MATCHES",
    "QUICK",
    "RECORDS",
    "THOROUGH",
    "compress_lz4",
    "compress_records",
    "compress_small_numbers",
    "compress_snappy",
    "compress_zstd",
    "encode_blocks",
    "encode_section",
    "steps_section",
    "zstd_parameters",
]

_ENVELOPE = 8
_DELTA_HEADER: Final = Struct("<HQ6x")
_ZSTD_HEADER: Final = ZSTD.code.to_bytes(8, "little")

# Levels of LZ4 of our own: the kernels' quick search, and their thorough one.
QUICK: Final = 1
THOROUGH: Final = 2
KERNEL_LEVELS: Final = (QUICK, THOROUGH)
# A level of Zstandard of our own, for text: as level 9, but only matches of six bytes and more are looked for, and half
# as many places. Logs get as small as at level 9 in two thirds of the time.
LONG_MATCHES: Final = 8
# Another one, for values of 16 bytes that differ from the value before in their first bytes only, as decimals do: every
# value is found by its place, without decompressing the others.
RECORDS: Final = -1

_threads = local()


def compress_lz4(data: Any, level: int) -> bytes:
    """One LZ4 block without a frame. Level 0 is LZ4's fast search, 3 to 12 its slow one; two are the kernels' own."""
    if level == 0:
        return bytes(lz4.block.compress(data, mode="fast", acceleration=1, store_size=False))
    if level in KERNEL_LEVELS:
        return _kernels.lz4_compress(np.frombuffer(data, np.uint8), level == THOROUGH)
    return bytes(lz4.block.compress(data, mode="high_compression", compression=level, store_size=False))


def compress_snappy(data: Any) -> bytes:
    """One Snappy block without a frame."""
    return bytes(pa.compress(data, codec="snappy", asbytes=True))


def compress_zstd(data: Any, level: int) -> bytes:
    """One Zstandard frame that states its size. Level `LONG_MATCHES` is not Zstandard's own."""
    compressors = getattr(_threads, "zstd", None)
    if compressors is None:
        compressors = _threads.zstd = {}
    if level not in compressors:
        # One for each thread: a compressor is not thread-safe.
        compressors[level] = _compressor(level)
    return bytes(compressors[level].compress(data))


def compress_records(data: npt.NDArray[np.uint8], valid: npt.NDArray[np.bool_] | None) -> bytes | None:
    """One Zstandard frame in the form of level `RECORDS`; None if the values do not suit it.

    Null values, which `valid` marks, become equal to the value before.
    """
    return _kernels.zstd_records(data, None if valid is None else np.ascontiguousarray(valid).view(np.uint8))


def _compressor(level: int) -> zstandard.ZstdCompressor:
    if level == LONG_MATCHES:
        return zstandard.ZstdCompressor(compression_params=zstd_parameters(level))
    return zstandard.ZstdCompressor(level=level, write_content_size=True, write_checksum=False)


def zstd_parameters(level: int, **options: Any) -> zstandard.ZstdCompressionParameters:
    """The parameters of a level, of `LONG_MATCHES` too, for frames that state their size."""
    options |= {"write_content_size": True, "write_checksum": False}
    if level != LONG_MATCHES:
        return zstandard.ZstdCompressionParameters.from_level(level, **options)
    return zstandard.ZstdCompressionParameters(
        strategy=zstandard.STRATEGY_LAZY2,
        min_match=6,
        hash_log=18,
        chain_log=18,
        search_log=3,
        window_log=20,
        **options,
    )


def compress_small_numbers(data: Any) -> bytes:
    """One Zstandard frame of 8-byte numbers that are mostly below 256.

    Each number is a literal and seven zeros. With this match finder every number is the same sequence, which costs
    nothing, and the literals take little more than their entropy. No standard level finds that form at all sizes.
    """
    compressor = getattr(_threads, "small_numbers", None)
    if compressor is None:
        parameters = zstandard.ZstdCompressionParameters(
            strategy=zstandard.STRATEGY_GREEDY,
            min_match=7,
            hash_log=6,
            chain_log=6,
            search_log=1,
            window_log=18,
            write_content_size=True,
            write_checksum=False,
        )
        compressor = _threads.small_numbers = zstandard.ZstdCompressor(compression_params=parameters)
    return bytes(compressor.compress(data))


def encode_section(values: npt.NDArray[Any], program: bytes) -> bytes:
    """The values as a bare section, to be put into another structure."""
    block, _ = _kernels.encode_numbers(values, None, 0, program, max(1, len(values)), None, False)
    return block[_ENVELOPE : _ENVELOPE + int.from_bytes(block[4:_ENVELOPE], "little")]


def steps_section(values: npt.NDArray[np.uint64], level: int | None = None) -> bytes:
    """The first value, and the compressed differences to the following values. Needs at least two values.

    Without a level of Zstandard, they are compressed in a way for small differences.
    """
    steps = np.diff(values).data
    frame = compress_small_numbers(steps) if level is None else compress_zstd(steps, level)
    return b"".join((_DELTA_HEADER.pack(DELTA.code, int(values[0])), _ZSTD_HEADER, frame))


def encode_blocks(
    values: npt.NDArray[Any],
    validity: npt.NDArray[np.uint8] | None,
    validity_at: int,
    plan: EncodingPlan,
    block_values: int,
    level: int,
) -> tuple[bytes, npt.NDArray[np.uint32]]:
    """The values as consecutive blocks, and the size of each block."""
    program = plan.program
    compressed = None
    if plan.codecs:
        leaves = _kernels.codec_leaves(values, validity, validity_at, program, block_values)
        compressed = [_compressed(code, dtype, raw, level) for code, dtype, raw in leaves]
    return _kernels.encode_numbers(values, validity, validity_at, program, block_values, compressed, True)


def _compressed(code: int, dtype: str, raw: bytes, level: int) -> bytes:
    """What the codec with this code makes of values of this type."""
    if code == LZ4.code:
        return compress_lz4(raw, level)
    if code == PCO.code:
        return compress_pco(raw, dtype)
    return compress_snappy(raw) if code == SNAPPY.code else compress_zstd(raw, level)
