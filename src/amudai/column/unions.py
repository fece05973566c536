"""Union columns."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa

from amudai.column.column_values import ColumnValues, StoredValues
from amudai.column.containers import MAX_POSITION, ContainerSource
from amudai.column.native import Form
from amudai.column.projection import Projection
from amudai.encoding import Values, decode_numbers
from amudai.errors import UnsupportedFeature
from amudai.format import BufferKind
from amudai.rows import Rows

__all__ = ["UnionSource"]


class UnionSource(ContainerSource):
    """Unions: the variant of each position and, for dense unions, the position of the value in that variant."""

    STORAGE: ClassVar[str] = "union"
    REQUIRED: ClassVar[tuple[BufferKind, ...]] = (BufferKind.DATA,)

    def _set_up(self) -> None:
        if BufferKind.PRESENCE in self._buffers:
            # A union is null where its variant is null: it has no nulls of its own.
            raise UnsupportedFeature("union: a PRESENCE buffer of its own")

    def _values_of(self, kind: BufferKind) -> int:
        return self.position_count if kind is BufferKind.OFFSETS else super()._values_of(kind)

    def _data_form(self) -> Form:
        return "u1", None

    def _child_positions(self) -> int | None:
        return None if BufferKind.OFFSETS in self._buffers else self.position_count

    def _read(self, rows: Rows, projection: Projection) -> ColumnValues:
        variants = decode_numbers(self._blocks(BufferKind.DATA), rows, "u1", nullable=False)
        chosen = variants.numbers("u1")
        if len(chosen) and int(chosen.max()) >= len(self.node.children):
            raise self._error(f"union variant: expected less than {len(self.node.children)}, found {chosen.max()}")
        if BufferKind.OFFSETS not in self._buffers:
            return StoredValues(variants, self._read_children(rows, projection))
        places = decode_numbers(self._blocks(BufferKind.OFFSETS), rows, "u8", nullable=False).numbers("u8")
        order = np.empty(len(places), np.int32)
        used: dict[int, Rows] = {}
        for index, child in enumerate(self.node.children):
            mine = chosen == index
            positions, inverse = np.unique(places[mine], return_inverse=True)
            if len(positions) and int(positions[-1]) > MAX_POSITION:
                raise self._error(f"union offset: expected at most {MAX_POSITION}, found {positions[-1]}")
            order[mine] = inverse
            used[child.schema_id] = Rows.of_positions(positions)
        children = [
            self.child_of(wanted.node).read(used[wanted.node.schema_id], wanted) for wanted in projection.children
        ]
        values = Values(variants.length, 0, None, variants.data, pa.py_buffer(order))
        return StoredValues(values, tuple(children))
