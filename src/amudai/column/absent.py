"""Columns that are not stored in a stripe, and columns that have nothing to store."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from amudai.column.column_values import AbsentValues, ColumnValues
from amudai.column.containers import ParentSource
from amudai.column.context import ColumnContext
from amudai.column.contract import OpenColumn
from amudai.column.native import NativeSource
from amudai.column.projection import Projection
from amudai.rows import Rows
from amudai.types import BasicType, SchemaNode

__all__ = ["AbsentSource", "UnitSource"]


class AbsentSource(ParentSource):
    """A column without a descriptor in the stripe: every position is null."""

    STORAGE: ClassVar[str] = "absent"
    is_absent: ClassVar[bool] = True

    def __init__(
        self, context: ColumnContext, node: SchemaNode, path: str, positions: int | None, open_column: OpenColumn
    ) -> None:
        super().__init__(context, node, path, positions or 0, positions)
        self._positions = positions
        self._open_column = open_column

    def _read(self, rows: Rows, _: Projection) -> ColumnValues:
        # Below lists the parent does not say how many positions there are, so any number of rows is valid.
        self._context.limits.require_memory(rows.count, 1)
        return AbsentValues(rows.count)

    def _child_positions(self) -> int | None:
        match self.node.basic_type:
            case BasicType.LIST | BasicType.MAP:
                return None
            case BasicType.FIXED_SIZE_LIST if self._positions is not None:
                return self._positions * self.node.fixed_size
        return self._positions

    def encodings(self) -> Counter[str]:
        """`absent`, once."""
        return Counter({"absent": 1})


class UnitSource(NativeSource):
    """A column of the type without values: it has positions, and all of them are null."""

    STORAGE: ClassVar[str] = "unit"

    def _read(self, rows: Rows, _: Projection) -> ColumnValues:
        self._check_end(rows)
        self._context.limits.require_memory(rows.count, 1)
        return AbsentValues(rows.count)
