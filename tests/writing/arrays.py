"""Arrow arrays of any type and nesting, with garbage wherever Arrow allows it; and their values in plain Python."""

from __future__ import annotations

import bisect
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

# ---- Arrow in plain Python ----


def plain(array: pa.Array) -> list[Any]:
    """Every value: numbers as their bytes, lists as lists, structs as tuples, unions with their type code."""
    kind, count = array.type, len(array)
    if isinstance(kind, pa.BaseExtensionType):
        return plain(array.storage)
    if pa.types.is_null(kind):
        return [None] * count
    if pa.types.is_dictionary(kind):
        values = plain(array.dictionary)
        return [None if index is None else values[index] for index in array.indices.to_pylist()]
    if pa.types.is_run_end_encoded(kind):
        ends, values = array.run_ends.to_pylist(), plain(array.values)
        return [values[bisect.bisect_right(ends, array.offset + at)] for at in range(count)]
    if pa.types.is_union(kind):
        return _plain_union(array)
    valid = [value.is_valid for value in array]
    return [value if there else None for value, there in zip(_present(array), valid, strict=True)]


def _present(array: pa.Array) -> list[Any]:
    kind, count, first = array.type, len(array), array.offset
    buffers = array.buffers()
    if pa.types.is_boolean(kind):
        return array.to_pylist()
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return array.cast(pa.binary_view()).to_pylist()
    if pa.types.is_struct(kind):
        members = [plain(array.field(at)) for at in range(kind.num_fields)]
        return [tuple(member[at] for member in members) for at in range(count)]
    if pa.types.is_fixed_size_list(kind):
        items, size = plain(array.values), kind.list_size
        return [items[(first + at) * size : (first + at + 1) * size] for at in range(count)]
    if pa.types.is_map(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
        items, offsets = plain(array.values), array.offsets.to_pylist()
        return [items[offsets[at] : offsets[at + 1]] for at in range(count)]
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        items, starts, sizes = plain(array.values), array.offsets.to_pylist(), array.sizes.to_pylist()
        return [items[starts[at] : starts[at] + sizes[at]] for at in range(count)]
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return _texts(buffers, "i4", first, count)
    if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        return _texts(buffers, "i8", first, count)
    width = kind.bit_width // 8
    data = bytes(buffers[1] or b"")
    return [data[(first + at) * width : (first + at + 1) * width] for at in range(count)]


def _texts(buffers: list[Any], dtype: str, first: int, count: int) -> list[bytes]:
    if not count:
        return []
    offsets, data = np.frombuffer(buffers[1], dtype)[first:].tolist(), bytes(buffers[2] or b"")
    return [data[offsets[at] : offsets[at + 1]] for at in range(count)]


def _plain_union(array: pa.UnionArray) -> list[Any]:
    kind, count, first = array.type, len(array), array.offset
    codes = np.frombuffer(array.buffers()[1], np.int8)[first : first + count].tolist() if count else []
    children = {code: plain(array.field(at)) for at, code in enumerate(kind.type_codes)}
    if kind.mode == "sparse":
        return [(code, children[code][at]) for at, code in enumerate(codes)]
    places = np.frombuffer(array.buffers()[2], np.int32)[first : first + count].tolist() if count else []
    return [(code, children[code][place]) for code, place in zip(codes, places, strict=True)]


# ---- the way back, and the promised form ----
# ---- arrays of any type, with garbage wherever Arrow allows it ----

WIDTHS = {
    pa.int8(): 1,
    pa.int16(): 2,
    pa.uint8(): 1,
    pa.uint16(): 2,
    pa.int32(): 4,
    pa.uint32(): 4,
    pa.int64(): 8,
    pa.uint64(): 8,
    pa.float16(): 2,
    pa.float32(): 4,
    pa.float64(): 8,
    pa.time32("s"): 4,
    pa.time32("ms"): 4,
    pa.time64("us"): 8,
    pa.time64("ns"): 8,
    pa.month_day_nano_interval(): 16,
    pa.binary(3): 3,
    pa.decimal128(38, 4): 16,
    pa.decimal256(60, 4): 32,
}
TICKS = {"s": 10**7, "ms": 10**4, "us": 10}
TIMES = [
    *(pa.timestamp(unit, zone) for unit, zone in [("s", None), ("ms", "UTC"), ("us", "Europe/Vienna"), ("ns", None)]),
    pa.date32(),
    pa.date64(),
    *(pa.duration(unit) for unit in ("s", "ms", "us", "ns")),
]
DECIMALS = [pa.decimal32(7, 2), pa.decimal64(18, -3), pa.decimal128(34, 10), pa.decimal128(5, 0), pa.decimal256(30, 5)]
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]
SIMPLE = [*WIDTHS, *TIMES, *DECIMALS, *TEXTS, pa.bool_()]
OTHERS = [
    pa.null(),
    pa.uuid(),
    pa.json_(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.uint16(), pa.timestamp("ms")),
    pa.run_end_encoded(pa.int16(), pa.int32()),
    pa.run_end_encoded(pa.int32(), pa.string()),
]


