"""How do blocks become Arrow buffers?

One function for each way in which values are stored. Each allocates the Arrow buffers once, from pyarrow's pool, and
lets the kernels write every run of blocks straight into its place.
"""

from __future__ import annotations

import os
from collections import Counter
from threading import local
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import zstandard

from amudai import _kernels
from amudai.encoding.buffer import BlockBuffer, Run
from amudai.encoding.ranges import Ranges
from amudai.encoding.values import Values
from amudai.errors import CorruptedData, InvalidArgument
from amudai.format import ValueDictionary

__all__ = [
    "decode_bits",
    "decode_dictionary",
    "decode_fixed",
    "decode_numbers",
    "decode_variable",
    "describe_binary",
    "describe_numbers",
    "require_memory",
    "require_text",
]

# Kernels copy in whole steps and may write this much behind the last value.
SLACK: Final = 64

_MEMORY: Final = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

Frame = tuple[int, int, int, int]


def decode_numbers(buffer: BlockBuffer, ranges: Ranges, dtype: str, nullable: bool = True) -> Values:
    """Numbers of one width, with the nulls that their blocks mark."""
    count = ranges.count
    data, values = _allocate(count, dtype)
    validity, bits = _bitmap(count) if nullable else (None, None)
    nulls = done = 0
    for run in buffer.runs(ranges):
        _inflate(run, _kernels.numeric_frames(run.blocks, dtype))
        nulls += _kernels.decode_numbers(run.blocks, run.block, run.first, run.count, values, bits, done)
        done += run.slots
    return Values(count, nulls, validity if nulls else None, data)


def decode_bits(buffer: BlockBuffer, ranges: Ranges) -> tuple[pa.Buffer, int]:
    """Bits of a bit buffer as an Arrow bitmap, and how many of them are set."""
    count = ranges.count
    bitmap, bits = _bitmap(count)
    found = done = 0
    for run in buffer.runs(ranges, unit=8):
        _inflate(run, _kernels.numeric_frames(run.blocks, "u1"))
        found += _kernels.decode_bits(run.blocks, run.block, run.first, run.count, bits, done)
        done += run.slots
    return bitmap, found


def decode_fixed(buffer: BlockBuffer, ranges: Ranges, size: int) -> Values:
    """Values of `size` bytes each."""
    count = ranges.count
    data, out = _allocate(count * size + SLACK, "u1")
    validity, bits = _bitmap(count)
    nulls = done = 0
    for run in buffer.runs(ranges):
        _inflate(run, _kernels.binary_frames(run.blocks, size))
        nulls += _kernels.decode_fixed(run.blocks, run.block, run.first, run.count, size, out, bits, done)
        done += run.slots
    return Values(count, nulls, validity if nulls else None, data.slice(0, count * size))


def decode_variable(buffer: BlockBuffer, ranges: Ranges, *, text: bool, wide: bool) -> Values:
    """Strings or binaries, with 64-bit offsets where `wide`.

    Raises OverflowError where the values hold more bytes than 32-bit offsets can count.
    """
    count = ranges.count
    offsets_buffer, offsets = _allocate(count + 1, "i8" if wide else "i4")
    offsets[0] = 0
    validity, bits = _bitmap(count)
    nulls = done = 0
    # First where each value goes, then, in memory of the right size, the values.
    runs: list[tuple[Run, int, npt.NDArray[np.uint64]]] = []
    for run in buffer.runs(ranges):
        _inflate(run, _kernels.binary_frames(run.blocks, None))
        origins, sizes = np.empty(len(run.block), np.uint64), np.zeros(len(run.blocks), np.uint64)
        nulls += _kernels.decode_offsets(
            run.blocks, run.block, run.first, run.count, offsets, bits, done, origins, sizes
        )
        _inflate(run, _kernels.payload_frames(run.blocks, sizes))
        runs.append((run, done, origins))
        done += run.slots
    total = int(offsets[-1])
    data, out = _allocate(total + SLACK, "u1")
    for run, at, origins in runs:
        _kernels.decode_bytes(run.blocks, run.block, run.first, run.count, origins, offsets, at, text, out)
    return Values(count, nulls, validity if nulls else None, data.slice(0, total), offsets_buffer)


def decode_dictionary(buffer: BlockBuffer, ranges: Ranges, dictionary: ValueDictionary, *, wide: bool) -> Values:
    """Values that are stored as codes of a dictionary.

    Raises OverflowError where the values hold more bytes than 32-bit offsets can count.
    """
    count = ranges.count
    codes = decode_numbers(buffer, ranges, "u4", nullable=False).numbers("u4")
    validity, bits = _bitmap(count)
    entries = np.frombuffer(dictionary.values, np.uint8)
    if dictionary.offsets is None:
        size = dictionary.fixed_value_size
        data, out = _allocate(count * size, "u1")
        nulls = _kernels.gather_fixed(codes, entries, size, dictionary.null_id, out, bits)
        return Values(count, nulls, validity if nulls else None, data)
    offsets_buffer, offsets = _allocate(count + 1, "i8" if wide else "i4")
    nulls = _kernels.gather_offsets(codes, dictionary.offsets, dictionary.null_id, offsets, bits)
    total = int(offsets[-1])
    data, out = _allocate(total + SLACK, "u1")
    _kernels.gather_bytes(codes, entries, dictionary.offsets, out)
    return Values(count, nulls, validity if nulls else None, data.slice(0, total), offsets_buffer)


