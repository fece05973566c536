"""Rows at other positions, and tables without rows, for types for which Arrow has neither."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arrow.columnless import table_without_columns

__all__ = ["WIDE", "nulls", "reordered", "taken", "taken_of_chunks", "union_places", "without_rows"]

_Ints: TypeAlias = npt.NDArray[np.int64]

_LISTS: Final[dict[int, Any]] = {
    pa.lib.Type_LIST: pa.ListArray,
    pa.lib.Type_LARGE_LIST: pa.LargeListArray,
    pa.lib.Type_LIST_VIEW: pa.ListViewArray,
    pa.lib.Type_LARGE_LIST_VIEW: pa.LargeListViewArray,
}
# Arrow takes from these, and not from views.
WIDE: Final = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}


def without_rows(schema: pa.Schema) -> pa.Table:
    """A table of these columns without a row. `schema.empty_table()` fails for unions and nested run-end encoding."""
    return pa.Table.from_batches([], schema)


def reordered(table: pa.Table, order: pa.Array) -> pa.Table:
    """The rows at the positions in `order`, which may repeat."""
    if not table.num_columns:
        return table_without_columns(len(order), table.schema)
    try:
        return table.take(order)
    except pa.ArrowNotImplementedError:
        columns = [taken_of_chunks(column, order) for column in table.columns]
    return pa.Table.from_arrays(columns, schema=table.schema)


def taken_of_chunks(column: pa.ChunkedArray, places: pa.Array) -> pa.ChunkedArray:
    """As `taken`, of a column in several pieces."""
    if not column.num_chunks:
        return pa.chunked_array([nulls(column.type, len(places))])
    try:
        return column.take(places)
    except pa.ArrowNotImplementedError:
        pass
    try:
        values = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
    except pa.ArrowNotImplementedError:
        # Arrow cannot join dictionaries of lists and structs: rows are cut out one by one.
        rows = [[nulls(column.type, 1)] if at is None else column.slice(at, 1).chunks for at in places.to_pylist()]
        return pa.chunked_array([row for each in rows for row in each], column.type)
    return pa.chunked_array([taken(values, places)], column.type)


def taken(values: pa.Array, places: pa.Array) -> pa.Array:
    """The values at `places`, which may repeat; null where a place is null, and there the first variant of a union.

    >>> taken(pa.array(["a", "b"], pa.string_view()), pa.array([1, None, 0])).to_pylist()
    ['b', None, 'a']
    """
    kind = values.type
    kinds = pa.types
    if not kinds.is_union(kind) or not places.null_count:
        try:
            return values.take(places)
        except pa.ArrowNotImplementedError:
            pass
    if kinds.is_union(kind):
        return _union(values, places)
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, taken(values.storage, places))
    if (wide := WIDE.get(kind)) is not None:
        return values.cast(wide).take(places).cast(kind)
    if kinds.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(values.indices.take(places), values.dictionary, ordered=kind.ordered)
    if kinds.is_run_end_encoded(kind):
        return _runs(values, places)
    mask = values.is_null().take(places).fill_null(True)
    if kinds.is_struct(kind):
        members = [taken(values.field(at), places) for at in range(kind.num_fields)]
        return pa.StructArray.from_arrays(members, fields=list(kind), mask=mask)
    return _lists(values, places, mask)


def nulls(kind: pa.DataType, count: int) -> pa.Array:
    """Nulls of a type. Arrow's own function gives run-end encoded values a null bitmap, which they may not have.

    >>> nulls(pa.list_(pa.run_end_encoded(pa.int32(), pa.string())), 2).to_pylist()
    [None, None]
    """
    kinds = pa.types
    absent = pa.array(np.ones(count, np.bool_))
    if kinds.is_struct(kind) and kind.num_fields:
        return pa.StructArray.from_arrays([nulls(each.type, count) for each in kind], fields=list(kind), mask=absent)
    if kinds.is_fixed_size_list(kind):
        items = nulls(kind.value_type, count * kind.list_size)
        return pa.FixedSizeListArray.from_arrays(items, type=kind, mask=absent)
    if kinds.is_run_end_encoded(kind):
        ends = pa.array([count] if count else [], kind.run_end_type)
        return pa.RunEndEncodedArray.from_arrays(ends, nulls(kind.value_type, len(ends)), kind)
    if kinds.is_map(kind):
        keys, items = nulls(kind.key_type, 0), nulls(kind.item_type, 0)
        return pa.MapArray.from_arrays(np.zeros(count + 1, np.int32), keys, items, type=kind, mask=absent)
    if (array := _LISTS.get(kind.id)) is not None:
        zeros = np.zeros(count + (array in (pa.ListArray, pa.LargeListArray)), np.int64)
        width = pa.int64() if array in (pa.LargeListArray, pa.LargeListViewArray) else pa.int32()
        offsets, items = pa.array(zeros).cast(width), nulls(kind.value_type, 0)
        lengths = (offsets,) if array in (pa.ListViewArray, pa.LargeListViewArray) else ()
        return array.from_arrays(offsets, *lengths, items, type=kind, mask=absent)
    return pa.nulls(count, kind)


def _numbers(places: pa.Array) -> tuple[_Ints, npt.NDArray[np.bool_]]:
    """The places, 0 for null, and which of them are not null."""
    return places.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64), np.asarray(places.is_valid())


def _runs(values: pa.RunEndEncodedArray, places: pa.Array) -> pa.Array:
    """Values that are encoded as runs: neighbours that come from one run are a run again."""
    wanted, known = _numbers(places)
    ends = values.run_ends.to_numpy().astype(np.int64)
    runs = np.searchsorted(ends, wanted + values.offset, side="right")
    runs[~known] = -1
    last = np.flatnonzero(np.append(runs[1:] != runs[:-1], np.ones(min(1, len(runs)), np.bool_)))
    chosen = taken(values.values, pa.array(runs[last], mask=runs[last] < 0))
    return pa.RunEndEncodedArray.from_arrays(pa.array(last + 1, values.type.run_end_type), chosen, values.type)


def _lists(values: Any, places: pa.Array, mask: pa.Array) -> pa.Array:
    """Lists and maps, whose items are taken as well."""
    kind = values.type
    kinds = pa.types
    wanted, _ = _numbers(places)
    absent = mask.to_numpy(zero_copy_only=False)
    if kinds.is_fixed_size_list(kind):
        size = kind.list_size
        within = _spans((wanted + values.offset) * size, np.full(len(wanted), size))
        items = taken(values.values, pa.array(within, mask=np.repeat(absent, size)))
        return pa.FixedSizeListArray.from_arrays(items, type=kind, mask=mask)
    if kinds.is_list_view(kind) or kinds.is_large_list_view(kind):
        starts, lengths = (numbers.take(places).fill_null(0) for numbers in (values.offsets, values.sizes))
        return type(values).from_arrays(starts, lengths, values.values, type=kind, mask=mask)
    borders = np.append(values.offsets.to_numpy(), [0, 0]).astype(np.int64)  # zeros for lists that do not exist
    lengths = np.where(absent, 0, borders[wanted + 1] - borders[wanted])
    inner = pa.array(_spans(borders[wanted], lengths))
    width = np.int64 if kinds.is_large_list(kind) else np.int32
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(width))
    if kinds.is_map(kind):
        keys, items = taken(values.keys, inner), taken(values.items, inner)
        return pa.MapArray.from_arrays(offsets, keys, items, type=kind, mask=mask)
    return type(values).from_arrays(offsets, taken(values.values, inner), type=kind, mask=mask)


def _spans(starts: _Ints, lengths: _Ints) -> _Ints:
    """The numbers from each start on, as many as its length."""
    ends = np.cumsum(lengths)
    found: _Ints = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)
    return found


def union_places(values: pa.UnionArray) -> tuple[npt.NDArray[np.int8], _Ints]:
    """The code of each position of a union, and the place of its value in the array of this variant.

    `type_codes` and `offsets` of Arrow are those of the whole array if this is a slice of it.
    """
    count, first = len(values), values.offset
    buffers: list[Any] = values.buffers()
    codes = np.frombuffer(buffers[1], np.int8, count, first) if count else np.zeros(0, np.int8)
    if values.type.mode != "dense" or not count:
        return codes, np.arange(count)
    return codes, np.frombuffer(buffers[2], np.int32, count, 4 * first).astype(np.int64)


def _union(values: pa.UnionArray, places: pa.Array) -> pa.Array:
    """Unions. They have no nulls of their own: a null place becomes a null of the first variant."""
    kind = values.type
    wanted, known = _numbers(places)
    first = kind.type_codes[0]
    stored, places_within = union_places(values)
    codes = np.where(known, np.append(stored, first)[wanted], first).astype(np.int8)
    within = np.append(places_within, 0)[wanted]
    variants, offsets = [], np.zeros(len(wanted), np.int32)
    for at, code in enumerate(kind.type_codes):
        mine = np.flatnonzero(codes == code)
        inner = within[mine] if kind.mode == "dense" else within
        absent = ~known[mine] if kind.mode == "dense" else ~known
        variants.append(taken(values.field(at), pa.array(inner, mask=absent)))
        offsets[mine] = np.arange(len(mine), dtype=np.int32)
    names = [kind.field(at).name for at in range(kind.num_fields)]
    types = pa.array(codes)
    if kind.mode == "dense":
        return pa.UnionArray.from_dense(types, pa.array(offsets), variants, names, list(kind.type_codes))
    return pa.UnionArray.from_sparse(types, variants, names, list(kind.type_codes))
