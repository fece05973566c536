"""Which columns were named?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from amudai.arrow import ArrowFields, project
from amudai.errors import InvalidArgument, located
from amudai.shard import Projection, ShardReader
from amudai.types import BasicType, SchemaNode, parse_path, quote_name

__all__ = ["Selected", "find", "select"]

Steps = tuple[str, ...]

_ITEM_NAMES = frozenset({"item", "element"})
_MAP_ROLES = {"key": 0, "keys": 0, "value": 1, "values": 1}


@dataclass(frozen=True, slots=True)
class Selected:
    """A column of the result: its Arrow field, and what must be read for it."""

    field: pa.Field
    projection: Projection

    @property
    def path(self) -> str:
        """The column's name as a path."""
        return quote_name(self.projection.node.name)


def select(reader: ShardReader, fields: ArrowFields, columns: Sequence[str] | None) -> tuple[Selected, ...]:
    """The columns of these names, in their order; all columns for None.

    A path into a struct keeps the struct and, of its members, those that were named.
    """
    if columns is None:
        return tuple(_selected(node, fields.field(node)) for node in fields.visible())
    if isinstance(columns, str):
        raise InvalidArgument(f"columns: expected a list of names, found the name {columns!r}")
    wanted: dict[int, tuple[SchemaNode, list[Steps]]] = {}
    for name in columns:
        node, steps = _resolve(reader, name)
        wanted.setdefault(node.schema_id, (node, []))[1].append(steps)
    chosen = []
    for node, paths in wanted.values():
        field = fields.field(node)
        chosen.append(_selected(node, field if () in paths else _pruned(node, field, paths)))
    return tuple(chosen)


def find(reader: ShardReader, name: str) -> tuple[SchemaNode, ...]:
    """The nodes from the top-level field down to the one that a path names."""
    node, steps = _resolve(reader, name)
    found = [node]
    while steps:
        child, steps = _step(node, steps, name)
        node = child
        found.append(node)
    return tuple(found)


def _resolve(reader: ShardReader, name: str) -> tuple[SchemaNode, Steps]:
    """The top-level field of a path, and the steps below it, all of which exist."""
    if not isinstance(name, str):
        raise InvalidArgument(f"columns: expected names, found {name!r}")
    first, *rest = parse_path(name)
    node, steps = reader.schema.find(first), tuple(rest)
    if node is None and rest:
        node, steps = reader.schema.find(name), ()  # a name with dots that is not quoted
    if node is None or node.internal:
        raise _missing(reader, name)
    below, left = node, steps
    while left:
        below, left = _step(below, left, name)
    return node, steps


def _step(node: SchemaNode, steps: Steps, name: str) -> tuple[SchemaNode, Steps]:
    """One step down: lists are stepped through with or without naming their items."""
    step = steps[0]
    match node.basic_type:
        case BasicType.STRUCT | BasicType.UNION:
            for child in node.children:
                if child.name == step:
                    return child, steps[1:]
        case BasicType.LIST | BasicType.FIXED_SIZE_LIST:
            item = node.children[0]
            if step in _ITEM_NAMES or (item.name and step == item.name):
                return item, steps[1:]
            return item, steps
        case BasicType.MAP if step in _MAP_ROLES:
            return node.children[_MAP_ROLES[step]], steps[1:]
    raise InvalidArgument(f"column {name!r}: {quote_name(node.name) or node.basic_type.name.lower()} has no {step!r}")


def _pruned(node: SchemaNode, field: pa.Field, paths: list[Steps]) -> pa.Field:
    """The field with only those members of its structs that the paths lead through."""
    if () in paths or isinstance(field.type, pa.BaseExtensionType):
        return field
    by_child: dict[int, list[Steps]] = {}
    for path in paths:
        child, rest = _step(node, path, ".".join(path))
        by_child.setdefault(child.schema_id, []).append(rest)
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
            if pa.types.is_fixed_size_list(kind):
                return field.with_type(pa.list_(item, kind.list_size))
            return field.with_type(_list_like(kind, item))
        case BasicType.MAP:
            value_id = node.children[1].schema_id
            if value_id in by_child:
                value = _pruned(node.children[1], kind.item_field, by_child[value_id])
                return field.with_type(pa.map_(kind.key_field, value, kind.keys_sorted))
    return field


def _list_like(kind: pa.DataType, item: pa.Field) -> pa.DataType:
    """A list type of the same kind over other items."""
    if pa.types.is_large_list(kind):
        return pa.large_list(item)
    if pa.types.is_list_view(kind):
        return pa.list_view(item)
    return pa.large_list_view(item) if pa.types.is_large_list_view(kind) else pa.list_(item)


def _selected(node: SchemaNode, field: pa.Field) -> Selected:
    with located(field=quote_name(node.name)):
        return Selected(field, project(node, field.type))


def _missing(reader: ShardReader, name: str) -> InvalidArgument:
    names = reader.schema.names()
    shown = ", ".join(quote_name(each) for each in names[:10])
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return InvalidArgument(f"column {name!r}: expected one of {shown}{more}", url=reader.url)
