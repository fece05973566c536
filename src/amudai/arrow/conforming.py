"""Arrays of one type as arrays of a wider one: members that are missing become null, numbers wider numbers."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["conformed"]


def conformed(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """An array of stored values as `kind`, which has at least its members and at least as wide numbers.

    >>> narrow = pa.array([{"n": 1}], pa.struct([("n", pa.int32())]))
    >>> conformed(narrow, pa.struct([("n", pa.int64()), ("m", pa.bool_())])).to_pylist()
    [{'n': 1, 'm': None}]
    """
    if array.type.equals(kind):
        return array
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), kind)
    if pa.types.is_struct(kind):
        known = {array.type.field(at).name: at for at in range(array.type.num_fields)}
        fields = [kind.field(at) for at in range(kind.num_fields)]
        members = [
            conformed(array.field(known[field.name]), field.type)
            if field.name in known
            else pa.nulls(len(array), field.type)
            for field in fields
        ]
        mask = array.is_null() if array.null_count else None
        if not fields:
            return array
        return pa.StructArray.from_arrays(members, fields=fields, mask=mask)
    if pa.types.is_map(kind):
        entries = pa.StructArray.from_arrays(
            [conformed(array.keys, kind.key_type), conformed(array.items, kind.item_type)],
            fields=[kind.key_field, kind.item_field],
        )
        return _rebuilt(array, kind, 2, entries)
    if pa.types.is_fixed_size_list(kind):
        return _rebuilt(array, kind, 1, conformed(array.values, kind.value_type))
    if pa.types.is_large_list(kind):
        return _rebuilt(array, kind, 2, conformed(array.values, kind.value_type))
    return array.cast(kind)


def _rebuilt(array: pa.Array, kind: pa.DataType, buffers: int, child: pa.Array) -> pa.Array:
    """The same lists over another child, which has as many values."""
    own = array.buffers()[:buffers]
    return pa.Array.from_buffers(kind, len(array), own, array.null_count, array.offset, [child])
