"""Converting decoded columns to Arrow arrays."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arguments import shown
from amudai.arrow.natural import dtype_of
from amudai.arrow.reorder import nulls, taken
from amudai.arrow.scaled import from_scaled, is_scaled
from amudai.arrow.ticks import from_ticks, from_timespan
from amudai.column import (
    AbsentValues,
    ArrowValues,
    ColumnValues,
    ConstantValues,
    CountedValues,
    JoinedValues,
    Projection,
    StoredValues,
    TimeValues,
    ViewedValues,
)
from amudai.encoding import Values, first_not_json
from amudai.errors import CorruptedData, InvalidArgument
from amudai.format import AnyValue
from amudai.limits import DEFAULT_LIMITS
from amudai.types import CONTAINERS, TIMESPAN, WIDTHS, BasicType, SchemaNode, decimal128

__all__ = ["least_bits", "to_array"]

TickRemainders: TypeAlias = npt.NDArray[np.uint8]

_LAST_NANOSECOND: Final = 99
# The numbers of types that `_wrapped` makes, besides extension types. One look-up, as every column of every read asks.
_WRAPPERS: Final = frozenset(
    {
        pa.lib.Type_DICTIONARY,
        pa.lib.Type_RUN_END_ENCODED,
        pa.lib.Type_STRING_VIEW,
        pa.lib.Type_BINARY_VIEW,
        pa.lib.Type_LIST_VIEW,
        pa.lib.Type_LARGE_LIST_VIEW,
    }
)
_TEXT: Final = {BasicType.STRING: "string", BasicType.BINARY: "bytes"}


def to_array(column: ColumnValues, projection: Projection, kind: pa.DataType) -> pa.Array:
    """The column as an array of this Arrow type: its natural type, or the one that the writer kept."""
    is_wrapped = kind.id in _WRAPPERS or isinstance(kind, pa.BaseExtensionType)
    if isinstance(column, StoredValues) and not is_wrapped:  # first, as nearly all columns are
        if projection.node.basic_type in CONTAINERS:
            return _container(column.values, column.children, projection, kind)
        return _scalars(column.values, projection.node, kind)
    if isinstance(column, ArrowValues):
        from amudai.arrow.foreign import as_stored, converted  # imports what writes, which other readers do not need

        found = converted(column.array, kind)
        return to_array(as_stored(column.array, projection), projection, kind) if found is None else found
    if is_wrapped:
        return _wrapped(column, projection, kind)
    match column:
        case AbsentValues(length):
            return _nulls(length, kind)
        case JoinedValues(parts):
            return _joined([to_array(part, projection, kind) for part in parts])
        case ConstantValues(length, value):
            return _repeated(length, value, projection, kind)
        case CountedValues(values):
            return pa.Array.from_buffers(kind, values.length, [values.validity, values.data], values.nulls)
        case TimeValues(ticks, nanoseconds):
            return _times(ticks, nanoseconds, projection, kind)
    raise AssertionError(column)  # the others were handled above


def _wrapped(column: ColumnValues, projection: Projection, kind: pa.DataType) -> pa.Array:
    """The column as an array of a type that is made from an array of another type."""
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, to_array(column, projection, kind.storage_type))
    if pa.types.is_dictionary(kind):
        encoded = _encoded(to_array(column, projection, kind.value_type))
        if len(encoded.dictionary) > 1 + _largest(kind.index_type):
            raise OverflowError("more values than the codes of this Arrow type can count")
        codes = encoded.indices.cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(codes, encoded.dictionary, ordered=kind.ordered)
    if pa.types.is_run_end_encoded(kind):
        if column.length > _largest(kind.run_end_type):
            raise OverflowError("more rows than the run ends of this Arrow type can count")
        return _run_ends(to_array(column, projection, kind.value_type), kind)
    if isinstance(column, ViewedValues):
        values = column.values
        buffers = [values.validity, values.data, column.entries]
        return pa.Array.from_buffers(kind, values.length, buffers, values.nulls)
    if isinstance(column, JoinedValues) and projection.views:
        return _joined([to_array(part, projection, kind) for part in column.parts])
    if pa.types.is_string_view(kind):
        return to_array(column, projection, pa.string()).cast(kind)
    if pa.types.is_binary_view(kind):
        return to_array(column, projection, pa.binary()).cast(kind)
    return _list_view(column, projection, kind)


def _joined(arrays: list[pa.Array]) -> pa.Array:
    try:
        return pa.concat_arrays(arrays)
    except pa.ArrowInvalid as error:
        raise OverflowError("more bytes or items than the offsets of this Arrow type can count") from error


def _encoded(values: pa.Array) -> pa.DictionaryArray:
    """The values as a dictionary."""
    try:
        return values.dictionary_encode()
    except pa.ArrowNotImplementedError:
        # Arrow does not compare lists, structs and some others, so that each row has an entry of its own.
        codes = pa.array(np.arange(len(values)), mask=values.is_null().to_numpy(zero_copy_only=False))
        return pa.DictionaryArray.from_arrays(codes, values)


def _run_ends(values: pa.Array, kind: pa.RunEndEncodedType) -> pa.RunEndEncodedArray:
    """The values as runs."""
    import pyarrow.compute as pc  # takes long to import, and few need it

    try:
        return pc.run_end_encode(values, kind.run_end_type)
    except pa.ArrowNotImplementedError:
        ends = pa.array(np.arange(1, len(values) + 1), kind.run_end_type)
        return pa.RunEndEncodedArray.from_arrays(ends, values)


def _largest(kind: pa.DataType) -> int:
    """The largest number of an integer type."""
    return int(np.iinfo(dtype_of(kind)).max)


def least_bits(kind: pa.DataType) -> int:
    """The least number of bits that a value of this Arrow type takes."""
    if isinstance(kind, pa.BaseExtensionType):
        return least_bits(kind.storage_type)
    if pa.types.is_fixed_size_list(kind):
        return 1 + int(kind.list_size) * least_bits(kind.value_type)
    if pa.types.is_struct(kind) or (pa.types.is_union(kind) and kind.mode == "sparse"):
        return 1 + sum(least_bits(kind.field(index).type) for index in range(kind.num_fields))
    try:
        return 1 + int(kind.bit_width)
    except ValueError:
        return 1 if pa.types.is_null(kind) or pa.types.is_run_end_encoded(kind) else 33  # an offset at least


# ---- single values ----


def _scalars(values: Values, node: SchemaNode, kind: pa.DataType, after: TickRemainders | None = None) -> pa.Array:
    if node.extension or node.basic_type is BasicType.DATETIME or pa.types.is_decimal(kind):
        found = _converted(values, node, kind, after)
        if found is not None:
            return found
    buffers = [values.validity, values.data]
    if values.offsets is not None:
        buffers = [values.validity, values.offsets, values.data]
    return pa.Array.from_buffers(kind, values.length, buffers, values.nulls)


def _converted(values: Values, node: SchemaNode, kind: pa.DataType, after: TickRemainders | None) -> pa.Array | None:
    """Values that Arrow has in another form than they are stored in; None if the two are the same."""
    if node.is_decimal and pa.types.is_decimal(kind):
        return _decimals(values, kind)
    if node.basic_type is BasicType.DATETIME and not _is_integer(kind):
        ticks = values.numbers("u8")
        return _numbers(values, kind, from_ticks(ticks, values.valid(), kind, after))
    if node.extension == TIMESPAN and pa.types.is_duration(kind):
        spans = values.numbers("i8")
        return _numbers(values, kind, from_timespan(spans, values.valid(), kind, after))
    if is_scaled(kind, node):
        scaled = from_scaled(values.numbers("i8"), kind, values.valid())
        return pa.Array.from_buffers(kind, values.length, [values.validity, scaled], values.nulls)
    if node.is_json_bytes and not pa.types.is_binary(kind) and not pa.types.is_large_binary(kind):
        _require_json(values, wide=pa.types.is_large_string(kind))
    return None


def _require_json(values: Values, *, wide: bool) -> None:
    """Raise an error if the values of a binary column are not JSON."""
    if values.data is None or values.offsets is None:
        return
    offsets = np.frombuffer(values.offsets, np.int64 if wide else np.int32, values.length + 1).astype(np.int64)
    at = first_not_json(values, offsets)
    if at is not None:
        found = bytes(values.data[int(offsets[at]) : int(offsets[at + 1])])
        way_out = 'open(..., schema={"column": pa.binary()}) reads the stored bytes'
        raise InvalidArgument(f"dynamic value: expected JSON, found {shown(found)}: {way_out}")


def _times(ticks: ColumnValues, nanoseconds: ColumnValues, projection: Projection, kind: pa.DataType) -> pa.Array:
    """Times, from their ticks and the nanoseconds by which they are after the ticks."""
    assert projection.nanoseconds is not None
    DEFAULT_LIMITS.require_memory(ticks.length, least_bits(kind))
    after = _nanoseconds(nanoseconds, projection.nanoseconds)
    if after is None:
        return to_array(ticks, projection, kind)
    if isinstance(ticks, ConstantValues) and ticks.value.kind != "null":
        repeated = np.repeat(_number(ticks.value, projection.node), ticks.length)
        ticks = StoredValues(Values(ticks.length, data=pa.py_buffer(repeated)))
    if not isinstance(ticks, StoredValues):
        return to_array(ticks, projection, kind)  # nulls, or times of another format, which are whole
    return _scalars(ticks.values, projection.node, kind, after)


def _nanoseconds(column: ColumnValues, node: SchemaNode) -> TickRemainders | None:
    """The nanoseconds after ticks, 0 where nothing is stored; None if they are all 0."""
    match column:
        case ConstantValues(length, value) if value.kind != "null":
            found = np.repeat(_number(value, node), length)
        case StoredValues(values):
            found = values.numbers(node.dtype)
            valid = values.valid()
            if valid is not None:
                found = np.where(valid, found, np.uint8(0))
        case _:
            return None
    most = int(found.max(initial=0))
    if most > _LAST_NANOSECOND:
        raise CorruptedData(f"nanoseconds after a tick: expected 0..{_LAST_NANOSECOND}, found {most}")
    return found if most else None


def _is_integer(kind: pa.DataType) -> bool:
    return bool(pa.types.is_int64(kind) or pa.types.is_uint64(kind))


def _numbers(values: Values, kind: pa.DataType, numbers: npt.NDArray[Any]) -> pa.Array:
    if pa.types.is_date32(kind):
        numbers = numbers.astype(np.int32, copy=False)  # the days from year 1 to 9999 fit easily
    return pa.Array.from_buffers(kind, values.length, [values.validity, pa.py_buffer(numbers)], values.nulls)


def _decimals(values: Values, kind: pa.DataType) -> pa.Array:
    stored = np.frombuffer(values.data or b"", np.uint8, decimal128.SIZE * values.length)
    try:
        unscaled = decimal128.to_unscaled(
            stored, kind.scale, kind.bit_width // 8, precision=kind.precision, valid=values.valid()
        )
    except InvalidArgument as error:
        way_out = 'ask for another type, for example open(..., schema={"column": pa.binary(16)}) for the stored bytes'
        raise InvalidArgument(f"{error.message}: {way_out}") from error
    return pa.Array.from_buffers(kind, values.length, [values.validity, pa.py_buffer(unscaled)], values.nulls)


def _repeated(length: int, value: AnyValue, projection: Projection, kind: pa.DataType) -> pa.Array:
    if value.kind == "null":
        return _nulls(length, kind)
    single = _single(value, projection)
    # Arrow does not detect an overflow of its 32-bit offsets.
    size = 0 if single.data is None or single.offsets is None or projection.wide else single.data.size
    if size * length > np.iinfo(np.int32).max:
        raise OverflowError("more bytes than the offsets of this Arrow type can count")
    variable = 0 if single.data is None or single.offsets is None else 8 * single.data.size
    DEFAULT_LIMITS.require_memory(length, least_bits(kind) + variable)
    one = to_array(StoredValues(single), projection, kind)
    if length == 0:
        return one.slice(0, 0)
    try:
        return pa.repeat(one[0], length)
    except pa.ArrowNotImplementedError:
        return taken(one, pa.repeat(pa.scalar(0, pa.int64()), length))


def _single(value: AnyValue, projection: Projection) -> Values:
    """A constant as a column of one position, in the layout of decoded values."""
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
        number = np.array([found], dtype)
    if isinstance(found, float) and found == found and float(number[0]) != found:
        raise CorruptedData(f"constant_value: expected a value of {node}, found {found}")
    return number


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
    DEFAULT_LIMITS.require_memory(length, least_bits(kind))
    if pa.types.is_union(kind):
        # A union has no validity bitmap: its first variant is null instead.
        variants = [nulls(kind.field(at).type, length) for at in range(kind.num_fields)]
        first = kind.type_codes[0] if kind.num_fields else 0
        return _union(pa.array(np.full(length, first, np.int8)), variants, kind)
    return nulls(kind, length)


# ---- containers ----


def _container(
    values: Values, children: tuple[ColumnValues, ...], projection: Projection, kind: pa.DataType
) -> pa.Array:
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


def _arrays(children: tuple[ColumnValues, ...], projection: Projection, types: list[pa.DataType]) -> list[pa.Array]:
    return [
        to_array(column, wanted, kind)
        for column, wanted, kind in zip(children, projection.children, types, strict=True)
    ]


def _stored_union(values: Values, variants: list[pa.Array], kind: pa.DataType) -> pa.Array:
    """A union array. Stored variants are numbered by their index, Arrow's by the codes of the type."""
    codes = np.array(kind.type_codes, np.int8)
    chosen = values.numbers("u1")
    types = pa.array(codes[chosen] if len(codes) else chosen.astype(np.int8))
    if values.offsets is None:
        return _union(types, variants, kind)
    places = pa.Array.from_buffers(pa.int32(), values.length, [None, values.offsets])
    if kind.mode == "dense":
        ascending, variants = _ascending(chosen, places.to_numpy(), variants)
        buffers = [None, types.buffers()[1], pa.py_buffer(ascending)]
        return pa.Array.from_buffers(kind, values.length, buffers, children=variants)
    # A dense union is stored, a sparse one is wanted: each variant is spread to the positions of the union.
    spread = [
        taken(variant, pa.array(np.where(chosen == index, places.to_numpy(), 0), mask=chosen != index))
        for index, variant in enumerate(variants)
    ]
    return _union(types, spread, kind)