def _fields(kinds: list[pa.DataType]) -> list[pa.Field]:
    return [pa.field(f"f{at}", kind) for at, kind in enumerate(kinds)]


kinds = st.recursive(
    st.sampled_from([*SIMPLE, *OTHERS]),
    lambda inner: st.one_of(
        inner.map(pa.list_),
        inner.map(pa.large_list),
        inner.map(pa.list_view),
        inner.map(pa.large_list_view),
        st.builds(pa.list_, inner, st.integers(1, 3)),
        st.lists(inner, max_size=3).map(_fields).map(pa.struct),
        st.builds(pa.map_, st.sampled_from([pa.string(), pa.int32()]), inner),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda types: pa.sparse_union(_fields(types), [5, 0, 9][: len(types)])
        ),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda types: pa.dense_union(_fields(types), [3, 127, 0][: len(types)])
        ),
    ),
    max_leaves=4,
)


class Maker:
    """Arrays of a type, filled by a generator of random numbers. `whole_ticks` makes no nanoseconds finer than 100."""

    def __init__(self, seed: int, *, whole_ticks: bool = False) -> None:
        self.random = np.random.default_rng(seed)
        self.whole_ticks = whole_ticks

    def array(self, kind: pa.DataType, count: int, nulls: bool = True) -> pa.Array:
        """A slice out of a longer array."""
        before, behind = (int(self.random.integers(0, 11)) for _ in range(2))
        whole = self.whole(kind, before + count + behind, nulls and bool(self.random.integers(0, 4)))
        whole.validate()
        return whole.slice(before, count)

    def validity(self, count: int, nulls: bool) -> pa.Buffer | None:
        if not nulls:
            return None
        return pa.py_buffer(np.packbits(self.random.integers(0, 3, count) > 0, bitorder="little"))

    def whole(self, kind: pa.DataType, count: int, nulls: bool) -> pa.Array:
        if isinstance(kind, pa.BaseExtensionType):
            return pa.ExtensionArray.from_storage(kind, self.whole(kind.storage_type, count, nulls))
        if pa.types.is_null(kind):
            return pa.nulls(count)
        if pa.types.is_dictionary(kind):
            size = int(self.random.integers(1, 20))
            codes = pa.array(
                self.random.integers(0, size, count),
                kind.index_type,
                mask=self.random.integers(0, 3, count) == 0 if nulls else None,
            )
            return pa.DictionaryArray.from_arrays(codes, self.array(kind.value_type, size, nulls))
        if pa.types.is_run_end_encoded(kind):
            ends = np.unique(self.random.integers(1, max(count, 1) + 1, 5)) if count else np.array([], np.int64)
            ends = np.append(ends[ends < count], [count] if count else [])
            values = self.array(kind.value_type, len(ends), nulls)
            return pa.RunEndEncodedArray.from_arrays(pa.array(ends, kind.run_end_type), values, kind)
        validity = self.validity(count, nulls)
        if kind in WIDTHS or pa.types.is_fixed_size_binary(kind):
            data = self.random.bytes(count * kind.bit_width // 8)
            return pa.Array.from_buffers(kind, count, [validity, pa.py_buffer(data)])
        if pa.types.is_boolean(kind):
            return pa.Array.from_buffers(kind, count, [validity, pa.py_buffer(self.random.bytes(count // 8 + 1))])
        return self.other(kind, count, validity)

    def other(self, kind: pa.DataType, count: int, validity: pa.Buffer | None) -> pa.Array:
        mask = (
            None
            if validity is None
            else np.unpackbits(np.frombuffer(validity, np.uint8), count=count, bitorder="little")
        )
        if kind in TIMES or pa.types.is_timestamp(kind):
            return self.times(kind, count, validity, mask)
        if kind in DECIMALS:
            width = kind.bit_width // 8
            numbers = [self.integer(10**kind.precision) for _ in range(count)]
            rows = [number.to_bytes(width, "little", signed=True) for number in numbers]
            rows = [row if mask is None or mask[at] else self.random.bytes(width) for at, row in enumerate(rows)]
            return pa.Array.from_buffers(kind, count, [validity, pa.py_buffer(b"".join(rows))])
        if kind in TEXTS:
            return self.texts(kind, count, validity, mask)
        return self.nested(kind, count, validity)

    def integer(self, below: int) -> int:
        digits = int(self.random.integers(1, len(str(below))))
        return (int.from_bytes(self.random.bytes(20), "little") % 10**digits) * (-1) ** int(self.random.integers(0, 2))

    def times(self, kind: pa.DataType, count: int, validity: Any, mask: Any) -> pa.Array:
        low, high = -621355968000000000, 3155378975999999999 - 621355968000000000
        if pa.types.is_duration(kind):
            low, high = -(2**63), 2**63 - 1
        dtype = np.int32 if pa.types.is_date32(kind) else np.int64
        unit = (
            864 * 10**9 if pa.types.is_date32(kind) else 10**4 if pa.types.is_date64(kind) else TICKS.get(kind.unit, 0)
        )
        if unit:
            numbers = self.random.integers(-(-low // unit), high // unit, count, dtype=np.int64, endpoint=True)
        elif self.whole_ticks or self.random.integers(0, 2):
            numbers = self.random.integers(-(2**63) // 100 + 1, 2**63 // 100, count) * 100
        else:
            numbers = self.random.integers(-(2**63), 2**63 - 1, count, endpoint=True)
        numbers = numbers.astype(dtype)
        if mask is not None:
            garbage = np.frombuffer(self.random.bytes(numbers.nbytes), dtype)
            numbers = np.where(mask, numbers, garbage)
        return pa.Array.from_buffers(kind, count, [validity, pa.py_buffer(numbers)])

    def texts(self, kind: pa.DataType, count: int, validity: Any, mask: Any) -> pa.Array:
        words = ["", "a", "über", "日本", "x" * 13, "long enough for no inline view", "\0"]
        rows = [words[self.random.integers(0, len(words))].encode() for _ in range(count)]
        if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
            return pa.array(
                [row if mask is None or mask[at] else None for at, row in enumerate(rows)], pa.binary_view()
            ).cast(kind)
        rows = [row if mask is None or mask[at] else self.random.bytes(2) for at, row in enumerate(rows)]
        large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
        offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64 if large else np.int32)
        return pa.Array.from_buffers(kind, count, [validity, pa.py_buffer(offsets), pa.py_buffer(b"".join(rows))])

    def nested(self, kind: pa.DataType, count: int, validity: Any) -> pa.Array:
        if pa.types.is_struct(kind):
            members = [self.array(field.type, count) for field in kind]
            return pa.Array.from_buffers(kind, count, [validity], children=members)
        if pa.types.is_fixed_size_list(kind):
            items = self.array(kind.value_type, count * kind.list_size)
            return pa.Array.from_buffers(kind, count, [validity], children=[items])
        if pa.types.is_union(kind):
            return self.union(kind, count)
        lengths = self.random.integers(0, 4, count)
        first = int(self.random.integers(0, 3))
        offsets = first + np.cumsum([0, *lengths])
        size = int(offsets[-1]) + 2
        large = pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind)
        dtype = np.int64 if large else np.int32
        if pa.types.is_map(kind):
            keys, values = self.array(kind.key_type, size, nulls=False), self.array(kind.item_type, size)
            entries = pa.StructArray.from_arrays([keys, values], fields=[kind.key_field, kind.item_field])
            buffers = [validity, pa.py_buffer(offsets.astype(dtype))]
            return pa.Array.from_buffers(kind, count, buffers, children=[entries])
        items = self.array(kind.value_type, size)
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            buffers = [validity, pa.py_buffer(offsets.astype(dtype))]
            return pa.Array.from_buffers(kind, count, buffers, children=[items])
        starts = offsets[:-1]
        if self.random.integers(0, 2):
            starts = np.array([self.random.integers(0, size - length + 1) for length in lengths], dtype)
        buffers = [validity, pa.py_buffer(starts.astype(dtype)), pa.py_buffer(lengths.astype(dtype))]
        return pa.Array.from_buffers(kind, count, buffers, children=[items])

    def union(self, kind: pa.DataType, count: int) -> pa.Array:
        fields = [kind.field(at) for at in range(kind.num_fields)]
        chosen = self.random.integers(0, len(fields), count)
        codes = pa.py_buffer(np.array(kind.type_codes, np.int8)[chosen])
        if kind.mode == "sparse":
            children = [self.array(field.type, count) for field in fields]
            return pa.Array.from_buffers(kind, count, [None, codes], children=children)
        places = np.zeros(count, np.int32)
        for at in range(len(fields)):
            places[chosen == at] = np.arange(np.count_nonzero(chosen == at))
        children = [self.array(field.type, int(np.count_nonzero(chosen == at)) + 1) for at, field in enumerate(fields)]
        return pa.Array.from_buffers(kind, count, [None, codes, pa.py_buffer(places)], children=children)
