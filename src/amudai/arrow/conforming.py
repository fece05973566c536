"""Arrays of one type as arrays of a wider one: members that are missing become null, numbers wider numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from amudai.arrow.reorder import WIDE, nulls, taken

__all__ = ["conformed"]


def conformed(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """An array of stored values as `kind`, which has at least its members and at least as wide numbers.

    >>> narrow = pa.array([{"n": 1}], pa.struct([("n", pa.int32())]))
    >>> conformed(narrow, pa.struct([("n", pa.int64()), ("m", pa.bool_())])).to_pylist()
    [{'n': 1, 'm': None}]
    """
    kinds = pa.types
    if array.type.equals(kind):
        return array
    if kinds.is_null(array.type):
        return nulls(kind, len(array))
    if kinds.is_struct(kind):
        known = {array.type.field(at).name: at for at in range(array.type.num_fields)}
        fields = [kind.field(at) for at in range(kind.num_fields)]
        members = [
            conformed(array.field(known[field.name]), field.type)
            if field.name in known
            else nulls(field.type, len(array))
            for field in fields
        ]
        mask = array.is_null() if array.null_count else None
        if not fields:
            return array
        return pa.StructArray.from_arrays(members, fields=fields, mask=mask)
    if kinds.is_map(kind):
        entries = pa.StructArray.from_arrays(
            [conformed(array.keys, kind.key_type), conformed(array.items, kind.item_type)],
            fields=[kind.key_field, kind.item_field],
        )
        return _rebuilt(array, kind, 2, entries)
    if kinds.is_fixed_size_list(kind):
        return _rebuilt(array, kind, 1, conformed(array.values, kind.value_type))
    if kinds.is_list(kind) or kinds.is_large_list(kind):
        return _lists(array, kind)
    if kinds.is_dictionary(kind) or kinds.is_dictionary(array.type):
        return _coded(array, kind)
    return array.cast(kind)


def _lists(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Lists of any layout as a list or a large list. Offsets of another width or layout cannot be reused."""
    kinds = pa.types
    if not (kinds.is_list(array.type) or kinds.is_large_list(array.type)):
        array = _with_offsets(array)
    own: pa.DataType = (pa.list_ if kinds.is_list(array.type) else pa.large_list)(kind.value_field)
    found = _rebuilt(array, own, 2, conformed(array.values, kind.value_type))
    return found if own.equals(kind) else found.cast(kind)


def _with_offsets(array: Any) -> pa.Array:
    """Views of lists, and lists of a fixed size, as large lists. Arrow's own cast of views gives other lists."""
    absent = np.asarray(array.is_null())
    if pa.types.is_fixed_size_list(array.type):
        size = array.type.list_size
        starts, sizes = (np.arange(len(array)) + array.offset) * size, np.full(len(array), size)
    else:
        starts, sizes = np.asarray(array.offsets), np.asarray(array.sizes)
    lengths = np.where(absent, 0, sizes).astype(np.int64)
    ends = np.concatenate(([0], np.cumsum(lengths)))
    places = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
    own = pa.large_list(array.type.value_field)
    return pa.LargeListArray.from_arrays(ends, taken(array.values, pa.array(places)), own, mask=pa.array(absent))


def _coded(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Values with or without a dictionary as values with or without one. Arrow cannot cast views to a dictionary."""
    values = taken(array.dictionary, array.indices) if pa.types.is_dictionary(array.type) else array
    if not pa.types.is_dictionary(kind):
        return conformed(values, kind)
    coded = conformed(values, WIDE.get(kind.value_type, kind.value_type)).dictionary_encode()
    codes, dictionary = coded.indices.cast(kind.index_type), coded.dictionary.cast(kind.value_type)
    return pa.DictionaryArray.from_arrays(codes, dictionary, ordered=kind.ordered)


def _rebuilt(array: pa.Array, kind: pa.DataType, buffers: int, child: pa.Array) -> pa.Array:
    """The same lists over another child, which has as many values."""
    own = array.buffers()[:buffers]
    return pa.Array.from_buffers(kind, len(array), own, array.null_count, array.offset, [child])
