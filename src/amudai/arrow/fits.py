"""The Arrow types that can hold the values of a stored field.

Decoded buffers become buffers of Arrow arrays without conversion. So a type must have the same layout and give the bits
the same meaning: an integer read as a float would silently be another value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pyarrow as pa

from amudai.arrow.scaled import is_scaled
from amudai.errors import InvalidArgument
from amudai.types import TIMESPAN, WIDTHS, BasicType, SchemaNode

__all__ = ["require_fit"]


def require_fit(node: SchemaNode, kind: pa.DataType) -> None:
    """Raise InvalidArgument if a type cannot hold the field's own values. Children of containers are not checked."""
    if not _fits(node, kind):
        raise InvalidArgument(f"type: expected an Arrow type that can hold {node}, found {kind}")


def _fits(node: SchemaNode, kind: pa.DataType) -> bool:
    basic = node.basic_type
    if basic in _CONTAINERS:
        return _CONTAINERS[basic](node, kind)
    if basic in WIDTHS:
        return _is_number(node, kind)
    if basic is BasicType.UNIT:
        return True  # nulls fit any type
    if basic is BasicType.BOOLEAN:
        return bool(pa.types.is_boolean(kind))
    if basic is BasicType.STRING:
        return _is_any(kind, _TEXTS) or _is_any(kind, _BINARIES)
    if basic is BasicType.BINARY:
        return _is_any(kind, _BINARIES) or (node.is_json_bytes and _is_any(kind, _TEXTS))
    if pa.types.is_decimal(kind):
        return node.is_decimal or kind.bit_width == 8 * node.fixed_size
    fixed = pa.types.is_fixed_size_binary(kind) or pa.types.is_interval(kind)
    return bool(fixed and kind.bit_width == 8 * node.fixed_size)


def _is_number(node: SchemaNode, kind: pa.DataType) -> bool:
    basic = node.basic_type
    if basic is BasicType.DATETIME:
        counted = pa.types.is_timestamp(kind) or pa.types.is_date(kind)
        return bool(counted or pa.types.is_int64(kind) or pa.types.is_uint64(kind))
    if pa.types.is_decimal(kind):
        return is_scaled(kind, node)
    if not pa.types.is_primitive(kind) or pa.types.is_boolean(kind) or kind.bit_width != 8 * WIDTHS[basic]:
        return False
    if basic in (BasicType.FLOAT32, BasicType.FLOAT64):
        return bool(pa.types.is_floating(kind))
    if pa.types.is_floating(kind):
        return bool(pa.types.is_float16(kind)) and not node.signed  # kept as the integer of its bits
    if node.extension == TIMESPAN and node.signed and pa.types.is_temporal(kind):
        return bool(pa.types.is_duration(kind))
    # Times, dates and durations are signed integers.
    return bool(pa.types.is_unsigned_integer(kind)) != node.signed


_Is = Callable[[pa.DataType], bool]
_TEXTS: Final[tuple[_Is, ...]] = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_BINARIES: Final[tuple[_Is, ...]] = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)
_LISTS: Final[tuple[_Is, ...]] = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)


def _is_any(kind: pa.DataType, checks: tuple[_Is, ...]) -> bool:
    return any(check(kind) for check in checks)


_CONTAINERS: Final[Mapping[BasicType, Callable[[SchemaNode, pa.DataType], bool]]] = {
    BasicType.LIST: lambda _, kind: _is_any(kind, _LISTS),
    BasicType.FIXED_SIZE_LIST: lambda node, kind: (
        pa.types.is_fixed_size_list(kind) and kind.list_size == node.fixed_size
    ),
    BasicType.MAP: lambda _, kind: pa.types.is_map(kind),
    BasicType.STRUCT: lambda _, kind: pa.types.is_struct(kind),
    BasicType.UNION: lambda node, kind: pa.types.is_union(kind) and kind.num_fields == len(node.children),
}
