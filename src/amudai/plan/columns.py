"""The columns that a request names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from amudai.arguments import names
from amudai.arrow import list_like, project
from amudai.column import Projection
from amudai.errors import AmudaiError
from amudai.frozen import quick_init
from amudai.predicate import TableSchema
from amudai.types import BasicType, NodePath, SchemaNode, quote_name

__all__ = ["SelectableFields", "SelectedColumn", "select", "select_nodes"]


class SelectableFields(TableSchema, Protocol):
    """Columns that a request can name: those of a shard, or of a schema without a shard."""

    def projection(self, node: SchemaNode) -> Projection:
        """What must be read for a top-level column as a whole."""

    def known_columns(self) -> Iterable[tuple[pa.Field, Projection]] | None:
        """All columns, and what must be read for each, if that is found at once; None if it is found one by one."""


@quick_init
@dataclass(frozen=True, slots=True)
class SelectedColumn:
    """A column of the result: its Arrow field, and what must be read for it."""

    field: pa.Field
    projection: Projection

    @property
    def path(self) -> str:
        """The column's name as a path."""
        return quote_name(self.projection.node.name)


def select(fields: SelectableFields, columns: Sequence[str] | None) -> tuple[SelectedColumn, ...]:
    """The columns with these names, in this order; all columns for None.

    A path into a struct selects the struct with only the named members. A column that is named twice is selected twice.
    """
    if columns is None:
        every = fields.known_columns()
        if every is not None:
            return tuple(SelectedColumn(field, projection) for field, projection in every)
        return tuple(_selected(fields, node, [()]) for node in fields.visible())
    wanted: list[tuple[SchemaNode, list[NodePath]]] = []
    known: dict[int, list[NodePath]] = {}
    for name in names(columns, "columns"):
        node, *below = fields.find(name)
        paths = known.get(node.schema_id)
        if paths is None or (not below and () in paths):
            paths = known[node.schema_id] = []
            wanted.append((node, paths))
        paths.append(tuple(below))
    return tuple(_selected(fields, node, paths) for node, paths in wanted)


def select_nodes(fields: SelectableFields, nodes: Sequence[SchemaNode]) -> SelectedColumn:
    """The top-level column of a path of nodes. Its structs have only the members that are on the path."""
    return _selected(fields, nodes[0], [tuple(nodes[1:])])


def _pruned(node: SchemaNode, field: pa.Field, paths: list[NodePath]) -> pa.Field:
    """The field, with only the struct members that are on one of `paths`."""
    if () in paths or isinstance(field.type, pa.BaseExtensionType):
        return field
    by_child: dict[int, list[NodePath]] = {}
    for child, *rest in paths:
        by_child.setdefault(child.schema_id, []).append(tuple(rest))
    kind = field.type
    match node.basic_type:
        case BasicType.STRUCT:
            members = [
                _pruned(child, kind.field(index), by_child[child.schema_id])
                for index, child in enumerate(node.children)
                if child.schema_id in by_child
            ]
            return field.with_type(pa.struct(members))
        case BasicType.LIST | BasicType.FIXED_SIZE_LIST:
            item = _pruned(node.children[0], kind.value_field, by_child[node.children[0].schema_id])
            return field.with_type(list_like(kind, item))
        case BasicType.MAP:
            value_id = node.children[1].schema_id
            if value_id in by_child:
                value = _pruned(node.children[1], kind.item_field, by_child[value_id])
                return field.with_type(pa.map_(kind.key_field, value, kind.keys_sorted))
    return field


def _selected(fields: SelectableFields, node: SchemaNode, paths: list[NodePath]) -> SelectedColumn:
    field = fields.field(node)
    pruned = _pruned(node, field, paths)
    try:
        return SelectedColumn(pruned, fields.projection(node) if pruned is field else project(node, pruned.type))
    except AmudaiError as error:
        error.locate(field=quote_name(node.name))
        raise
