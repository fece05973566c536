"""Decoding blocks into Arrow buffers.

There is one function for each way in which values are stored. Each allocates the Arrow buffers once, from pyarrow's
pool, and lets the kernels write every run of blocks straight into its place.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai import _kernels
from amudai.encoding.buffer import LZ4_MOST, BlockBuffer, BlockRun
from amudai.encoding.decoded import DecimalForm, Unit, Values
from amudai.encoding.frames import has_known_size, inflated, inflated_into
from amudai.encoding.shared import SharedDecoder
from amudai.errors import LimitExceeded
from amudai.format import ValueDictionary
from amudai.limits import DEFAULT_LIMITS, Limits
from amudai.rows import Rows
from amudai.types import decimal128

__all__ = [
    "allocate",
    "decode_bits",
    "decode_decimals",
    "decode_dictionary",
    "decode_divided",
    "decode_few",
    "decode_few_bytes",
    "decode_fixed",
    "decode_numbers",
    "decode_variable",
    "decode_views",
    "describe_binary",
    "describe_each",
    "describe_numbers",
    "require_text",
]

# Decompressed bytes for one native call, so few that they are still in the cache when they are copied.
INFLATED_BYTES: Final = 1024 * 1024

# Kernels copy in whole steps and may write this many bytes after the last value.
SLACK: Final = 64

_VIEW: Final = 16  # bytes of one of Arrow's views
_VIEWED_BYTES: Final = np.iinfo(np.int32).max  # a view counts the bytes before its value with 31 bits

_WIDTH: Final = {dtype: int(dtype[1]) for dtype in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")}
_FEW: Final = 4096  # for up to this many values numpy allocates the memory
_SMALL: Final = 64 * 1024  # up to this many decompressed bytes, new memory costs less than a stream

Frame = tuple[int, int, int, int, str]


def decode_numbers(buffer: BlockBuffer, rows: Rows, dtype: str, nullable: bool = True) -> Values:
    """The numbers at `rows`, with the nulls that their blocks mark."""
    count = rows.count
    data, values = allocate(count, dtype, buffer.limits)
    validity, bits = _bitmap(count, buffer.limits) if nullable else (None, None)
    single = rows.num_ranges == 1
    found = open_numbers(buffer, rows.starts.item(0), rows.ends.item(0), dtype) if single else None
    if found is not None:
        nulls = _kernels.decode_stretch(*found, values, bits)
        return Values(count, nulls, validity if nulls else None, data)
    nulls = done = 0
    for run in buffer.runs(rows):
        require_slots(buffer, run, _WIDTH[dtype])
        _inflate(run, _kernels.numeric_frames(run.blocks, dtype), buffer)
        nulls += _kernels.decode_numbers(run.blocks, run.block, run.first, run.count, values, bits, done)
        done += run.slots
    return Values(count, nulls, validity if nulls else None, data)


def decode_divided(buffer: BlockBuffer, rows: Rows, unit: Unit) -> Values | None:
    """The 64-bit integers at `rows` in a coarser unit; None if a division may leave a remainder."""
    count = rows.count
    data, values = allocate(count, unit.dtype, buffer.limits)
    validity, bits = _bitmap(count, buffer.limits)
    nulls = done = 0
    for run in buffer.runs(rows):
        require_slots(buffer, run, 8)
        _inflate(run, _kernels.numeric_frames(run.blocks, "i8" if unit.is_signed else "u8"), buffer)
        found, is_exact = _kernels.decode_divided(
            run.blocks, run.block, run.first, run.count, unit.origin, unit.by, unit.is_signed, values, bits, done
        )
        if not is_exact:
            return None
        nulls += found
        done += run.slots
    return Values(count, nulls, validity if nulls else None, data)


def decode_few(buffer: BlockBuffer, first: int, last: int, dtype: str) -> npt.NDArray[Any]:
    """The numbers at `first..last`, none of them null. Faster than `decode_numbers` for a few numbers."""
    if first >= last:
        return np.empty(0, dtype)
    found = open_numbers(buffer, first, last, dtype)
    if found is None:
        return decode_numbers(buffer, Rows.one(first, last), dtype, nullable=False).numbers(dtype)
    count = last - first
    out = np.empty(count, dtype) if count <= _FEW else allocate(count, dtype, buffer.limits)[1]
    _kernels.decode_stretch(*found, out, None)
    return out


def open_numbers(buffer: BlockBuffer, first: int, last: int, dtype: str) -> tuple[_kernels.Blocks, int] | None:
    """The blocks of the numbers at `first..last`, for a kernel, and the slot of the first; None if they are large."""
    found = buffer.stretch(first, last)
    if found is None:
        return None
    blocks, view, slot = found
    size = (slot + last - first) * _WIDTH[dtype]
    if size > buffer.limits.most_block_memory and buffer.may_inflate:
        return None
    frames = _kernels.numeric_frames(blocks, dtype)
    if frames:
        inflate(blocks, [view], frames, buffer.limits)
    return blocks, slot


def decode_few_bytes(
    buffer: BlockBuffer, first: int, last: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]] | None:
    """Offsets and bytes of the values at `first..last`. Faster than `decode_variable`.

    None if one of them is null, or they are in several blocks.
    """
    found = buffer.stretch(first, last)
    if found is None or len(found[0]) != 1:
        return None
    blocks, view, slot = found
    frames = _kernels.binary_frames(blocks, None)
    if frames:
        inflate(blocks, [view], frames, buffer.limits, buffer.shared)
    count = last - first
    buffer.limits.require_memory(count, 64)
    read = _kernels.decode_few_offsets(blocks, slot, count)
    if read is None:
        return None
    offsets, origin, frames = read
    size = offsets.item(-1)
    buffer.limits.require_payload(origin + size, len(view))
    if frames:
        inflate(blocks, [view], frames, buffer.limits, buffer.shared)
    buffer.limits.require_memory(size, 8)
    return offsets, _kernels.decode_few_bytes(blocks, slot, offsets, origin)


def decode_bits(buffer: BlockBuffer, rows: Rows) -> tuple[pa.Buffer, int]:
    """The bits at `rows` as an Arrow bitmap, and how many of them are set."""
    count = rows.count
    bitmap, bits = _bitmap(count, buffer.limits)
    found = done = 0
    for run in buffer.runs(rows, unit=8):
        _inflate(run, _kernels.numeric_frames(run.blocks, "u1"), buffer)
        found += _kernels.decode_bits(run.blocks, run.block, run.first, run.count, bits, done)
        done += run.slots
    return bitmap, found


def decode_fixed(buffer: BlockBuffer, rows: Rows, size: int) -> Values:
    """Values of `size` bytes each."""
    count = rows.count
    data, out = allocate(count * size + SLACK, "u1", buffer.limits)
    validity, bits = _bitmap(count, buffer.limits)
    nulls = done = 0
    for run in buffer.runs(rows):
        _inflate(run, _kernels.binary_frames(run.blocks, size), buffer)
        require_slots(buffer, run, size)
        nulls += _kernels.decode_fixed(run.blocks, run.block, run.first, run.count, size, out, bits, done)
        done += run.slots
    return Values(count, nulls, validity if nulls else None, data.slice(0, count * size))


def decode_decimals(buffer: BlockBuffer, rows: Rows, form: DecimalForm) -> Values | None:
    """Stored decimals in Arrow's form; None if one of them has no such form."""
    count = rows.count
    data, out = allocate(count * form.width, "u1", buffer.limits)
    validity, bits = _bitmap(count, buffer.limits)
    nulls = done = 0
    for run in buffer.runs(rows):
        _inflate(run, _kernels.binary_frames(run.blocks, decimal128.SIZE), buffer)
        require_slots(buffer, run, decimal128.SIZE)
        found = _kernels.decode_decimals(
            run.blocks, run.block, run.first, run.count, form.scale, form.precision, form.width, out, bits, done
        )
        if found is None:
            return None
        nulls += found
        done += run.slots
    return Values(count, nulls, validity if nulls else None, data)


