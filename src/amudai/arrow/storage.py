"""The stored type of an Arrow field.

The inverse of `natural`: the schema tree of a shard with this Arrow schema. Types that the format does not have are
stored as integers or fixed-size binaries of the same width; the kept schema restores them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Literal, TypeAlias

import pyarrow as pa

from amudai.arguments import is_one_of, shown
from amudai.arrow.annotations import with_labels
from amudai.arrow.scaled import MOST_DIGITS
from amudai.errors import InvalidArgument, InvalidSchema
from amudai.types import DECIMAL, DYNAMIC, TIMESPAN, BasicType, SchemaNode, quote_name

__all__ = ["MAX_DEPTH", "Decimals", "Timestamps", "schema_nodes"]

# How timestamps, dates and durations are stored: as ticks of 100 ns, or as Arrow's integers. What ticks leave of
# nanoseconds is stored in another field.
Timestamps: TypeAlias = Literal["ticks", "int64"]

# How decimals of up to 18 digits are stored: in the format's 16-byte form, or as scaled integers.
Decimals: TypeAlias = Literal["decimal128", "int64"]

_MAX_DECIMAL_DIGITS: Final = 34
# A scale is stored as an exponent, whose range limits it.
_SCALES: Final = range(-6111, 6176 + 1)
# Levels of a column: a hostile schema must not exhaust the stack.
MAX_DEPTH: Final = 64

_Is = Callable[[pa.DataType], bool]
# How values of types without children are stored, by the number of the type, and whether they are signed.
_SIMPLE: Final[dict[int, tuple[BasicType, bool]]] = {
    pa.lib.Type_INT8: (BasicType.INT8, True),
    pa.lib.Type_INT16: (BasicType.INT16, True),
    pa.lib.Type_INT32: (BasicType.INT32, True),
    pa.lib.Type_INT64: (BasicType.INT64, True),
    pa.lib.Type_UINT8: (BasicType.INT8, False),
    pa.lib.Type_UINT16: (BasicType.INT16, False),
    pa.lib.Type_UINT32: (BasicType.INT32, False),
    pa.lib.Type_UINT64: (BasicType.INT64, False),
    pa.lib.Type_TIME32: (BasicType.INT32, True),
    pa.lib.Type_TIME64: (BasicType.INT64, True),
    pa.lib.Type_HALF_FLOAT: (BasicType.INT16, False),
    pa.lib.Type_NA: (BasicType.UNIT, False),
    pa.lib.Type_BOOL: (BasicType.BOOLEAN, False),
    pa.lib.Type_FLOAT: (BasicType.FLOAT32, False),
    pa.lib.Type_DOUBLE: (BasicType.FLOAT64, False),
    pa.lib.Type_STRING: (BasicType.STRING, False),
    pa.lib.Type_LARGE_STRING: (BasicType.STRING, False),
    pa.lib.Type_STRING_VIEW: (BasicType.STRING, False),
    pa.lib.Type_BINARY: (BasicType.BINARY, False),
    pa.lib.Type_LARGE_BINARY: (BasicType.BINARY, False),
    pa.lib.Type_BINARY_VIEW: (BasicType.BINARY, False),
    pa.lib.Type_TIMESTAMP: (BasicType.DATETIME, False),
    pa.lib.Type_DATE32: (BasicType.DATETIME, False),
    pa.lib.Type_DATE64: (BasicType.DATETIME, False),
}
_LISTS: Final[tuple[_Is, ...]] = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)


class _Walk:
    """Numbers nodes depth first: a node, then everything below it."""

    def __init__(self, timestamps: Timestamps, decimals: Decimals) -> None:
        self.raw_times = timestamps == "int64"
        self.scaled_decimals = decimals == "int64"
        self._next = 0

    def take_id(self) -> int:
        self._next += 1
        return self._next - 1


def schema_nodes(
    fields: Iterable[pa.Field], *, timestamps: Timestamps = "ticks", decimals: Decimals = "decimal128"
) -> tuple[SchemaNode, ...]:
    """The stored schema of Arrow fields; `InvalidSchema` if shards cannot hold them.

    Parameters
    ----------
    timestamps
        "ticks" stores timestamps, dates and durations in the format's own unit, 100 ns. `nanosecond_nodes` has the
        fields for what this leaves of nanoseconds. Only top-level columns have such fields: nanoseconds below lists,
        structs, maps and unions are stored as Arrow's integers. "int64" stores all times as Arrow's integers, for
        values outside of years 1 to 9999. Only the kept schema says what Arrow's integers mean.
    decimals
        "decimal128" stores decimals of up to 34 digits in the format's own form. "int64" stores those of up to 18
        digits as scaled integers, which are smaller and faster; only the kept schema says what their scale is.

    Examples
    --------
    >>> fields = [pa.field("at", pa.timestamp("us")), pa.field("tags", pa.list_(pa.string()))]
    >>> [str(node) for node in schema_nodes(fields)]
    ['datetime', 'list<string>']
    >>> [str(node) for node in schema_nodes(fields, timestamps="int64")]
    ['int64', 'list<string>']
    """
    if not is_one_of(timestamps, ("ticks", "int64")):
        raise InvalidArgument(f"timestamps: expected 'ticks' or 'int64', found {shown(timestamps)}")
    if not is_one_of(decimals, ("decimal128", "int64")):
        raise InvalidArgument(f"decimals: expected 'decimal128' or 'int64', found {shown(decimals)}")
    walk = _Walk(timestamps, decimals)
    fields = list(fields)
    _check_names([field.name for field in fields], "")
    return tuple(with_labels(_node(field.name, field.type, walk, quote_name(field.name), 1), field) for field in fields)


def _check_names(names: list[str], path: str, *, may_be_empty: bool = False) -> None:
    where = f"struct {path!r}" if path else "columns"
    seen: set[str] = set()
    for name in names:
        if not name and not may_be_empty:
            raise InvalidSchema(f"{where}: expected names, found an empty one")
        if name and name in seen:
            raise InvalidSchema(f"{where}: expected unique names, found {name!r} twice")
        seen.add(name)


def _node(name: str, kind: pa.DataType, walk: _Walk, path: str, depth: int) -> SchemaNode:
    if isinstance(kind, pa.BaseExtensionType):
        return _extension(name, kind, walk, path, depth)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _node(name, kind.value_type, walk, path, depth)
    if depth > MAX_DEPTH:
        raise InvalidSchema(f"column {path!r}: expected at most {MAX_DEPTH} levels, found more")
    schema_id = walk.take_id()
    if _is_time(kind) and (walk.raw_times or (depth > 1 and getattr(kind, "unit", "") == "ns")):
        basic = BasicType.INT32 if kind.bit_width == 32 else BasicType.INT64
        return SchemaNode(schema_id=schema_id, name=name, basic_type=basic, signed=True)
    if walk.scaled_decimals and pa.types.is_decimal(kind) and kind.precision <= MOST_DIGITS:
        return SchemaNode(schema_id=schema_id, name=name, basic_type=BasicType.INT64, signed=True)
    simple = _SIMPLE.get(kind.id)
    if simple is not None:
        return SchemaNode(schema_id=schema_id, name=name, basic_type=simple[0], signed=simple[1])
    if pa.types.is_duration(kind):
        return SchemaNode(schema_id=schema_id, name=name, basic_type=BasicType.INT64, signed=True, extension=TIMESPAN)
    if pa.types.is_decimal(kind) and kind.precision <= _MAX_DECIMAL_DIGITS and kind.scale in _SCALES:
        return _bytes(schema_id, name, 16, DECIMAL)
    if pa.types.is_decimal(kind) or pa.types.is_interval(kind):
        return _bytes(schema_id, name, kind.bit_width // 8)
    if pa.types.is_fixed_size_binary(kind):
        return _bytes(schema_id, name, kind.byte_width)
    return _container(schema_id, name, kind, walk, path, depth)


def _is_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_duration(kind))


def _extension(name: str, kind: pa.BaseExtensionType, walk: _Walk, path: str, depth: int) -> SchemaNode:
    if kind.extension_name == "arrow.uuid":
        return SchemaNode(schema_id=walk.take_id(), name=name, basic_type=BasicType.GUID, fixed_size=16)
    if kind.extension_name == "arrow.json":
        return SchemaNode(schema_id=walk.take_id(), name=name, basic_type=BasicType.STRING, extension=DYNAMIC)
    return _node(name, kind.storage_type, walk, path, depth)


def _bytes(schema_id: int, name: str, size: int, extension: str = "") -> SchemaNode:
    basic = BasicType.FIXED_SIZE_BINARY
    return SchemaNode(schema_id=schema_id, name=name, basic_type=basic, fixed_size=size, extension=extension)


def _container(schema_id: int, name: str, kind: pa.DataType, walk: _Walk, path: str, depth: int) -> SchemaNode:
    def child(role: str, of: pa.DataType, called: str = "") -> SchemaNode:
        return _node(called, of, walk, f"{path}.{role}", depth + 1)

    if any(check(kind) for check in _LISTS):
        children: tuple[SchemaNode, ...] = (child("item", kind.value_type),)
        return SchemaNode(schema_id=schema_id, name=name, basic_type=BasicType.LIST, children=children)
    if pa.types.is_fixed_size_list(kind):
        if not kind.list_size:
            raise InvalidSchema(f"column {path!r}: expected fixed-size lists of at least 1 item, found {kind}")
        children = (child("item", kind.value_type),)
        return SchemaNode(
            schema_id=schema_id,
            name=name,
            basic_type=BasicType.FIXED_SIZE_LIST,
            fixed_size=kind.list_size,
            children=children,
        )
    if pa.types.is_map(kind):
        children = (child("key", kind.key_type), child("value", kind.item_type))
        return SchemaNode(schema_id=schema_id, name=name, basic_type=BasicType.MAP, children=children)
    if pa.types.is_struct(kind) or pa.types.is_union(kind):
        fields = [kind.field(index) for index in range(kind.num_fields)]
        basic = BasicType.STRUCT if pa.types.is_struct(kind) else BasicType.UNION
        _check_names([field.name for field in fields], path, may_be_empty=basic is BasicType.UNION)
        children = tuple(
            child(quote_name(field.name) or str(index), field.type, field.name) for index, field in enumerate(fields)
        )
        return SchemaNode(schema_id=schema_id, name=name, basic_type=basic, children=children)
    raise InvalidSchema(f"column {path!r}: expected a type that shards can hold, found {kind}")
