"""Comparing values inside their blocks.

The kernels walk blocks as they do for `decode.py`, but return no values: only one bit for each position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.buffer import BlockBuffer, BlockRun
from amudai.encoding.decode import allocate, inflate, require_slots, require_texts
from amudai.rows import Rows
from amudai.types import decimal128

__all__ = [
    "ByteKeys",
    "DecimalRanges",
    "NumberRanges",
    "TextSearch",
    "Wanted",
    "compare_bytes",
    "compare_codes",
    "compare_decimals",
    "compare_numbers",
    "search_texts",
]

Bitmap: TypeAlias = npt.NDArray[np.uint8]

_LEAST: Final = Decimal("-Infinity")
_GREATEST: Final = Decimal("Infinity")


@dataclass(frozen=True, slots=True, eq=False)
class NumberRanges:
    """Ranges of numbers, from `low[i]` to `high[i]` inclusive. The arrays have the stored type."""

    low: npt.NDArray[Any]
    high: npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class DecimalRanges:
    """Ranges of stored decimals, both ends inclusive. Each end is four numbers, made by `decimal128.bound_key`."""

    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]

    @classmethod
    def of(cls, ranges: Sequence[tuple[Decimal | None, Decimal | None]]) -> Self:
        """The ranges between these bounds. None is no bound: infinity is in the range as well."""
        low = [decimal128.bound_key(_LEAST if low is None else low) for low, _ in ranges]
        high = [decimal128.bound_key(_GREATEST if high is None else high) for _, high in ranges]
        return cls(np.array(low, np.int64).reshape(-1), np.array(high, np.int64).reshape(-1))

    def hold(self, data: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        """Whether each of these stored decimals is in one of the ranges. NaN is in none."""
        bits = _kernels.decimals_within(data, self.low, self.high)
        return np.unpackbits(bits, count=len(data) // decimal128.SIZE, bitorder="little").view(np.bool_)


@dataclass(frozen=True, slots=True)
class ByteKeys:
    """Values that equal one of the keys, as stored bytes, or, with `prefixes`, begin with one."""

    keys: tuple[bytes, ...]
    prefixes: bool = False


@dataclass(frozen=True, slots=True)
class TextSearch:
    """Strings for which a text operator, such as `contains`, is true. `docs/operators.md` explains the operators."""

    op: str
    text: str
    case_sensitive: bool


Wanted: TypeAlias = NumberRanges | DecimalRanges | ByteKeys | TextSearch


def compare_numbers(buffer: BlockBuffer, rows: Rows, wanted: NumberRanges, *, inverted: bool) -> Bitmap:
    """A bit for each position: whether the number is in `wanted` or, if `inverted`, is not. The bit of a null is 0."""
    bits = _bitmap(rows, buffer)
    done = 0
    for run in buffer.runs(rows):
        require_slots(buffer, run, wanted.low.itemsize)
        inflate(run.blocks, run.buffers, _kernels.numeric_frames(run.blocks, wanted.low.dtype.str[1:]), buffer.limits)
        _kernels.compare_numbers(
            run.blocks, run.block, run.first, run.count, wanted.low, wanted.high, inverted, bits, done
        )
        done += run.slots
    return bits


def compare_codes(buffer: BlockBuffer, rows: Rows, answers: npt.NDArray[np.bool_]) -> Bitmap:
    """A bit for each position, which holds a code: `answers[code]`. A code without an answer raises CorruptedData."""
    bits = _bitmap(rows, buffer)
    done = 0
    for run in buffer.runs(rows):
        require_slots(buffer, run, 4)
        inflate(run.blocks, run.buffers, _kernels.numeric_frames(run.blocks, "u4"), buffer.limits)
        _kernels.compare_codes(run.blocks, run.block, run.first, run.count, answers.view(np.uint8), bits, done)
        done += run.slots
    return bits


def compare_decimals(buffer: BlockBuffer, rows: Rows, wanted: DecimalRanges, *, inverted: bool) -> Bitmap:
    """Like `compare_numbers`, for stored decimals."""
    bits = _bitmap(rows, buffer)
    done = 0
    for run in buffer.runs(rows):
        require_slots(buffer, run, decimal128.SIZE)
        frames = _kernels.binary_frames(run.blocks, decimal128.SIZE)
        inflate(run.blocks, run.buffers, frames, buffer.limits, buffer.shared)
        _kernels.compare_decimals(
            run.blocks, run.block, run.first, run.count, wanted.low, wanted.high, inverted, bits, done
        )
        done += run.slots
    return bits


def compare_bytes(
    buffer: BlockBuffer, rows: Rows, wanted: ByteKeys, *, fixed_size: int | None, inverted: bool
) -> Bitmap:
    """Like `compare_numbers`, for strings and bytes. `fixed_size` is the size of all values, if they have one."""
    bits = _bitmap(rows, buffer)
    offsets, keys = _joined(wanted.keys)
    done = 0
    for run in buffer.runs(rows):
        if fixed_size is None:
            _inflate_texts(buffer, run)
        else:
            frames = _kernels.binary_frames(run.blocks, fixed_size)
            inflate(run.blocks, run.buffers, frames, buffer.limits, buffer.shared)
            require_slots(buffer, run, fixed_size)
        _kernels.compare_bytes(
            run.blocks,
            run.block,
            run.first,
            run.count,
            fixed_size,
            offsets,
            keys,
            wanted.prefixes,
            inverted,
            bits,
            done,
        )
        done += run.slots
    return bits


def search_texts(buffer: BlockBuffer, rows: Rows, wanted: TextSearch, *, inverted: bool) -> Bitmap:
    """Like `compare_numbers`, for strings. Raises CorruptedData if the strings of a block are not UTF-8."""
    bits = _bitmap(rows, buffer)
    done = 0
    for run in buffer.runs(rows):
        _inflate_texts(buffer, run)
        _kernels.search_texts(
            run.blocks,
            run.block,
            run.first,
            run.count,
            wanted.op,
            wanted.text,
            wanted.case_sensitive,
            inverted,
            bits,
            done,
        )
        done += run.slots
    return bits


def _inflate_texts(buffer: BlockBuffer, run: BlockRun) -> None:
    """Decompress the frames of values of any length."""
    frames = _kernels.binary_frames(run.blocks, None)
    inflate(run.blocks, run.buffers, frames, buffer.limits, buffer.shared)
    sizes = np.empty(len(run.blocks), np.uint64)
    _kernels.payload_sizes(run.blocks, sizes)
    require_texts(buffer, run)
    frames = _kernels.payload_frames(run.blocks, sizes)
    inflate(run.blocks, run.buffers, frames, buffer.limits, buffer.shared)


def _bitmap(rows: Rows, buffer: BlockBuffer) -> Bitmap:
    return allocate((rows.count + 7) // 8, "u1", buffer.limits)[1]


def _joined(keys: Sequence[bytes]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8]]:
    offsets = np.cumsum([0, *map(len, keys)], dtype=np.uint64)
    return offsets, np.frombuffer(b"".join(keys), np.uint8)