def require_text(values: memoryview, offsets: npt.NDArray[np.uint64]) -> None:
    """Refuse dictionary values that are not UTF-8."""
    _kernels.require_text(np.frombuffer(values, np.uint8), offsets)


def describe_numbers(buffer: BlockBuffer, dtype: str) -> Counter[str]:
    """Which cascades the blocks use, and in how many blocks each."""
    found: Counter[str] = Counter()
    for blocks in buffer.all_blocks():
        found.update(_kernels.describe_numbers(blocks, dtype))
    return found


def describe_binary(buffer: BlockBuffer, fixed_size: int | None) -> Counter[str]:
    """Which encodings the blocks use, and in how many blocks each."""
    found: Counter[str] = Counter()
    for blocks in buffer.all_blocks():
        found.update(_kernels.describe_binary(blocks, fixed_size))
    return found


def require_memory(count: int, bits: int) -> None:
    """Refuse `count` values of `bits` bits that are more than this machine can hold.

    Trying would not tell: systems promise more memory than they have, and end the process that makes use of it.
    """
    if count * bits // 8 > _MEMORY:
        raise _too_many(count, bits)


def _too_many(count: int, bits: int) -> InvalidArgument:
    return InvalidArgument(f"rows: {count} values of {bits} bits do not fit into memory, read fewer")


def _allocate(count: int, dtype: str) -> tuple[pa.Buffer, npt.NDArray[Any]]:
    """Memory for `count` values, as Arrow and as numpy see it."""
    width = int(dtype[1])
    require_memory(count, 8 * width)
    try:
        buffer = pa.allocate_buffer(count * width)
    except (MemoryError, OverflowError, pa.ArrowException) as error:
        raise _too_many(count, 8 * width) from error
    return buffer, np.frombuffer(buffer, dtype, count)


def _bitmap(bits: int) -> tuple[pa.Buffer, npt.NDArray[np.uint8]]:
    return _allocate((bits + 7) // 8 + 1, "u1")


_threads = local()


def _inflate(run: Run, frames: list[Frame]) -> None:
    inflate(run.blocks, run.buffers, frames)


def inflate(blocks: _kernels.Blocks, buffers: list[memoryview], frames: list[Frame]) -> None:
    """Give blocks the contents of their Zstandard frames."""
    if frames:
        contents = [_inflated(buffers[buffer][start:end], size) for buffer, start, end, size in frames]
        blocks.add_inflated(frames, contents)


def _inflated(frames: memoryview, size: int) -> bytes:
    decompressor = getattr(_threads, "zstd", None)
    if decompressor is None:
        # One for each thread: a decompressor must not be shared. The reference writes windows up to 128 MiB.
        decompressor = _threads.zstd = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    try:
        stated = zstandard.frame_content_size(frames)
        if stated in (-1, size):
            # One byte more than expected, so that a longer frame is noticed.
            content: bytes = decompressor.decompress(frames, max_output_size=size + 1, allow_extra_data=False)
            if len(content) == size and (stated == size or _frame_size(frames) == len(frames)):
                return content
    except zstandard.ZstdError:
        pass  # damaged, or several frames in a row
    return _inflated_by_frame(decompressor, frames, size)


def _frame_size(frames: memoryview) -> int:
    """Bytes of the first frame, which is sound. The package misses what lies behind one that states no content size."""
    at = zstandard.frame_header_size(frames)
    while True:
        header = int.from_bytes(frames[at : at + 3], "little")  # last one?, kind (1: one byte, repeated), size
        at += 3 + (1 if header >> 1 & 3 == 1 else header >> 3)
        if header & 1:
            return at + 4 * bool(zstandard.get_frame_parameters(frames).has_checksum)


def _inflated_by_frame(decompressor: zstandard.ZstdDecompressor, frames: memoryview, size: int) -> bytes:
    content, frame = bytearray(), None
    # Fed in small pieces: few bytes may hold gigabytes that nobody asked for.
    for at in range(0, len(frames), 256):
        piece = bytes(frames[at : at + 256])
        while piece:
            frame = frame or decompressor.decompressobj()
            try:
                content += frame.decompress(piece)
            except zstandard.ZstdError as error:
                raise CorruptedData(f"Zstandard frame: {error}") from error
            if len(content) > size:
                raise CorruptedData(f"bytes of a Zstandard frame: expected {size}, found more")
            if not frame.eof:
                break
            piece, frame = frame.unused_data, None
    if frame is not None or len(content) != size:
        raise CorruptedData(f"bytes of a Zstandard frame: expected {size}, found {len(content)}")
    return bytes(content)
