"""List, map and fixed-size list columns."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.column.column_values import AbsentValues, ColumnValues, JoinedValues, StoredValues
from amudai.column.containers import MAX_POSITION, ContainerSource
from amudai.column.projection import Projection
from amudai.encoding import BlockBuffer, Values, decode_numbers
from amudai.format import BufferKind
from amudai.rows import Rows

__all__ = ["FixedSizeListSource", "ListSource"]

U64 = npt.NDArray[np.uint64]


class ListSource(ContainerSource):
    """Lists and maps: offsets say where the items of each position begin and end."""

    STORAGE: ClassVar[str] = "list"
    REQUIRED: ClassVar[tuple[BufferKind, ...]] = (BufferKind.OFFSETS,)

    def offsets(self) -> BlockBuffer | None:
        """The blocks of the offsets."""
        return self._blocks(BufferKind.OFFSETS)

    def _child_positions(self) -> int | None:
        return None

    def _read(self, rows: Rows, projection: Projection) -> ColumnValues:
        # A list needs its own start and the start of the next list.
        fences = Rows.joined(rows.starts, rows.ends + np.uint64(1))
        stored = decode_numbers(self._blocks(BufferKind.OFFSETS), fences, "u8", nullable=False)
        self._check_offsets(stored.numbers("u8"), rows)
        offsets, items = _arrow_offsets(stored, rows, projection.wide)
        validity, nulls = self._presence(rows)
        values = Values(rows.count, nulls, validity, offsets=offsets)
        return StoredValues(values, self._read_children(items, projection))

    def _check_offsets(self, fences: U64, lists: Rows) -> None:
        """Raise an error if offsets descend, point to missing items, or leave out items at either end."""
        if not lists:
            return
        if int(fences.max()) > MAX_POSITION or (fences[1:] < fences[:-1]).any():
            raise self._error("list offsets: expected an ascending sequence")
        if lists.starts[0] == 0 and fences[0] != 0:
            raise self._error(f"list offsets: expected to begin with 0, found {fences[0]}")
        for child in self.children():
            count, end = child.position_count, int(fences[-1])
            if not child.is_absent and end > count:
                raise self._error(f"list offsets: expected at most {count}, found {end}")
            if not child.is_absent and end < count and lists.end == self.position_count:
                raise self._error(f"list offsets: expected to end with {count}, found {end}")


class FixedSizeListSource(ContainerSource):
    """Lists of a fixed size: items without offsets."""

    STORAGE: ClassVar[str] = "fixed-size list"

    def _child_positions(self) -> int | None:
        return self.position_count * self.node.fixed_size

    def _read(self, rows: Rows, projection: Projection) -> ColumnValues:
        self._check_end(rows)
        validity, nulls = self._presence(rows)
        most = MAX_POSITION // max(1, self.node.fixed_size)
        if self.position_count > most:
            raise self._error(f"position_count: expected at most {most}, found {self.position_count}")
        values = Values(rows.count, nulls, validity)
        self._check_padding(rows, values)
        return StoredValues(values, self._read_children(rows.times(self.node.fixed_size), projection))

    def _read_children(self, rows: Rows, projection: Projection) -> tuple[ColumnValues, ...]:
        child = self.child(0)
        if child.is_absent or rows.end <= child.position_count:
            return super()._read_children(rows, projection)
        # The reference implementation leaves out the items of trailing null lists.
        found: list[ColumnValues] = []
        for wanted in projection.children:
            stored = child.read(rows.clip(0, child.position_count), wanted)
            found.append(JoinedValues((stored, AbsentValues(rows.count - stored.length))))
        return tuple(found)

    def _check_padding(self, rows: Rows, lists: Values) -> None:
        """Raise an error if a list is not null although its items are not stored."""
        child = self.child(0)
        if child.is_absent or self.node.fixed_size == 0:
            return
        first = child.position_count // self.node.fixed_size
        unstored = rows.clip(first, max(first, self.position_count)).count
        valid = lists.valid()
        if unstored and (valid is None or valid[-unstored:].any()):
            raise self._error(f"list items: expected items for {self.position_count} lists, found items for {first}")


def _arrow_offsets(stored: Values, rows: Rows, wide: bool) -> tuple[pa.Buffer, Rows]:
    """Arrow's offsets of the lists, and the ranges of their items."""
    dtype = np.dtype(np.int64 if wide else np.int32)
    if not rows:
        return pa.py_buffer(np.zeros(1, dtype)), Rows.none()
    fences = stored.numbers("u8")
    lengths = rows.ends - rows.starts
    # The index of each range's first fence. A range has one fence more than it has lists.
    first = np.concatenate(([np.uint64(0)], np.cumsum(lengths + np.uint64(1))[:-1])).astype(np.int64)
    last = first + lengths.astype(np.int64)
    steps = np.diff(fences.view(np.int64))
    if rows.num_ranges > 1:
        keep = np.ones(len(steps), np.bool_)
        keep[last[:-1]] = False  # from the end of one range to the start of the next
        steps = steps[keep]
    offsets = np.zeros(len(steps) + 1, np.int64)
    np.cumsum(steps, out=offsets[1:])
    if not wide and int(offsets[-1]) > np.iinfo(np.int32).max:
        raise OverflowError("more items than the offsets of this Arrow type can count")
    return pa.py_buffer(offsets.astype(dtype, copy=False)), Rows.joined(fences[first], fences[last])
