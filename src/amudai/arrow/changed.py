"""The kept Arrow schema of a shard whose columns are dropped or renamed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from amudai.arrow.natural import list_like, members
from amudai.errors import UnsupportedFeature
from amudai.types import BasicType, SchemaNode

__all__ = ["changed_schema"]


def changed_schema(schema: pa.Schema, columns: Sequence[SchemaNode], left: Mapping[int, SchemaNode]) -> pa.Schema:
    """The schema with the names and members of other nodes.

    Parameters
    ----------
    columns
        The nodes of the columns of `schema`, in the same order.
    left
        By schema id, the nodes that are left, at any level, perhaps with other names.
    """
    fields = [_field(field, node, left) for field, node in zip(schema, columns, strict=True) if node.schema_id in left]
    return pa.schema(fields, metadata=schema.metadata)


def _field(field: pa.Field, node: SchemaNode, left: Mapping[int, SchemaNode]) -> pa.Field:
    new = left[node.schema_id]
    name = new.name if new.name != node.name else field.name  # lists name their items as they like
    return field.with_name(name).with_type(_type(field.type, node, left))


def _type(kind: pa.DataType, node: SchemaNode, left: Mapping[int, SchemaNode]) -> pa.DataType:
    if left[node.schema_id].children == node.children:
        return kind
    if pa.types.is_struct(kind):
        kept = [(child, field) for child, field in members(node, kind) if child.schema_id in left]
        return pa.struct([_field(field, child, left) for child, field in kept])
    if pa.types.is_map(kind):
        key, value = node.children
        return pa.map_(_field(kind.key_field, key, left), _field(kind.item_field, value, left), kind.keys_sorted)
    if node.basic_type in (BasicType.LIST, BasicType.FIXED_SIZE_LIST) and hasattr(kind, "value_field"):
        return list_like(kind, _field(kind.value_field, node.children[0], left))
    raise UnsupportedFeature(f"columns below {node.name!r}: expected structs, lists and maps around them, found {kind}")