def decode_variable(buffer: BlockBuffer, rows: Rows, *, text: bool, wide: bool) -> Values:
    """Strings or binaries, with 64-bit offsets if `wide`.

    Raises OverflowError if the values hold more bytes than 32-bit offsets can count.
    """
    count = rows.count
    offsets_buffer, offsets = allocate(count + 1, "i8" if wide else "i4", buffer.limits)
    offsets[0] = 0
    validity, bits = _bitmap(count, buffer.limits)
    nulls = done = 0
    # First the offsets of all values, then the values, in memory of the right size.
    runs: deque[tuple[BlockRun, int, npt.NDArray[np.uint64], npt.NDArray[np.uint64]]] = deque()
    for run in buffer.runs(rows):
        _inflate(run, _kernels.binary_frames(run.blocks, None), buffer)
        origins, sizes = np.empty(len(run.block), np.uint64), np.zeros(len(run.blocks), np.uint64)
        nulls += _kernels.decode_offsets(
            run.blocks, run.block, run.first, run.count, offsets, bits, done, origins, sizes
        )
        _require_bytes(buffer, run, offsets[done:], origins)
        runs.append((run, done, origins, sizes))
        done += run.slots
    total = offsets.item(-1)
    data, out = allocate(total + SLACK, "u1", buffer.limits)
    while runs:
        # Decoded and freed one by one: memory that is reused is faster than new memory.
        run, at, origins, sizes = runs.popleft()
        for part in _inflated_parts(run, sizes, buffer):
            slots = run.count[part]
            _kernels.decode_bytes(
                run.blocks, run.block[part], run.first[part], slots, origins[part], offsets, at, text, out
            )
            at += int(slots.sum())
    return Values(count, nulls, validity if nulls else None, data.slice(0, total), offsets_buffer)


