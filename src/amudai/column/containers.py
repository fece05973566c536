"""The base classes of columns that have columns below them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from amudai.column.column_values import ColumnValues
from amudai.column.context import ColumnContext
from amudai.column.contract import ColumnSource, OpenColumn
from amudai.column.native import NativeSource
from amudai.column.projection import Projection
from amudai.format import FieldDescriptor, NativeEncoding
from amudai.lazy import lazy
from amudai.rows import Rows
from amudai.types import BasicType, SchemaNode, quote_name

__all__ = ["MAX_POSITION", "ContainerSource", "ParentSource"]

# Positions up to this one can be counted and multiplied in 64 bits without overflow.
MAX_POSITION: Final = (1 << 62) - 1

_ROLES: Final = {
    BasicType.LIST: ("item",),
    BasicType.FIXED_SIZE_LIST: ("item",),
    BasicType.MAP: ("key", "value"),
}


class ParentSource(ColumnSource):
    """A column with columns below it. Those are opened when they are first needed, and kept."""

    _open_column: OpenColumn

    @lazy
    def _children(self) -> dict[int, ColumnSource]:
        return {}

    @lazy
    def _places(self) -> dict[int, int]:
        """The children's indexes by schema id."""
        return {child.schema_id: index for index, child in enumerate(self.node.children)}

    def child(self, index: int) -> ColumnSource:
        """The column below this one that belongs to the child `index` of the schema node."""
        found = self._children.get(index)
        if found is None:
            node = self.node.children[index]
            # Children of lists and maps have roles. Children of unions may have neither a name nor a role.
            roles = _ROLES.get(self.node.basic_type, ())
            path = f"{self.path}.{quote_name(node.name) or (roles[index] if roles else index)}"
            padded = self.node.basic_type is BasicType.FIXED_SIZE_LIST
            made = self._open_column(self._child_context, node, path, self._child_positions(), padded=padded)
            found = self._children.setdefault(index, made)
        return found

    def child_of(self, node: SchemaNode) -> ColumnSource:
        """The column below this one that belongs to `node`."""
        return self.child(self._places[node.schema_id])

    def children(self) -> Iterator[ColumnSource]:
        """The columns right below this one."""
        return map(self.child, range(len(self.node.children)))

    @property
    def _child_context(self) -> ColumnContext:
        """What the columns below share: no packed group, unless this column is one."""
        return self._context if self._context.group is None else replace(self._context, group=None)

    def _child_positions(self) -> int | None:
        """How many positions each child must have; None if only the offsets tell."""
        return self.position_count


class ContainerSource(ParentSource, NativeSource):
    """A stored column with columns below it."""

    def __init__(
        self,
        context: ColumnContext,
        node: SchemaNode,
        path: str,
        field: FieldDescriptor,
        encoding: NativeEncoding,
        open_column: OpenColumn,
    ) -> None:
        super().__init__(context, node, path, field, encoding)
        self._open_column = open_column

    def _read_children(self, rows: Rows, projection: Projection) -> tuple[ColumnValues, ...]:
        """The values of the projected children at `rows`."""
        return tuple([self.child_of(wanted.node).read(rows, wanted) for wanted in projection.children])
