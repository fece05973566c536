"""Arrow arrays as the kernels want them in order to write their values as text.

A kernel knows few kinds of values: 64-bit integers, doubles, decimals of 16 bytes, texts, bytes, times, lists, structs,
maps and unions. Arrays of other types are converted to one of these, without changing a value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from amudai._kernels import TextColumn
from amudai.errors import UnsupportedFeature

__all__ = ["single_text", "text_column"]

# The digits behind the point of a second.
_DIGITS: Final = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def text_column(array: pa.Array) -> TextColumn:
    """An array whose values can be written as text."""
    for fits, prepare in _KINDS:
        if fits(array.type):
            return prepare(array)
    raise UnsupportedFeature(f"values: expected a type that can be written as text, found {array.type}")


def single_text(text: str) -> TextColumn:
    """A column of one text. `pa.array` would do, but imports pandas."""
    data = text.encode()
    return TextColumn.texts(np.array([0, len(data)]), np.frombuffer(data, np.uint8), None, 1, None, 0)


def _validity(array: pa.Array) -> tuple[npt.NDArray[np.uint8] | None, int]:
    """The bitmap of values that are not null, and the place of the first value in it."""
    bitmap = array.buffers()[0] if array.null_count else None
    return (None, 0) if bitmap is None else (np.frombuffer(bitmap, np.uint8), array.offset)


def _values(array: pa.Array, dtype: npt.DTypeLike, at: int = 1) -> npt.NDArray[Any]:
    """The values of an array in buffer `at`."""
    return _view(array.buffers()[at], dtype, array.offset, len(array))


def _view(buffer: pa.Buffer | None, dtype: npt.DTypeLike, first: int, count: int) -> npt.NDArray[Any]:
    kind = np.dtype(dtype)
    if not count or buffer is None:
        return np.zeros(count, kind)
    found: npt.NDArray[Any] = np.frombuffer(buffer, kind, count, first * kind.itemsize)
    return found if found.flags.aligned else found.copy()  # rare: kernels read aligned numbers


# ---- values of one part ----


def _nulls(array: pa.Array) -> TextColumn:
    return TextColumn.nulls(len(array))


def _booleans(array: pa.Array) -> TextColumn:
    bits = np.frombuffer(array.buffers()[1] or b"", np.uint8) if len(array) else np.zeros(0, np.uint8)
    return TextColumn.booleans(bits, array.offset if len(array) else 0, len(array), *_validity(array))


def _integers(array: pa.Array) -> TextColumn:
    kind = "uint64" if array.type == pa.uint64() else "int64"
    array = array.cast(kind)
    return TextColumn.integers(_values(array, np.dtype(kind)), *_validity(array))


def _doubles(array: pa.Array) -> TextColumn:
    array = array.cast(pa.float64())
    return TextColumn.doubles(_values(array, np.float64), *_validity(array))


def _decimals(array: pa.Array) -> TextColumn:
    kind = array.type
    if pa.types.is_decimal256(kind):
        return _texts(array.cast(pa.string()))
    if not pa.types.is_decimal128(kind):
        array = array.cast(pa.decimal128(kind.precision, kind.scale))
    return TextColumn.decimals(_values(array, "V16").view(np.uint8), kind.scale, *_validity(array))


def _texts(array: pa.Array) -> TextColumn:
    return TextColumn.texts(*_slots(array, pa.large_string()))


def _binary(array: pa.Array) -> TextColumn:
    return TextColumn.binary(*_slots(array, pa.large_binary()))


def _slots(array: pa.Array, without_views: pa.DataType) -> tuple[Any, ...]:
    """What the kernels want to know of texts and bytes: offsets, bytes, fixed size, count and validity."""
    if pa.types.is_fixed_size_binary(array.type):
        size, count = array.type.byte_width, len(array)
        data = _view(array.buffers()[1], np.uint8, array.offset * size, count * size)
        return (None, data, size, count, *_validity(array))
    if pa.types.is_string_view(array.type) or pa.types.is_binary_view(array.type):
        array = array.cast(without_views)
    offsets = _offsets(array, pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type))
    data = np.frombuffer(array.buffers()[2] or b"", np.uint8)
    return (offsets, data, None, len(array), *_validity(array))


def _offsets(array: pa.Array, is_large: bool) -> npt.NDArray[Any]:
    # An array without values may have no offsets.
    buffer = array.buffers()[1] if len(array) else None
    return _view(buffer, np.int64 if is_large else np.int32, array.offset, len(array) + 1)


# ---- times ----


def _dates(array: pa.Array) -> TextColumn:
    array = array.cast(pa.date32())
    return TextColumn.dates(_values(array, np.int32), *_validity(array))


def _times(array: pa.Array) -> TextColumn:
    unit = array.type.unit
    counts = array.view(pa.int32()).cast(pa.int64()) if pa.types.is_time32(array.type) else array
    return TextColumn.times(_values(counts, np.int64), _DIGITS[unit], *_validity(counts))


def _durations(array: pa.Array) -> TextColumn:
    return TextColumn.durations(_values(array, np.int64), _DIGITS[array.type.unit], *_validity(array))


def _instants(array: pa.Array) -> TextColumn:
    zone = array.type.tz
    minutes = None if zone in (None, "UTC") else _minutes_ahead(array)
    counts = _values(array, np.int64)
    return TextColumn.instants(counts, _DIGITS[array.type.unit], zone is not None, minutes, *_validity(array))


def _minutes_ahead(array: pa.Array) -> npt.NDArray[np.int32] | None:
    """How far the clock of the zone is ahead of UTC at each time; None, which means UTC, if nobody knows the zone.

    ISO 8601 has whole minutes only. Long ago many zones were off by seconds: such times are written in UTC.
    """
    try:
        local = pc.local_timestamp(array)
    except pa.ArrowInvalid:
        return None
    ahead = (_values(local, np.int64) - _values(array, np.int64)) // 10 ** _DIGITS[array.type.unit]
    return np.where(ahead % 60 == 0, ahead // 60, 0).astype(np.int32)


# ---- values of several parts ----


def _structs(array: pa.Array) -> TextColumn:
    members = [text_column(array.field(index)) for index in range(array.type.num_fields)]
    return TextColumn.structs([field.name for field in array.type], members, len(array), *_validity(array))


def _lists(array: pa.Array) -> TextColumn:
    starts, ends, used = _stretches(array)
    return TextColumn.lists(starts, ends, text_column(array.values[used]), *_validity(array))


def _maps(array: pa.Array) -> TextColumn:
    starts, ends, used = _stretches(array)
    keys, items = text_column(array.keys[used]), text_column(array.items[used])
    return TextColumn.maps(starts, ends, _is_text(array.type.key_type), keys, items, *_validity(array))


def _stretches(array: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], slice]:
    """Where the items of each list begin and end, counted from the first that any list has; and the items they have."""
    kind = array.type
    if pa.types.is_fixed_size_list(kind):
        starts = (np.arange(len(array), dtype=np.int64) + array.offset) * kind.list_size
        ends = starts + kind.list_size
    elif pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        starts = array.offsets.to_numpy().astype(np.int64)
        ends = starts + array.sizes.to_numpy()
    else:
        edges = _offsets(array, pa.types.is_large_list(kind)).astype(np.int64)
        starts, ends = edges[:-1], edges[1:]
    has_items = starts < ends
    if array.null_count:
        has_items &= array.is_valid().to_numpy(zero_copy_only=False)  # behind a null may lie anything
    if not has_items.any():
        nothing = np.zeros(len(array), np.int64)
        return nothing, nothing, slice(0, 0)
    first, last = int(starts[has_items].min()), int(ends[has_items].max())
    return np.where(has_items, starts - first, 0), np.where(has_items, ends - first, 0), slice(first, last)


def _unions(array: pa.Array) -> TextColumn:
    kind = array.type
    columns = [text_column(array.field(index)) for index in range(kind.num_fields)]
    ordinals = np.zeros(128, np.uint8)
    ordinals[kind.type_codes] = np.arange(kind.num_fields)
    is_dense = kind.mode == "dense"
    slots = _values(array, np.int32, 2).astype(np.int64) if is_dense else np.arange(len(array), dtype=np.int64)
    return TextColumn.unions(ordinals[_values(array, np.int8)], slots, columns)


# ---- arrays that are converted ----


def _intervals(array: pa.Array) -> TextColumn:
    """Months, days and nanoseconds as a list of three numbers."""
    parts = [None if value is None else list(value) for value in array.to_pylist()]
    return text_column(pa.array(parts, pa.list_(pa.int64())))


def _decoded(array: pa.Array) -> TextColumn:
    is_dictionary = pa.types.is_dictionary(array.type)
    return text_column(array.dictionary.take(array.indices) if is_dictionary else pc.run_end_decode(array))


def _extension(array: pa.Array) -> TextColumn:
    if isinstance(array.type, pa.UuidType):
        storage = array.storage
        return TextColumn.uuids(_values(storage, "V16").view(np.uint8), *_validity(storage))
    return text_column(array.storage)


def _is_text(kind: pa.DataType) -> bool:
    return any(fits(kind) for fits in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _is_binary(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(fits(kind) for fits in kinds)


def _is_list(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(fits(kind) for fits in (*kinds, pa.types.is_list_view, pa.types.is_large_list_view))


# The first line that fits decides.
_KINDS: Final[tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], TextColumn]], ...]] = (
    (lambda kind: isinstance(kind, pa.BaseExtensionType), _extension),
    (pa.types.is_null, _nulls),
    (pa.types.is_boolean, _booleans),
    (pa.types.is_integer, _integers),
    (pa.types.is_floating, _doubles),
    (pa.types.is_decimal, _decimals),
    (_is_text, _texts),
    (_is_binary, _binary),
    (pa.types.is_date, _dates),
    (pa.types.is_time, _times),
    (pa.types.is_timestamp, _instants),
    (pa.types.is_duration, _durations),
    (pa.types.is_interval, _intervals),
    (pa.types.is_struct, _structs),
    (pa.types.is_map, _maps),
    (_is_list, _lists),
    (pa.types.is_union, _unions),
    (lambda kind: pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind), _decoded),
)