def _inflated_parts(run: BlockRun, sizes: npt.NDArray[np.uint64], buffer: BlockBuffer) -> Iterator[slice]:
    """Groups of spans whose decompressed frames fit into the cache. Each group is decoded at once."""
    ends = sizes.cumsum()
    if ends.item(-1) <= INFLATED_BYTES:
        _inflate(run, _kernels.payload_frames(run.blocks, sizes), buffer)
        yield slice(None)
        return
    low = span = 0
    while low < len(ends):
        before = ends.item(low - 1) if low else 0
        high = max(low + 1, int(ends.searchsorted(np.uint64(before + INFLATED_BYTES), "right")))
        behind = len(run.block) if high == len(ends) else int(run.block.searchsorted(np.uint32(high)))
        frames = _kernels.payload_frames(run.blocks, sizes, low, high)
        _inflate(run, frames, buffer)
        yield slice(span, behind)
        if frames:
            run.blocks.forget_inflated()
        low, span = high, behind


def decode_dictionary(buffer: BlockBuffer, rows: Rows, dictionary: ValueDictionary, *, wide: bool) -> Values:
    """Values that are stored as codes of a dictionary.

    Raises OverflowError if the values hold more bytes than 32-bit offsets can count.
    """
    count = rows.count
    codes = decode_numbers(buffer, rows, "u4", nullable=False).numbers("u4")
    validity, bits = _bitmap(count, buffer.limits)
    entries = np.frombuffer(dictionary.values, np.uint8)
    if dictionary.offsets is None:
        size = dictionary.fixed_value_size
        data, out = allocate(count * size, "u1", buffer.limits)
        nulls = _kernels.gather_fixed(codes, entries, size, dictionary.null_id, out, bits)
        return Values(count, nulls, validity if nulls else None, data)
    offsets_buffer, offsets = allocate(count + 1, "i8" if wide else "i4", buffer.limits)
    nulls = _kernels.gather_offsets(codes, dictionary.offsets, dictionary.null_id, offsets, bits)
    total = offsets.item(-1)
    data, out = allocate(total + SLACK, "u1", buffer.limits)
    _kernels.gather_bytes(codes, entries, dictionary.offsets, out)
    return Values(count, nulls, validity if nulls else None, data.slice(0, total), offsets_buffer)