def _ascending(
    chosen: npt.NDArray[np.uint8], places: npt.NDArray[np.int32], variants: list[pa.Array]
) -> tuple[npt.NDArray[np.int32], list[pa.Array]]:
    """The places and variants, reordered so that places ascend in each variant, as Arrow requires."""
    ascending, ordered = places.copy(), []
    for index, variant in enumerate(variants):
        mine = chosen == index
        if (np.diff(places[mine]) < 0).any():
            variant = taken(variant, pa.array(places[mine]))
            ascending[mine] = np.arange(len(variant), dtype=np.int32)
        ordered.append(variant)
    return ascending, ordered


def _union(types: pa.Array, variants: list[pa.Array], kind: pa.DataType) -> pa.Array:
    buffers = [None, types.buffers()[1]]
    if kind.mode == "sparse":
        return pa.Array.from_buffers(kind, len(types), buffers, children=variants)
    places = pa.array(np.arange(len(types), dtype=np.int32))
    return pa.Array.from_buffers(kind, len(types), [*buffers, places.buffers()[1]], children=variants)


def _list_view(column: ColumnValues, projection: Projection, kind: pa.DataType) -> pa.Array:
    import pyarrow.compute as pc  # takes long to import, and few need it

    large = pa.types.is_large_list_view(kind)
    plain = pa.large_list(kind.value_field) if large else pa.list_(kind.value_field)
    lists = to_array(column, projection, plain)
    offsets = lists.offsets
    sizes = pc.subtract(offsets.slice(1), offsets.slice(0, len(lists)))
    buffers = [lists.buffers()[0], offsets.buffers()[1], sizes.buffers()[1]]
    return pa.Array.from_buffers(kind, len(lists), buffers, lists.null_count, children=[lists.values])
