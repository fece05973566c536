"""List, map and fixed-size list columns."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from amudai.column.column_values import AbsentValues, ColumnValues, JoinedValues, StoredValues
from amudai.column.containers import MAX_POSITION, ContainerSource
from amudai.column.fences import arrow_offsets, check_fences, read_fences
from amudai.column.projection import Projection
from amudai.encoding import BlockBuffer, Values
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
        stored = read_fences(self._blocks(BufferKind.OFFSETS), rows)
        self._check_offsets(stored.numbers("u8"), rows)
        offsets, items = arrow_offsets(stored, rows, projection.wide)
        validity, nulls = self._presence(rows)
        values = Values(rows.count, nulls, validity, offsets=offsets)
        return StoredValues(values, self._read_children(items, projection))

    def _check_offsets(self, found: U64, rows: Rows) -> None:
        """Raise an error if offsets descend, point to missing items, or leave out items at either end."""
        with self.place():
            for child in self.children():
                items = None if child.is_absent else child.position_count
                check_fences(found, rows, self.position_count, items, "list")


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