def decode_views(buffer: BlockBuffer, rows: Rows, dictionary: ValueDictionary) -> Values | None:
    """Arrow's views of values that are stored as codes of a dictionary; None if views cannot reach all of its bytes."""
    if dictionary.offsets is None or len(dictionary.values) > _VIEWED_BYTES:
        return None
    count = rows.count
    codes = decode_numbers(buffer, rows, "u4", nullable=False).numbers("u4")
    validity, bits = _bitmap(count, buffer.limits)
    data, out = allocate(count * _VIEW, "u1", buffer.limits)
    entries = np.frombuffer(dictionary.values, np.uint8)
    nulls = _kernels.gather_views(codes, entries, dictionary.offsets, dictionary.null_id, out, bits)
    return Values(count, nulls, validity if nulls else None, data)


def require_text(values: memoryview, offsets: npt.NDArray[np.uint64]) -> None:
    """Raise an error if dictionary values are not UTF-8."""
    _kernels.require_text(np.frombuffer(values, np.uint8), offsets)


def describe_numbers(buffer: BlockBuffer, dtype: str) -> Counter[str]:
    """The cascades of encodings in the blocks, and how many blocks use each."""
    found: Counter[str] = Counter()
    for blocks in buffer.all_blocks():
        found.update(_kernels.describe_numbers(blocks, dtype))
    return found


def describe_binary(buffer: BlockBuffer, fixed_size: int | None) -> Counter[str]:
    """The encodings of the blocks, and how many blocks use each."""
    found: Counter[str] = Counter()
    for blocks in buffer.all_blocks():
        found.update(_kernels.describe_binary(blocks, fixed_size))
    return found


def describe_each(buffer: BlockBuffer, dtype: str | None, fixed_size: int | None) -> list[str]:
    """The cascade of every block. `dtype` is the type of numbers, or None for bytes."""
    found: list[str] = []
    for block in buffer.all_blocks(at_once=1):
        if dtype is None:
            found += _kernels.describe_binary(block, fixed_size)
        else:
            found += _kernels.describe_numbers(block, dtype)
    return found


def allocate(count: int, dtype: str, limits: Limits = DEFAULT_LIMITS) -> tuple[pa.Buffer, npt.NDArray[Any]]:
    """Memory for `count` values, as an Arrow buffer and as a numpy array."""
    width = _WIDTH[dtype]
    limits.require_memory(count, 8 * width)
    try:
        buffer = pa.allocate_buffer(count * width)
    except (MemoryError, OverflowError, pa.ArrowException) as error:
        message = f"memory: expected {count * width} bytes for {count} values, found less: they do not fit into memory"
        raise LimitExceeded(message) from error
    return buffer, np.frombuffer(buffer, dtype, count)


