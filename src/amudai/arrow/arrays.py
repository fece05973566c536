"""How do decoded columns become Arrow arrays?"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from amudai.arrow.ticks import from_ticks, from_timespan
from amudai.encoding import Values
from amudai.errors import CorruptedData, InvalidArgument
from amudai.format import AnyValue
from amudai.shard import Absent, Column, Constant, Joined, Projection, Stored
from amudai.types import TIMESPAN, WIDTHS, BasicType, SchemaNode, decimal128

__all__ = ["to_array"]

_TEXT: Final = {BasicType.STRING: "string", BasicType.BINARY: "bytes"}


def to_array(column: Column, projection: Projection, kind: pa.DataType) -> pa.Array:
    """The column as an array of this Arrow type, which is natural for it or was kept for it."""
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, to_array(column, projection, kind.storage_type))
    if pa.types.is_dictionary(kind):
        values = to_array(column, projection, kind.value_type)
        return values.dictionary_encode().cast(kind)
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_encode(to_array(column, projection, kind.value_type), kind.run_end_type)
    if pa.types.is_string_view(kind):
        return to_array(column, projection, pa.string()).cast(kind)
    if pa.types.is_binary_view(kind):
        return to_array(column, projection, pa.binary()).cast(kind)
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return _list_view(column, projection, kind)
    match column:
        case Absent(length):
            return _nulls(length, kind)
        case Joined(parts):
            return pa.concat_arrays([to_array(part, projection, kind) for part in parts])
        case Constant(length, value):
            return _repeated(length, value, projection, kind)
        case Stored(values, children):
            if projection.children:
                return _container(values, children, projection, kind)
            return _scalars(values, projection.node, kind)


# ---- single values ----


def _scalars(values: Values, node: SchemaNode, kind: pa.DataType) -> pa.Array:
    if node.is_decimal and pa.types.is_decimal(kind):
        return _decimals(values, kind)
    if node.basic_type is BasicType.DATETIME and not _is_integer(kind):
        ticks = values.numbers("u8")
        return _numbers(values, kind, from_ticks(ticks, values.valid(), kind))
    if node.extension == TIMESPAN and pa.types.is_duration(kind):
        spans = values.numbers("i8")
        return _numbers(values, kind, from_timespan(spans, values.valid(), kind))
    _check_width(node, kind)
    buffers = [values.validity, values.data]
    if values.offsets is not None:
        buffers = [values.validity, values.offsets, values.data]
    return pa.Array.from_buffers(kind, values.length, buffers, values.nulls)


def _is_integer(kind: pa.DataType) -> bool:
    return bool(pa.types.is_int64(kind) or pa.types.is_uint64(kind))


def _check_width(node: SchemaNode, kind: pa.DataType) -> None:
    """Refuse a type whose values have another layout than the stored ones: buffers are taken as they are."""
    basic = node.basic_type
    if basic is BasicType.BOOLEAN:
        fits = pa.types.is_boolean(kind)
    elif basic in WIDTHS:
        fits = pa.types.is_primitive(kind) and not pa.types.is_boolean(kind) and kind.bit_width == 8 * WIDTHS[basic]
    elif basic is BasicType.STRING:
        fits = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        fits = fits or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    elif basic is BasicType.BINARY:
        fits = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    else:
        width = getattr(kind, "byte_width", None) or getattr(kind, "bit_width", 0) // 8
        fixed = pa.types.is_fixed_size_binary(kind) or pa.types.is_decimal(kind) or pa.types.is_interval(kind)
        fits = fixed and width == node.fixed_size
    if not fits:
        raise InvalidArgument(f"type: expected an Arrow type that can hold {node}, found {kind}")


def _numbers(values: Values, kind: pa.DataType, numbers: npt.NDArray[np.int64]) -> pa.Array:
    if pa.types.is_date32(kind):
        numbers = numbers.astype(np.int32)  # days from year 1 to 9999 fit by far
    return pa.Array.from_buffers(kind, values.length, [values.validity, pa.py_buffer(numbers)], values.nulls)


def _decimals(values: Values, kind: pa.DataType) -> pa.Array:
    stored = decimal128.decode(np.frombuffer(values.data or b"", np.uint8, 16 * values.length))
    width = kind.bit_width // 8
    if width in (4, 8):
        wide = pa.decimal128(kind.precision, kind.scale)
        return _decimals(values, wide).cast(kind)
    unscaled = decimal128.to_unscaled(
        stored, kind.scale, 16 if width == 16 else 32, precision=kind.precision, valid=values.valid()
    )
    return pa.Array.from_buffers(kind, values.length, [values.validity, pa.py_buffer(unscaled)], values.nulls)


def _repeated(length: int, value: AnyValue, projection: Projection, kind: pa.DataType) -> pa.Array:
    if value.kind == "null":
        return _nulls(length, kind)
    one = to_array(Stored(_single(value, projection)), projection, kind)
    if length == 0:
        return one.slice(0, 0)
    try:
        return pa.repeat(one[0], length)
    except pa.ArrowNotImplementedError:
        return one.take(pa.repeat(pa.scalar(0, pa.int64()), length))


def _single(value: AnyValue, projection: Projection) -> Values:
    """A constant as a column of one position, in the layout that decoded values have."""
    node, found = projection.node, value.value
    basic = node.basic_type
    if basic is BasicType.BOOLEAN and value.kind == "bool":
        return Values(1, data=pa.py_buffer(bytes([bool(found)])))
    if basic in WIDTHS:
        return Values(1, data=pa.py_buffer(_number(value, node)))
    data = _bytes_of(value, node)
    if basic in _TEXT:
        offsets = np.array([0, len(data)], np.int64 if projection.wide else np.int32)
        return Values(1, data=pa.py_buffer(data), offsets=pa.py_buffer(offsets))
    if len(data) != node.fixed_size:
        raise CorruptedData(f"constant_value: expected {node.fixed_size} bytes, found {len(data)}")
    return Values(1, data=pa.py_buffer(data))


def _number(value: AnyValue, node: SchemaNode) -> npt.NDArray[Any]:
    wanted = {"f": "double", "i": "i64", "u": "u64"}[node.dtype[0]]
    if value.kind != wanted:
        raise CorruptedData(f"constant_value: expected {wanted}, found {value.kind}")
    found = value.value
    dtype = np.dtype(node.dtype)
    if isinstance(found, int) and not np.iinfo(dtype).min <= found <= np.iinfo(dtype).max:
        raise CorruptedData(f"constant_value: expected a value of {node}, found {found}")
    with np.errstate(over="ignore"):
        return np.array([found], dtype)


def _bytes_of(value: AnyValue, node: SchemaNode) -> bytes:
    found = value.value
    if isinstance(found, str) and value.kind == "string":
        return found.encode()
    if not isinstance(found, bytes) or value.kind not in ("bytes", "decimal"):
        raise CorruptedData(f"constant_value: expected a value of {node}, found {value.kind}")
    if node.basic_type is BasicType.STRING:
        try:
            found.decode()
        except UnicodeDecodeError as error:
            raise CorruptedData("constant_value: expected UTF-8, found other bytes") from error
    return found


def _nulls(length: int, kind: pa.DataType) -> pa.Array:
    if pa.types.is_union(kind):
        # A union has no nulls of its own: its first variant is null.
        variants = [pa.nulls(length, kind.field(at).type) for at in range(kind.num_fields)]
        first = kind.type_codes[0] if kind.num_fields else 0
        return _union(pa.array(np.full(length, first, np.int8)), variants, kind)
    return pa.nulls(length, kind)


# ---- containers ----


def _container(values: Values, children: tuple[Column, ...], projection: Projection, kind: pa.DataType) -> pa.Array:
    match projection.node.basic_type:
        case BasicType.STRUCT:
            fields = [kind.field(index).type for index in range(kind.num_fields)]
            return pa.Array.from_buffers(
                kind, values.length, [values.validity], values.nulls, children=_arrays(children, projection, fields)
            )
        case BasicType.LIST:
            if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
                raise InvalidArgument(f"type: expected a list type, found {kind}")
            items = _arrays(children, projection, [kind.value_type])
            buffers = [values.validity, values.offsets]
            return pa.Array.from_buffers(kind, values.length, buffers, values.nulls, children=items)
        case BasicType.FIXED_SIZE_LIST:
            items = _arrays(children, projection, [kind.value_type])
            return pa.Array.from_buffers(kind, values.length, [values.validity], values.nulls, children=items)
        case BasicType.MAP:
            keys, items = _arrays(children, projection, [kind.key_type, kind.item_type])
            if keys.null_count:
                raise CorruptedData(f"map keys: expected no nulls, found {keys.null_count}")
            entries = pa.StructArray.from_arrays([keys, items], fields=[kind.key_field, kind.item_field])
            buffers = [values.validity, values.offsets]
            return pa.Array.from_buffers(kind, values.length, buffers, values.nulls, children=[entries])
        case _:
            types = [kind.field(index).type for index in range(kind.num_fields)]
            return _stored_union(values, _arrays(children, projection, types), kind)


def _arrays(children: tuple[Column, ...], projection: Projection, types: list[pa.DataType]) -> list[pa.Array]:
    return [
        to_array(column, wanted, kind)
        for column, wanted, kind in zip(children, projection.children, types, strict=True)
    ]


def _stored_union(values: Values, variants: list[pa.Array], kind: pa.DataType) -> pa.Array:
    """Variants are numbered by their place when stored, by the type's codes in Arrow."""
    codes = np.array(kind.type_codes, np.int8)
    chosen = values.numbers("u1")
    types = pa.array(codes[chosen] if len(codes) else chosen.astype(np.int8))
    if values.offsets is None:
        return _union(types, variants, kind)
    places = pa.Array.from_buffers(pa.int32(), values.length, [None, values.offsets])
    names = [kind.field(index).name for index in range(kind.num_fields)]
    if kind.mode == "dense":
        return pa.UnionArray.from_dense(types, places, variants, names, kind.type_codes).cast(kind)
    # Stored with places, wanted without: each variant is spread to the positions of the union.
    spread = [
        variant.take(pa.array(np.where(chosen == index, places.to_numpy(), 0), mask=chosen != index))
        for index, variant in enumerate(variants)
    ]
    return _union(types, spread, kind)


def _union(types: pa.Array, variants: list[pa.Array], kind: pa.DataType) -> pa.Array:
    buffers = [None, types.buffers()[1]]
    if kind.mode == "sparse":
        return pa.Array.from_buffers(kind, len(types), buffers, children=variants)
    places = pa.array(np.arange(len(types), dtype=np.int32))
    return pa.Array.from_buffers(kind, len(types), [*buffers, places.buffers()[1]], children=variants)


def _list_view(column: Column, projection: Projection, kind: pa.DataType) -> pa.Array:
    large = pa.types.is_large_list_view(kind)
    plain = pa.large_list(kind.value_field) if large else pa.list_(kind.value_field)
    lists = to_array(column, projection, plain)
    offsets = lists.offsets
    sizes = pc.subtract(offsets.slice(1), offsets.slice(0, len(lists)))
    buffers = [lists.buffers()[0], offsets.buffers()[1], sizes.buffers()[1]]
    return pa.Array.from_buffers(kind, len(lists), buffers, lists.null_count, children=[lists.values])
