"""The natural Arrow type of a stored field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import pyarrow as pa

from amudai.arguments import shown
from amudai.arrow.annotations import labelled_field
from amudai.arrow.fits import require_fit
from amudai.arrow.ticks import EPOCH, fits_nanoseconds, unit_of
from amudai.column import Projection
from amudai.encoding import DecimalForm
from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.format import RangeStats
from amudai.types import DYNAMIC, TIMESPAN, BasicType, SchemaNode

__all__ = ["BoundsLookup", "arrow_field", "child_type", "dtype_of", "list_like", "members", "project", "value_type"]

# Returns the smallest and the largest value of a field, if the shard's statistics have them.
BoundsLookup: TypeAlias = Callable[[SchemaNode], RangeStats | None]

# Wide enough for any decimal with up to 38 digits on each side of the point.
_DECIMAL: Final = pa.decimal256(76, 38)

# Arrow numbers the variants of a union with signed bytes, and counts the bytes or items of a value with 32 bits.
_MAX_VARIANTS: Final = 128
_MAX_FIXED_SIZE: Final = 0x7FFF_FFFF

_VIEWS: Final = frozenset({pa.lib.Type_STRING_VIEW, pa.lib.Type_BINARY_VIEW})

# The types that wrap those of their values.
_WRAPPED: Final = frozenset({pa.lib.Type_DICTIONARY, pa.lib.Type_RUN_END_ENCODED})

_SIMPLE: Final[Mapping[BasicType, pa.DataType]] = {
    BasicType.UNIT: pa.null(),
    BasicType.BOOLEAN: pa.bool_(),
    BasicType.FLOAT32: pa.float32(),
    BasicType.FLOAT64: pa.float64(),
    BasicType.BINARY: pa.binary(),
    BasicType.STRING: pa.string(),
    BasicType.GUID: pa.uuid(),
}
_INTEGERS: Final[Mapping[BasicType, tuple[pa.DataType, pa.DataType]]] = {
    BasicType.INT8: (pa.uint8(), pa.int8()),
    BasicType.INT16: (pa.uint16(), pa.int16()),
    BasicType.INT32: (pa.uint32(), pa.int32()),
    BasicType.INT64: (pa.uint64(), pa.int64()),
}


def arrow_field(node: SchemaNode, bounds: BoundsLookup) -> pa.Field:
    """The natural Arrow field of a node, for which no type was kept. Labels become extension types of Arrow."""
    return labelled_field(node, pa.field(node.name, _type(node, bounds)))


def _type(node: SchemaNode, bounds: BoundsLookup) -> pa.DataType:
    kind = node.basic_type
    if kind in _INTEGERS:
        if kind is BasicType.INT64 and node.signed and node.extension == TIMESPAN:
            return pa.duration(_unit(node, bounds, 0))
        return _INTEGERS[kind][node.signed]
    if node.is_json_bytes or (kind is BasicType.STRING and node.extension == DYNAMIC):
        return pa.json_(pa.string())
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    children = [arrow_field(child, bounds) for child in node.children]
    if node.fixed_size > _MAX_FIXED_SIZE:
        found = f"expected at most {_MAX_FIXED_SIZE}, found {node.fixed_size}"
        raise UnsupportedFeature(f"fixed size: {found}", field=node.name)
    match kind:
        case BasicType.FIXED_SIZE_BINARY:
            return _DECIMAL if node.is_decimal else pa.binary(node.fixed_size)
        case BasicType.DATETIME:
            return pa.timestamp(_unit(node, bounds, EPOCH), "UTC")
        case BasicType.LIST:
            return pa.list_(children[0].with_name(children[0].name or "item"))
        case BasicType.FIXED_SIZE_LIST:
            return pa.list_(children[0].with_name(children[0].name or "item"), node.fixed_size)
        case BasicType.MAP:
            key, value = children
            return pa.map_(key.with_name("key").with_nullable(False), value.with_name("value"))
        case BasicType.STRUCT:
            return pa.struct(children)
        case _:
            if len(children) > _MAX_VARIANTS:
                found = f"expected at most {_MAX_VARIANTS} variants, found {len(children)}"
                raise UnsupportedFeature(f"union: {found}", field=node.name)
            return pa.sparse_union(children)


def _unit(node: SchemaNode, bounds: BoundsLookup, base: int) -> str:
    """Nanoseconds, unless the statistics show that 64 bits of nanoseconds cannot hold all values."""
    found = bounds(node)
    if found is not None and found.min is not None and found.max is not None:
        low, high = found.min.value, found.max.value
        if isinstance(low, int) and isinstance(high, int) and not fits_nanoseconds(low - base, high - base):
            return "us"
    return "ns"


def project(node: SchemaNode, kind: pa.DataType) -> Projection:
    """The parts of a field to read for an array of this type. A struct type may leave out children."""
    if isinstance(kind, pa.BaseExtensionType):
        return project(node, kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return project(node, kind.value_type)
    wide = (
        pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_large_list_view(kind)
    )
    require_fit(node, kind)
    match node.basic_type:
        case BasicType.LIST | BasicType.FIXED_SIZE_LIST:
            return Projection(node, wide, (project(node.children[0], kind.value_type),))
        case BasicType.MAP:
            key, value = node.children
            return Projection(node, wide, (project(key, kind.key_type), project(value, kind.item_type)))
        case BasicType.STRUCT:
            named = members(node, kind)
            return Projection(node, wide, tuple(project(child, field.type) for child, field in named))
        case BasicType.UNION:
            return Projection(
                node, wide, tuple(project(child, kind.field(at).type) for at, child in enumerate(node.children))
            )
    if node.is_ticks:
        return Projection(node, unit=unit_of(kind))
    if node.is_decimal and pa.types.is_decimal(kind):
        return Projection(node, decimals=DecimalForm(kind.scale, kind.precision, kind.bit_width // 8))
    return Projection(node, wide, views=kind.id in _VIEWS and not node.is_json_bytes)


def dtype_of(kind: pa.DataType) -> str:
    """The numpy type of an integer or float type, in the form of `SchemaNode.dtype`."""
    # Not `to_pandas_dtype`: it needs pandas in some versions of pyarrow.
    letter = "f" if pa.types.is_floating(kind) else "i" if pa.types.is_signed_integer(kind) else "u"
    return f"{letter}{kind.bit_width // 8}"


def value_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values that dictionaries, runs and extensions wrap."""
    while True:
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif kind.id in _WRAPPED:
            kind = kind.value_type
        else:
            return kind