def _bitmap(bits: int, limits: Limits) -> tuple[pa.Buffer, npt.NDArray[np.uint8]]:
    """Memory for an Arrow bitmap, and for one byte more, which kernels may touch. Only the `bits` are not zero yet."""
    bitmap, found = allocate((bits + 7) // 8 + 1, "u1", limits)
    found[-2:] = 0  # users see the whole buffer: it must not hold what was in memory before
    return bitmap, found


def _may_inflate(buffer: BlockBuffer, run: BlockRun) -> bool:
    """Whether a block of the run might decompress to more bytes than the limits allow, if it is LZ4."""
    return buffer.may_inflate and sum(map(len, run.buffers)) * LZ4_MOST > buffer.limits.most_block_memory


def require_slots(buffer: BlockBuffer, run: BlockRun, width: int) -> None:
    """Raise LimitExceeded if the values of a block up to the last that is wanted take too much memory.

    `width` is the number of bytes of a value. LZ4 is decompressed from the beginning of a block.
    """
    if _may_inflate(buffer, run):
        last = int((run.first.astype(np.uint64) + run.count).max(initial=0))
        buffer.limits.require_payload(last * width, sum(map(len, run.buffers)))


def require_texts(buffer: BlockBuffer, run: BlockRun) -> None:
    """The same for values of any length."""
    if _may_inflate(buffer, run):
        _, offsets = allocate(run.slots + 1, "i8", buffer.limits)
        offsets[0] = 0
        origins, sizes = np.empty(len(run.block), np.uint64), np.zeros(len(run.blocks), np.uint64)
        _, bits = _bitmap(run.slots, buffer.limits)
        _kernels.decode_offsets(run.blocks, run.block, run.first, run.count, offsets, bits, 0, origins, sizes)
        _require_bytes(buffer, run, offsets, origins)


def _require_bytes(
    buffer: BlockBuffer, run: BlockRun, offsets: npt.NDArray[Any], origins: npt.NDArray[np.uint64]
) -> None:
    """Raise LimitExceeded if the bytes of a block up to the last that is wanted take too much memory.

    `offsets` are those of the wanted values, and `origins` say where each span begins in the bytes of its block.
    """
    if _may_inflate(buffer, run):
        ends = run.count.cumsum(dtype=np.int64)
        sizes = offsets[ends] - offsets[ends - run.count]
        last = int((origins + sizes.astype(np.uint64)).max(initial=0))
        buffer.limits.require_payload(last, sum(map(len, run.buffers)))


def _inflate(run: BlockRun, frames: list[Frame], buffer: BlockBuffer) -> None:
    if frames:
        inflate(run.blocks, run.buffers, frames, buffer.limits, buffer.shared)


def inflate(
    blocks: _kernels.Blocks,
    buffers: list[memoryview],
    frames: list[Frame],
    limits: Limits = DEFAULT_LIMITS,
    shared: SharedDecoder | None = None,
) -> None:
    """Decompress the frames of blocks. `shared` is the dictionary that they share, if they do."""
    if not frames:
        return
    if len(frames) == 1:
        # As a rule there is one, and it is not large: in a page of an index, or where few rows are wanted.
        of, start, end, size, codec = frames[0]
        limits.require_block(size)
        if size <= _SMALL:
            blocks.add_inflated(frames, [inflated(buffers[of][start:end], size, codec, shared)])
            return
    sizes = [frame[3] for frame in frames]
    limits.require_block(max(sizes))
    if sum(sizes) <= _SMALL:
        contents: list[Any] = [
            inflated(buffers[of][start:end], size, codec, shared) for of, start, end, size, codec in frames
        ]
        blocks.add_inflated(frames, contents)
        return
    # Frames that state their size share memory from Arrow's pool, which reuses it: new memory would cost as much as
    # decompressing does. So do frames of Pco, whose size is known.
    whole = [known or has_known_size(frame[4]) for frame, known in zip(frames, blocks.are_whole(frames), strict=True)]
    room, _ = allocate(sum(frame[3] for frame, known in zip(frames, whole, strict=True) if known), "u1", limits)
    memory = memoryview(room)
    contents = []
    at = 0
    for (buffer, start, end, size, codec), known in zip(frames, whole, strict=True):
        piece, place = buffers[buffer][start:end], memory[at : at + size]
        if known and inflated_into(piece, place, codec, shared):
            contents.append(place)
            at += size
        else:
            contents.append(inflated(piece, size, codec, shared))
    blocks.add_inflated(frames, contents)
