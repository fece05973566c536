"""Offsets that say where the items of each position begin and end: n + 1 fences for n neighbours."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai import _kernels
from amudai.column.containers import MAX_POSITION
from amudai.encoding import BlockBuffer, Values, allocate, decode_numbers
from amudai.errors import CorruptedData
from amudai.rows import Rows

__all__ = ["arrow_offsets", "check_fences", "read_fences"]

U64 = npt.NDArray[np.uint64]


def read_fences(buffer: BlockBuffer, rows: Rows) -> Values:
    """The fences of `rows`. Each range of rows has one fence more than it has rows."""
    # A row needs its own start and the start of the next row.
    fences = Rows.joined(rows.starts, rows.ends + np.uint64(1))
    return decode_numbers(buffer, fences, "u8", nullable=False)


def check_fences(found: U64, rows: Rows, positions: int, items: int | None, what: str) -> None:
    """Raise an error if fences descend, point to missing items, or leave out items at either end.

    Parameters
    ----------
    found, rows
        The fences of these rows.
    positions, items
        How many positions the column has, and how many items all of them have together; None if unknown.
    what
        What a position holds, for errors.
    """
    if not rows:
        return
    if int(found[-1]) > MAX_POSITION or (found[1:] < found[:-1]).any():
        raise CorruptedData(f"{what} offsets: expected an ascending sequence")
    if rows.starts[0] == 0 and found[0] != 0:
        raise CorruptedData(f"{what} offsets: expected to begin with 0, found {found[0]}")
    end = int(found[-1])
    if items is not None and end > items:
        raise CorruptedData(f"{what} offsets: expected at most {items}, found {end}")
    if items is not None and end < items and rows.end == positions:
        raise CorruptedData(f"{what} offsets: expected to end with {items}, found {end}")


def arrow_offsets(stored: Values, rows: Rows, wide: bool) -> tuple[pa.Buffer, Rows]:
    """Arrow's offsets of the lists, and the ranges of their items."""
    if not rows:
        return pa.py_buffer(np.zeros(1, np.int64 if wide else np.int32)), Rows.none()
    fences = stored.numbers("u8")
    lengths = rows.ends - rows.starts
    # The index of each range's first and last fence. A range has one fence more than it has lists.
    last = (np.cumsum(lengths + np.uint64(1)) - np.uint64(1)).astype(np.int64)
    first = last - lengths.astype(np.int64)
    items = Rows.joined(fences[first], fences[last])
    _require_countable(items.count, wide)
    buffer, offsets = allocate(rows.count + 1, "i8" if wide else "i4")
    _kernels.rebase_fences(fences, lengths, offsets)
    return buffer, items


def _require_countable(items: int, wide: bool) -> None:
    if not wide and items > np.iinfo(np.int32).max:
        raise OverflowError("more items than the offsets of this Arrow type can count")