def child_type(parent: SchemaNode, child: SchemaNode, kind: pa.DataType) -> pa.DataType | None:
    """The type of a child's values in a parent of this type; None if the type leaves out the child."""
    if isinstance(kind, pa.BaseExtensionType):
        return child_type(parent, child, kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return child_type(parent, child, kind.value_type)
    match parent.basic_type:
        case BasicType.MAP:
            return kind.key_type if child is parent.children[0] else kind.item_type
        case BasicType.STRUCT:
            return next((field.type for node, field in members(parent, kind) if node is child), None)
        case BasicType.UNION:
            return next(kind.field(at).type for at, node in enumerate(parent.children) if node is child)
    return kind.value_type


def list_like(kind: pa.DataType, item: pa.Field) -> pa.DataType:
    """A list type of the same kind with other items."""
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(item, kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(item)
    if pa.types.is_list_view(kind):
        return pa.list_view(item)
    return pa.large_list_view(item) if pa.types.is_large_list_view(kind) else pa.list_(item)


def members(node: SchemaNode, kind: pa.DataType) -> list[tuple[SchemaNode, pa.Field]]:
    """The children that a struct type names, each with its field."""
    fields = list(kind)
    if [field.name for field in fields] == [child.name for child in node.children]:
        return list(zip(node.children, fields, strict=True))  # by index, because names may repeat
    by_name = {child.name: child for child in reversed(node.children)}
    unknown = next((field.name for field in fields if field.name not in by_name), None)
    if unknown is not None:
        raise InvalidArgument(f"type: expected members of {node}, found {shown(unknown)}")
    return [(by_name[field.name], field) for field in fields]
