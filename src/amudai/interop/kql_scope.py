"""The columns at a place of a KQL query: which are columns of the table, and which expressions have none."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from amudai.interop.kql_language import nodes
from amudai.types import quote_name

__all__ = ["NOWHERE", "ColumnScope", "is_node", "whole_scope"]


@dataclass(frozen=True)
class ColumnScope:
    """The columns at one place of a query.

    Attributes
    ----------
    known
        Columns that are columns of the table or members of such: their paths and types in the table.
    visible
        All names; None if they are not known.
    """

    known: Mapping[str, tuple[str, pa.DataType]]
    visible: frozenset[str] | None

    @property
    def is_whole(self) -> bool:
        """Whether all columns are columns of the table."""
        return self.visible is not None and self.visible == frozenset(self.known)

    def column(self, node: Any) -> tuple[str, pa.DataType] | None:
        """The path and type of a column of the table, or of a member of a struct; None if a node is anything else."""
        ir = nodes()
        if isinstance(node, ir.ColumnRef | ir.LetRef):
            return self.known.get(node.name)
        if not isinstance(node, ir.PathAccess) or not isinstance(node.base, ir.ColumnRef):
            return None
        found = self.known.get(node.base.name)
        for step in node.steps:
            if found is None or step.name is None or not pa.types.is_struct(found[1]):
                return None
            path, kind = found
            at = kind.get_field_index(step.name)
            found = None if at < 0 else (f"{path}.{quote_name(step.name)}", kind.field(at).type)
        return found

    def is_constant(self, node: Any) -> bool:
        """Whether an expression has the same value for each row."""
        ir = nodes()
        if isinstance(node, tuple | list):
            return all(self.is_constant(each) for each in node)
        if isinstance(node, ir.ColumnRef | ir.Query | ir.Parameter | ir.PathAccess | ir.RowContext):
            return False
        if isinstance(node, ir.LetRef):
            hidden = self.visible is not None and node.name not in self.visible
            return hidden and self.is_constant(node.value)
        if isinstance(node, ir.FunctionCall) and node.name in ("rand", "new_guid"):
            return False
        if not is_node(node):
            return True
        return all(self.is_constant(getattr(node, field.name)) for field in dataclasses.fields(node))


NOWHERE: Final = ColumnScope({}, None)


def whole_scope(schema: pa.Schema) -> ColumnScope:
    """The columns of a table."""
    return ColumnScope(
        {field.name: (quote_name(field.name), field.type) for field in schema if schema.names.count(field.name) == 1},
        frozenset(schema.names),
    )


def is_node(value: Any) -> bool:
    """Whether a value is a node of the tree of a query."""
    return dataclasses.is_dataclass(value)
