"""The columns of a schema, to which a predicate is bound without any shard."""

from __future__ import annotations

import pyarrow as pa

from amudai.arguments import shown
from amudai.arrow import project, schema_nodes
from amudai.column import Projection
from amudai.errors import InvalidArgument
from amudai.lazy import lazy
from amudai.types import NodePath, SchemaNode, find_path, missing_column

__all__ = ["SchemaFields"]


class SchemaFields:
    """The columns of an Arrow schema. `hidden` can be named, but are not among all columns."""

    def __init__(self, schema: pa.Schema, hidden: pa.Schema | None = None) -> None:
        self.schema = schema
        self._all = schema if hidden is None else pa.schema([*schema, *hidden], metadata=schema.metadata)

    @lazy
    def _nodes(self) -> dict[str, SchemaNode]:
        return {node.name: node for node in schema_nodes(self._all)}

    def find(self, name: str) -> NodePath:
        """The nodes from the top-level column down to the field at path `name`."""
        if not isinstance(name, str):
            raise InvalidArgument(f"columns: expected names, found {shown(name)}")
        found = find_path(name, self._nodes.get)
        if found is None:
            raise missing_column(name, self.schema.names)
        return found

    def field(self, node: SchemaNode) -> pa.Field:
        """The Arrow field of a top-level column."""
        return self._all.field(node.name)

    def visible(self) -> tuple[SchemaNode, ...]:
        """All columns, without hidden ones."""
        return tuple(self._nodes[name] for name in self.schema.names)

    def projection(self, node: SchemaNode) -> Projection:
        """What must be read for a column as a whole."""
        return project(node, self.field(node).type)

    def known_columns(self) -> None:
        """None: columns are found one by one."""
