"""Struct columns."""

from __future__ import annotations

from typing import ClassVar

from amudai.column.column_values import ColumnValues, StoredValues
from amudai.column.containers import ContainerSource
from amudai.column.projection import Projection
from amudai.encoding import Values
from amudai.rows import Rows

__all__ = ["StructSource"]


class StructSource(ContainerSource):
    """Structs: their own nulls, and a column for each member."""

    STORAGE: ClassVar[str] = "struct"

    def _read(self, rows: Rows, projection: Projection) -> ColumnValues:
        self._check_end(rows)
        validity, nulls = self._presence(rows)
        return StoredValues(Values(rows.count, nulls, validity), self._read_children(rows, projection))
