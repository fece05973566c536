"""How is an Arrow field stored?

The other way round from `natural`: the schema tree that a shard of this Arrow schema has. Types whose bytes the format
does not know by name are stored as integers or fixed-size binaries of their width; the kept schema restores them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import pyarrow as pa

from amudai.errors import InvalidSchema
from amudai.types import DECIMAL, DYNAMIC, TIMESPAN, BasicType, SchemaNode

__all__ = ["schema_nodes"]

_MAX_DECIMAL_DIGITS: Final = 34

_Is = Callable[[pa.DataType], bool]
_INTEGERS: Final[tuple[tuple[_Is, BasicType, bool], ...]] = (
    (pa.types.is_int8, BasicType.INT8, True),
    (pa.types.is_int16, BasicType.INT16, True),
    (pa.types.is_int32, BasicType.INT32, True),
    (pa.types.is_int64, BasicType.INT64, True),
    (pa.types.is_uint8, BasicType.INT8, False),
    (pa.types.is_uint16, BasicType.INT16, False),
    (pa.types.is_uint32, BasicType.INT32, False),
    (pa.types.is_uint64, BasicType.INT64, False),
    (pa.types.is_time32, BasicType.INT32, True),
    (pa.types.is_time64, BasicType.INT64, True),
    (pa.types.is_float16, BasicType.INT16, False),
)
_SIMPLE: Final[tuple[tuple[_Is, BasicType], ...]] = (
    (pa.types.is_null, BasicType.UNIT),
    (pa.types.is_boolean, BasicType.BOOLEAN),
    (pa.types.is_float32, BasicType.FLOAT32),
    (pa.types.is_float64, BasicType.FLOAT64),
    (pa.types.is_string, BasicType.STRING),
    (pa.types.is_large_string, BasicType.STRING),
    (pa.types.is_string_view, BasicType.STRING),
    (pa.types.is_binary, BasicType.BINARY),
    (pa.types.is_large_binary, BasicType.BINARY),
    (pa.types.is_binary_view, BasicType.BINARY),
    (pa.types.is_timestamp, BasicType.DATETIME),
    (pa.types.is_date, BasicType.DATETIME),
)
_LISTS: Final[tuple[_Is, ...]] = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)


class _Ids:
    """Numbers nodes in the order in which a schema lists them: a node, then everything below it."""

    def __init__(self) -> None:
        self._next = 0

    def take(self) -> int:
        self._next += 1
        return self._next - 1


def schema_nodes(fields: Iterable[pa.Field]) -> tuple[SchemaNode, ...]:
    """The stored schema of Arrow fields.

    >>> fields = [pa.field("at", pa.timestamp("us")), pa.field("tags", pa.list_(pa.string()))]
    >>> [str(node) for node in schema_nodes(fields)]
    ['datetime', 'list<string>']
    """
    ids = _Ids()
    return tuple(_node(field.name, field.type, ids) for field in fields)


def _node(name: str, kind: pa.DataType, ids: _Ids) -> SchemaNode:
    if isinstance(kind, pa.BaseExtensionType):
        return _extension(name, kind, ids)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _node(name, kind.value_type, ids)
    schema_id = ids.take()
    for check, basic, signed in _INTEGERS:
        if check(kind):
            return SchemaNode(schema_id=schema_id, name=name, basic_type=basic, signed=signed)
    for matches, basic in _SIMPLE:
        if matches(kind):
            return SchemaNode(schema_id=schema_id, name=name, basic_type=basic)
    if pa.types.is_duration(kind):
        return SchemaNode(schema_id=schema_id, name=name, basic_type=BasicType.INT64, signed=True, extension=TIMESPAN)
    if pa.types.is_decimal(kind) and kind.precision <= _MAX_DECIMAL_DIGITS:
        return _bytes(schema_id, name, 16, DECIMAL)
    if pa.types.is_decimal(kind) or pa.types.is_interval(kind):
        return _bytes(schema_id, name, kind.bit_width // 8)
    if pa.types.is_fixed_size_binary(kind):
        return _bytes(schema_id, name, kind.byte_width)
    return _container(schema_id, name, kind, ids)


def _extension(name: str, kind: pa.BaseExtensionType, ids: _Ids) -> SchemaNode:
    if kind.extension_name == "arrow.uuid":
        return SchemaNode(schema_id=ids.take(), name=name, basic_type=BasicType.GUID, fixed_size=16)
    if kind.extension_name == "arrow.json":
        return SchemaNode(schema_id=ids.take(), name=name, basic_type=BasicType.STRING, extension=DYNAMIC)
    return _node(name, kind.storage_type, ids)


def _bytes(schema_id: int, name: str, size: int, extension: str = "") -> SchemaNode:
    basic = BasicType.FIXED_SIZE_BINARY
    return SchemaNode(schema_id=schema_id, name=name, basic_type=basic, fixed_size=size, extension=extension)


def _container(schema_id: int, name: str, kind: pa.DataType, ids: _Ids) -> SchemaNode:
    if any(check(kind) for check in _LISTS):
        children: tuple[SchemaNode, ...] = (_node("", kind.value_type, ids),)
        return SchemaNode(schema_id=schema_id, name=name, basic_type=BasicType.LIST, children=children)
    if pa.types.is_fixed_size_list(kind):
        children = (_node("", kind.value_type, ids),)
        return SchemaNode(
            schema_id=schema_id,
            name=name,
            basic_type=BasicType.FIXED_SIZE_LIST,
            fixed_size=kind.list_size,
            children=children,
        )
    if pa.types.is_map(kind):
        children = (_node("", kind.key_type, ids), _node("", kind.item_type, ids))
        return SchemaNode(schema_id=schema_id, name=name, basic_type=BasicType.MAP, children=children)
    if pa.types.is_struct(kind) or pa.types.is_union(kind):
        fields = [kind.field(index) for index in range(kind.num_fields)]
        children = tuple(_node(field.name, field.type, ids) for field in fields)
        basic = BasicType.STRUCT if pa.types.is_struct(kind) else BasicType.UNION
        return SchemaNode(schema_id=schema_id, name=name, basic_type=basic, children=children)
    raise InvalidSchema(f"column {name!r}: expected a type that shards can hold, found {kind}")
