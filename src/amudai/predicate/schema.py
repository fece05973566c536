"""What a predicate must know about the columns of a table."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from amudai.types import NodePath, SchemaNode

__all__ = ["TableSchema"]


class TableSchema(Protocol):
    """Columns that a predicate can be bound to. They may be those of an open shard, but no file need be open.

    `bind` asks only for the columns that the predicate names, so an implementation can decode its columns one by one.
    """

    def find(self, name: str) -> NodePath:
        """The nodes from the top-level column down to the field that `name`, a path, leads to.

        Raises `InvalidArgument` if there is no such field.
        """

    def field(self, node: SchemaNode) -> pa.Field:
        """The Arrow field of a top-level column."""

    def visible(self) -> tuple[SchemaNode, ...]:
        """All top-level columns that a user may name. Needed only to suggest names after `find` failed."""
