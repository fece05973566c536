"""Arrow arrays on their way in: what is stored of each type, and that every value survives bit by bit.

`plain` reads Arrow buffers in plain Python. What `to_storage` made of an array is checked for its form, put together
again by `to_array`, and must read the same.
"""

from __future__ import annotations

import datetime
import itertools
import struct
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amudai.arrow import project, schema_nodes, to_array, to_storage
from amudai.column import AbsentValues, ColumnValues, StoredValues
from amudai.encoding import Values
from amudai.errors import InvalidArgument, InvalidSchema
from amudai.shard.build.stored import Bits, StoredArray
from amudai.types import TIMESPAN, BasicType, SchemaNode
from amudai.types.decimal128 import from_unscaled
from tests.effort import examples
from tests.oracle.decimal128 import from_decimal
from tests.writing.arrays import OTHERS, SIMPLE, TIMES, Maker, kinds, plain

EPOCH = datetime.datetime(1, 1, 1)


def node_of(kind: pa.DataType, **options: Any) -> SchemaNode:
    (node,) = schema_nodes([pa.field("c", kind)], **options)
    return node


def stored_of(array: pa.Array, **options: Any) -> StoredArray:
    return to_storage(array, node_of(array.type, **options), "c")


# ---- the way back, and the promised form ----


def column_of(stored: StoredArray) -> ColumnValues:
    if stored.node.basic_type is BasicType.UNIT:
        return AbsentValues(stored.length)

    def buffer(array: Any) -> pa.Buffer | None:
        return None if array is None else pa.py_buffer(np.ascontiguousarray(array))

    validity = None if stored.validity is None else buffer(stored.validity.packed())
    wide = np.int32 if stored.node.basic_type is BasicType.UNION else None
    offsets = stored.offsets if wide is None or stored.offsets is None else stored.offsets.astype(wide)
    values = Values(stored.length, stored.null_count, validity, buffer(stored.data), buffer(offsets))
    return StoredValues(values, tuple(column_of(child) for child in stored.children))


def expanded(stored: StoredArray) -> StoredArray:
    """The array with each dictionary code replaced by its value."""
    children = tuple(expanded(child) for child in stored.children)
    if stored.dictionary is None:
        return replace(stored, children=children)
    entries, valid = stored.dictionary.values, stored.valid()
    places = [
        None if valid is not None and not valid[at] else int(stored.dictionary.codes[at]) for at in range(stored.length)
    ]
    if entries.offsets is None:
        size = stored.node.fixed_size
        starts = [size * at for at in range(entries.length + 1)]
    else:
        starts = entries.offsets.tolist()
    content = bytes(b"" if entries.data is None else entries.data)
    values = [bytes(stored.node.fixed_size) if at is None else content[starts[at] : starts[at + 1]] for at in places]
    offsets = None if entries.offsets is None else np.cumsum([0, *map(len, values)]).astype(entries.offsets.dtype)
    data = np.frombuffer(b"".join(values), np.uint8)
    return replace(stored, data=data, offsets=offsets, dictionary=None)


def restored(stored: StoredArray, kind: pa.DataType) -> pa.Array:
    wide = as_wide(expanded(stored), kind)
    return to_array(column_of(wide), project(stored.node, kind), kind)


def as_wide(stored: StoredArray, kind: pa.DataType) -> StoredArray:
    """The array with offsets as wide as its type requires, which is how decoding returns them."""
    if isinstance(kind, pa.BaseExtensionType):
        return as_wide(stored, kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return as_wide(stored, kind.value_type)
    types: list[pa.DataType] = []
    match stored.node.basic_type:
        case BasicType.LIST | BasicType.FIXED_SIZE_LIST:
            types = [kind.value_type]
        case BasicType.MAP:
            types = [kind.key_type, kind.item_type]
        case BasicType.STRUCT | BasicType.UNION:
            types = [kind.field(at).type for at in range(kind.num_fields)]
    children = tuple(as_wide(child, of) for child, of in zip(stored.children, types, strict=True))
    offsets = stored.offsets
    if offsets is not None and stored.node.basic_type is not BasicType.UNION:
        large = "large" in str(kind).partition("<")[0]
        offsets = offsets.astype(np.int64 if large else np.int32)
    return replace(stored, children=children, offsets=offsets)


def check_form(stored: StoredArray) -> None:
    """What `StoredArray` promises of each type."""
    node, count = stored.node, stored.length
    if node.basic_type is BasicType.UNIT:
        assert stored.null_count == count
        assert stored.data is None
        return
    valid = stored.valid()
    assert (stored.validity is None) == (stored.null_count == 0)
    if valid is not None:
        assert len(valid) == count
        assert count - int(valid.sum()) == stored.null_count
        packed = stored.validity.packed() if stored.validity is not None else None
        assert packed is not None
        assert np.unpackbits(packed, bitorder="little").tolist() == valid.tolist() + [0] * (-count % 8)
    gone = np.zeros(count, np.bool_) if valid is None else ~valid
    if stored.dictionary is not None:
        codes = stored.dictionary.codes
        assert stored.data is None
        assert stored.offsets is None
        assert len(codes) == count
        assert not codes[gone].any()
        assert (
            not len(codes[~gone]) or 0 <= int(codes[~gone].min()) <= int(codes.max()) < stored.dictionary.values.length
        )
        check_form(stored.dictionary.values)
        return
    match node.basic_type:
        case BasicType.BOOLEAN:
            assert stored.data is not None
            bits = np.unpackbits(stored.data, bitorder="little")
            assert len(stored.data) == (count + 7) // 8
            assert not bits[:count][gone].any()
            assert not bits[count:].any()
        case BasicType.STRING | BasicType.BINARY:
            assert stored.offsets is not None
            assert stored.offsets.dtype in (np.int32, np.int64)
            assert len(stored.offsets) == count + 1
            assert not np.diff(stored.offsets)[gone].any()
        case BasicType.FIXED_SIZE_BINARY | BasicType.GUID:
            assert stored.data is not None
            assert stored.data.dtype == np.uint8
            assert len(stored.data) == count * node.fixed_size
            assert not stored.data.reshape(count, node.fixed_size)[gone].any()
        case BasicType.LIST | BasicType.MAP:
            assert stored.offsets is not None
            assert len(stored.offsets) == count + 1
            assert stored.offsets[0] == 0
            assert not np.diff(stored.offsets)[gone].any()
            assert all(child.length == stored.offsets[-1] for child in stored.children)
        case BasicType.FIXED_SIZE_LIST:
            (child,) = stored.children
            assert child.length == count * node.fixed_size
            if child.node.basic_type not in (BasicType.UNION, BasicType.UNIT) and gone.any():
                below = child.valid()
                assert below is not None
                assert not below[np.repeat(gone, node.fixed_size)].any()
        case BasicType.STRUCT:
            assert all(child.length == count for child in stored.children)
        case BasicType.UNION:
            assert stored.data is not None
            assert stored.data.dtype == np.uint8
            assert stored.null_count == 0
            for at, child in enumerate(stored.children):
                mine = stored.data == at
                if stored.offsets is None:
                    assert child.length == count
                elif mine.any():
                    assert stored.offsets.dtype == np.uint64
                    assert int(stored.offsets[mine].max()) < child.length
        case _:
            assert stored.data is not None
            assert stored.data.dtype == np.dtype(node.dtype)
            assert len(stored.data) == count
    for child in stored.children:
        check_form(child)


WIDTHS = {
    pa.int8(): 1,
    pa.uint16(): 2,
    pa.int32(): 4,
    pa.uint64(): 8,
    pa.float16(): 2,
    pa.float32(): 4,
    pa.float64(): 8,
    pa.time32("ms"): 4,
    pa.time64("ns"): 8,
    pa.month_day_nano_interval(): 16,
    pa.binary(3): 3,
    pa.decimal128(38, 4): 16,
    pa.decimal256(60, 4): 32,
}


def content(array: pa.Array) -> list[bytes]:
    """All bytes that belong to an array, to check that nothing has written into them."""
    return [bytes(buffer) for buffer in array.buffers() if buffer is not None]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*SIMPLE, *OTHERS], ids=str)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("count", [0, 1, 9, 200])
def test_every_type(kind: pa.DataType, count: int, seed: int) -> None:
    array = Maker(seed, whole_ticks=True).array(kind, count)
    before = content(array)
    stored = stored_of(array)
    check_form(stored)
    assert plain(restored(stored, kind)) == plain(array)
    assert content(array) == before


@pytest.mark.slow
@examples(400)
@given(kind=kinds, count=st.integers(0, 12), seed=st.integers(0, 2**32 - 1))
def test_any_nesting(kind: pa.DataType, count: int, seed: int) -> None:
    array = Maker(seed, whole_ticks=True).array(kind, count)
    before = content(array)
    stored = stored_of(array)
    check_form(stored)
    back = restored(stored, kind)
    back.validate()
    assert plain(back) == plain(array)
    assert content(array) == before


@examples(100)
@given(kind=kinds, seed=st.integers(0, 2**32 - 1), cuts=st.lists(st.integers(0, 20), max_size=3))
def test_chunk_by_chunk(kind: pa.DataType, seed: int, cuts: list[int]) -> None:
    array = Maker(seed, whole_ticks=True).array(kind, 20)
    found: list[Any] = []
    edges = [0, *sorted(cuts), 20]
    for start, end in itertools.pairwise(edges):
        chunk = array.slice(start, end - start)
        found += plain(restored(stored_of(chunk), kind))
    assert found == plain(array)


@examples(100)
@given(kind=st.sampled_from(TIMES), seed=st.integers(0, 2**32 - 1))
def test_raw_times(kind: pa.DataType, seed: int) -> None:
    maker = Maker(seed, whole_ticks=True)
    width = kind.bit_width // 8
    array = pa.Array.from_buffers(kind, 30, [maker.validity(30, True), pa.py_buffer(maker.random.bytes(30 * width))])
    stored = stored_of(array.slice(3), timestamps="int64")
    assert stored.node.basic_type is (BasicType.INT32 if width == 4 else BasicType.INT64)
    assert stored.node.signed
    assert stored.node.extension == ""
    assert plain(restored(stored, kind)) == plain(array.slice(3))


# ---- the stored form, value by value ----


def test_numbers_are_views_of_the_array() -> None:
    array = pa.array([1, 2, None, 4], pa.int32())
    stored = stored_of(array.slice(1, 3))
    assert stored.data is not None
    assert stored.data.tolist()[::2] == [2, 4]
    assert stored.data.__array_interface__["data"][0] == array.buffers()[1].address + 4
    assert not stored.data.flags.writeable
    assert stored.validity is not None
    assert stored.validity.first == 1
    assert stored.valid() is not None
    assert stored.validity.mask().tolist() == [True, False, True]
    assert stored_of(array.slice(0, 2)).validity is None


def test_floats_keep_their_bits() -> None:
    bits = [0x8000000000000000, 0x7FF0000000000001, 0xFFF8000000000123, 0x3FF0000000000000]
    array = pa.Array.from_buffers(pa.float64(), 4, [None, pa.py_buffer(struct.pack("<4Q", *bits))])
    found = stored_of(array).data
    assert found is not None
    assert found.view(np.uint64).tolist() == bits
    half = pa.Array.from_buffers(pa.float16(), 2, [None, pa.py_buffer(b"\x01\x7d\x00\x80")])
    found = stored_of(half).data
    assert found is not None
    assert found.tolist() == [0x7D01, 0x8000]
    assert found.dtype == np.uint16


def test_booleans_start_at_bit_0() -> None:
    array = pa.array([True, False, None, True, True, True, None, True, True, False, True])
    stored = stored_of(array.slice(2))
    assert stored.data is not None
    assert stored.data.tolist() == [0b01101110, 0b1]
    assert stored.null_count == 2


def test_strings_keep_their_buffers() -> None:
    array = pa.array(["zero", "one", None, "three"])
    stored = stored_of(array.slice(1))
    assert stored.offsets is not None
    assert stored.data is not None
    assert stored.offsets.tolist() == [4, 7, 7, 12]
    assert stored.data.tobytes() == b"zeroonethree"
    assert stored.data.__array_interface__["data"][0] == array.buffers()[2].address


def test_null_strings_are_empty() -> None:
    validity, offsets = pa.py_buffer(b"\x05"), pa.py_buffer(np.array([0, 1, 3, 4], np.int32))
    array = pa.Array.from_buffers(pa.string(), 3, [validity, offsets, pa.py_buffer(b"a\xff\xffb")])
    stored = stored_of(array)
    assert stored.offsets is not None
    assert stored.data is not None
    assert stored.offsets.tolist() == [0, 1, 1, 2]
    assert stored.data.tobytes()[:2] == b"ab"


def test_an_empty_array_may_have_no_buffers() -> None:
    for kind in (pa.string(), pa.large_binary(), pa.list_(pa.int8()), pa.large_list(pa.string())):
        children = [pa.array([], kind.value_type)] if hasattr(kind, "value_type") else None
        buffers = [None, pa.py_buffer(b"")] if children else [None, pa.py_buffer(b""), pa.py_buffer(b"")]
        stored = stored_of(pa.Array.from_buffers(kind, 0, buffers, children=children))
        assert stored.offsets is not None
        assert stored.offsets.tolist() == [0]


def test_guids_and_fixed_binaries() -> None:
    array = pa.array([b"a" * 16, None, b"c" * 16], pa.uuid())
    stored = stored_of(array)
    assert stored.node.basic_type is BasicType.GUID
    assert stored.data is not None
    assert stored.data.tobytes() == b"a" * 16 + bytes(16) + b"c" * 16
    span = pa.MonthDayNano([1, -2, 3])
    found = stored_of(pa.array([span], pa.month_day_nano_interval())).data
    assert found is not None
    assert found.tobytes() == struct.pack("<iiq", 1, -2, 3)


def test_null_lists_are_empty() -> None:
    items = pa.array([1, 2, 3, 4, 5], pa.int16())
    offsets = pa.py_buffer(np.array([1, 2, 4, 5], np.int32))
    array = pa.Array.from_buffers(pa.list_(pa.int16()), 3, [pa.py_buffer(b"\x05"), offsets], children=[items])
    stored = stored_of(array)
    assert stored.offsets is not None
    assert stored.offsets.tolist() == [0, 1, 1, 2]
    assert stored.children[0].data is not None
    assert stored.children[0].data.tolist() == [2, 5]


def test_lists_are_rebased_without_a_copy_of_their_items() -> None:
    array = pa.array([[1, 2], [3], [], [4, 5]], pa.list_(pa.int64()))
    stored = stored_of(array.slice(1))
    assert stored.offsets is not None
    assert stored.offsets.tolist() == [0, 1, 1, 3]
    child = stored.children[0].data
    assert child is not None
    assert child.tolist() == [3, 4, 5]
    assert child.__array_interface__["data"][0] == array.values.buffers()[1].address + 16


def test_empty_lists_that_start_anywhere() -> None:
    array = pa.array([[1, 2], [], []], pa.list_(pa.int8())).slice(1)
    stored = stored_of(array)
    assert stored.offsets is not None
    assert stored.offsets.tolist() == [0, 0, 0]
    assert stored.children[0].length == 0


def test_views_in_any_order() -> None:
    array = pa.ListViewArray.from_arrays(
        pa.array([3, 0, 1], pa.int32()), pa.array([1, 2, 3], pa.int32()), pa.array(["a", "b", "c", "d"])
    )
    stored = stored_of(array)
    assert stored.offsets is not None
    assert stored.offsets.tolist() == [0, 1, 3, 6]
    assert plain(restored(stored, pa.list_(pa.string()))) == [[b"d"], [b"a", b"b"], [b"b", b"c", b"d"]]


def test_views_in_order_are_not_copied() -> None:
    array = pa.array([[1, 2], None, [3]], pa.list_view(pa.int64()))
    child = stored_of(array).children[0].data
    assert child is not None
    assert child.__array_interface__["data"][0] == array.values.buffers()[1].address


def test_null_fixed_size_lists_have_null_items() -> None:
    items = pa.array([1, 2, 3, 4, 5, 6], pa.int8())
    array = pa.Array.from_buffers(pa.list_(pa.int8(), 2), 3, [pa.py_buffer(b"\x05")], children=[items])
    (child,) = stored_of(array).children
    assert child.length == 6
    assert child.valid() is not None
    assert child.validity is not None
    assert child.validity.mask().tolist() == [True, True, False, False, True, True]


def test_nulls_of_a_struct_stay_its_own() -> None:
    members = [pa.array([1, 2, 3]), pa.array(["a", None, "c"])]
    array = pa.StructArray.from_arrays(members, names=["n", "s"], mask=pa.array([False, False, True]))
    stored = stored_of(array.slice(1))
    assert stored.null_count == 1
    assert stored.children[0].null_count == 0
    assert stored.children[0].data is not None
    assert stored.children[0].data.tolist() == [2, 3]
    assert stored.children[1].null_count == 1


def test_unions() -> None:
    codes = pa.array([7, 2, 7, 2, 2], pa.int8())
    numbers, texts = pa.array([1, 2, 3, 4, 5]), pa.array(list("abcde"))
    sparse = pa.UnionArray.from_sparse(codes, [numbers, texts], ["n", "s"], [7, 2])
    stored = stored_of(sparse.slice(1, 3))
    assert stored.data is not None
    assert stored.data.tolist() == [1, 0, 1]
    assert stored.offsets is None
    assert stored.children[0].data is not None
    assert stored.children[0].data.tolist() == [2, 3, 4]
    places = pa.array([0, 0, 1, 1, 2], pa.int32())
    dense = pa.UnionArray.from_dense(codes, places, [numbers, texts], ["n", "s"], [7, 2])
    stored = stored_of(dense.slice(2, 3))
    assert stored.data is not None
    assert stored.offsets is not None
    assert stored.data.tolist() == [0, 1, 1]
    assert stored.offsets.tolist() == [0, 0, 1]
    assert [child.length for child in stored.children] == [1, 2]


def test_maps_have_two_children() -> None:
    array = pa.array([[("a", 1)], None, [("b", None), ("c", 3)]], pa.map_(pa.string(), pa.int32()))
    stored = stored_of(array.slice(1))
    assert stored.offsets is not None
    assert stored.offsets.tolist() == [0, 0, 2]
    keys, values = stored.children
    assert keys.length == 2
    assert values.null_count == 1


def test_unit_has_only_a_length() -> None:
    stored = stored_of(pa.nulls(5))
    assert (stored.length, stored.null_count, stored.data, stored.validity) == (5, 5, None, None)


# ---- dictionaries ----


def test_a_dictionary_of_strings_is_kept() -> None:
    codes = pa.array([1, None, 0, 2, 1], pa.int8())
    array = pa.DictionaryArray.from_arrays(codes, pa.array(["x", "y", None]))
    kept = stored_of(array)
    assert plain(restored(kept, pa.string())) == [b"y", None, b"x", None, b"y"]
    assert kept.data is None
    assert kept.null_count == 2
    assert kept.validity is not None
    assert kept.validity.mask().tolist() == [True, False, True, False, True]
    assert kept.dictionary is not None
    assert kept.dictionary.codes.tolist() == [1, 0, 0, 0, 1]
    assert plain(restored(kept.dictionary.values, pa.string())) == [b"x", b"y", None]


@pytest.mark.parametrize(
    "values",
    [pa.array([7, None]), pa.array([True, None]), pa.array([[1], None]), pa.array([Decimal("1.5"), None])],
    ids=lambda values: str(values.type),
)
def test_other_dictionaries_are_expanded(values: pa.Array) -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 0], pa.int8()), values)
    stored = stored_of(array)
    assert stored.dictionary is None
    assert plain(restored(stored, values.type)) == plain(values.take(pa.array([1, 0, None, 0])))


def test_a_slice_of_a_large_dictionary_keeps_what_it_uses() -> None:
    values = pa.array([f"value {at}" for at in range(1000)])
    array = pa.DictionaryArray.from_arrays(pa.array([900, 5, None, 900], pa.int32()), values)
    kept = stored_of(array)
    assert kept.dictionary is not None
    assert kept.dictionary.values.length == 2
    assert kept.dictionary.codes.tolist() == [1, 0, 0, 1]
    assert plain(restored(kept, pa.string())) == [b"value 900", b"value 5", None, b"value 900"]


def test_a_dictionary_without_entries() -> None:
    stored = stored_of(pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array([], pa.string())))
    assert stored.null_count == 2
    assert stored.dictionary is not None
    assert stored.dictionary.codes.tolist() == [0, 0]


def test_a_dictionary_below_others() -> None:
    values = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1, None], pa.int8()), pa.array(["a", "b"]))
    offsets = pa.py_buffer(np.array([0, 1, 2, 4], np.int32))
    array = pa.Array.from_buffers(pa.list_(values.type), 3, [pa.py_buffer(b"\x05"), offsets], children=[values])
    (child,) = stored_of(array).children
    assert child.dictionary is not None
    assert child.dictionary.codes.tolist() == [1, 1, 0]
    assert child.validity is not None
    assert child.validity.mask().tolist() == [True, True, False]


def test_dictionary_entries_that_nobody_uses_may_hold_anything() -> None:
    dictionary = pa.array([1, 100], pa.timestamp("ns"))
    array = pa.DictionaryArray.from_arrays(pa.array([1, 1, 1]), dictionary)
    data = stored_of(array).data
    assert data is not None
    assert data.tolist() == [621355968000000001] * 3
    with pytest.raises(InvalidArgument, match="finer than 100 ns"):
        stored_of(pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), dictionary))


def test_dictionary_codes_out_of_range() -> None:
    codes = pa.array([0, 7], pa.int8())
    array = pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b"]), safe=False)
    with pytest.raises(InvalidArgument, match=r"dictionary indices: expected 0\.\.1, found 0\.\.7 \(field c\)"):
        stored_of(array)


# ---- times ----


def test_ticks_of_every_unit() -> None:
    moment = datetime.datetime(2023, 11, 14, 22, 13, 20)
    ticks = 638355968000000000
    for kind in (pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "Asia/Tokyo")):
        data = stored_of(pa.array([1_700_000_000], pa.timestamp("s")).cast(kind)).data
        assert data is not None
        assert data.tolist() == [ticks], kind
        assert data.dtype == np.uint64
    assert (moment - EPOCH) // datetime.timedelta(microseconds=1) * 10 == ticks
    days = stored_of(pa.array([datetime.date(2023, 11, 14)], pa.date32())).data
    assert days is not None
    assert days.tolist() == [ticks - (22 * 3600 + 13 * 60 + 20) * 10**7]
    milliseconds = stored_of(pa.array([1_700_000_000_123], pa.int64()).view(pa.date64())).data
    assert milliseconds is not None
    assert milliseconds.tolist() == [ticks + 1230000]
    assert stored_of(pa.array([1_700_000_000_123_456_700], pa.timestamp("ns"))).data.tolist() == [638355968001234567]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("kind", "first", "last"),
    [
        (pa.timestamp("s"), -62135596800, 253402300799),
        (pa.timestamp("ms"), -62135596800000, 253402300799999),
        (pa.timestamp("us"), -62135596800000000, 253402300799999999),
        (pa.date32(), -719162, 2932896),
        (pa.date64(), -62135596800000, 253402300799999),
    ],
    ids=str,
)
def test_years_1_to_9999(kind: pa.DataType, first: int, last: int) -> None:
    raw = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    data = stored_of(pa.array([first, None, last], raw).view(kind)).data
    assert data is not None
    assert data[0] == 0
    assert data[1] == 0
    assert 3155378975999999999 - int(data[2]) < 864 * 10**9
    for value in (first - 1, last + 1, np.iinfo(raw.to_pandas_dtype()).max, np.iinfo(raw.to_pandas_dtype()).min):
        array = pa.array([0, int(value)], raw).view(kind)
        with pytest.raises(InvalidArgument, match="outside years 1 to 9999") as caught:
            stored_of(array)
        assert 'timestamps="int64"' in str(caught.value)
        assert f"value {value} at 1" in str(caught.value)
        assert "(field c)" in str(caught.value)
        assert stored_of(array, timestamps="int64").data.tolist() == [0, value]  # type: ignore[union-attr]
        hidden = pa.array([0, int(value)], raw, mask=np.array([False, True])).view(kind)
        assert stored_of(hidden).null_count == 1


def test_finer_than_a_tick() -> None:
    for kind in (pa.timestamp("ns"), pa.duration("ns")):
        for value in (1, 99, -1, 101):
            with pytest.raises(InvalidArgument, match="finer than 100 ns"):
                stored_of(pa.array([value], kind))
        ticks = stored_of(pa.array([-100, 300], kind)).data
        assert ticks is not None
        assert (ticks.astype(np.int64) - (621355968000000000 if kind == pa.timestamp("ns") else 0)).tolist() == [-1, 3]


def test_durations() -> None:
    stored = stored_of(pa.array([90, -1, None], pa.duration("s")))
    assert stored.node.extension == TIMESPAN
    assert stored.data is not None
    assert stored.data.tolist() == [900000000, -10000000, 0]
    assert stored.data.dtype == np.int64
    most = 2**63 // 10**7
    assert stored_of(pa.array([most, -most], pa.duration("s"))).null_count == 0
    for value in (most + 1, -most - 1):
        with pytest.raises(InvalidArgument, match=r"outside 64-bit ticks.*timestamps=\"int64\""):
            stored_of(pa.array([value], pa.duration("s")))


def test_nanoseconds_below_the_top_are_integers() -> None:
    kind = pa.struct([("at", pa.timestamp("ns")), ("took", pa.list_(pa.duration("ns"))), ("us", pa.timestamp("us"))])
    assert str(node_of(kind)) == "struct<at: int64, took: list<int64>, us: datetime>"
    stored = stored_of(pa.array([{"at": -1, "took": [1, None]}], kind))
    assert stored.children[0].data is not None
    assert stored.children[0].data.tolist() == [-1]


def test_an_error_names_the_nested_column() -> None:
    kind = pa.struct([pa.field("a.b", pa.list_(pa.map_(pa.string(), pa.timestamp("s"))))])
    array = pa.array([{"a.b": [[("k", 2**40)]]}], kind)
    with pytest.raises(InvalidArgument, match=r"\(field c\.`a\.b`\.item\.value\)"):
        stored_of(array)


def test_values_that_nobody_sees_are_not_refused() -> None:
    """Below null structs and lists, and in variants that are not chosen, a slot holds no value of the table."""
    times = pa.array([100, 2**62, 300], pa.timestamp("us"))
    texts = pa.Array.from_buffers(
        pa.string(), 3, [None, pa.py_buffer(np.array([0, 1, 2, 3], np.int32)), pa.py_buffer(b"a\xffc")]
    )
    numbers = pa.array([1, 10**6, 3], pa.decimal128(9, 0))
    wide = pa.Array.from_buffers(pa.decimal128(3, 0), 3, numbers.buffers())
    for child in (times, texts, wide):
        struct_array = pa.StructArray.from_arrays([child], names=["x"], mask=pa.array([False, True, False]))
        stored = stored_of(struct_array)
        check_form(stored)
        assert stored.children[0].null_count == 1
        assert plain(restored(stored, struct_array.type)) == plain(struct_array)
        lists = pa.Array.from_buffers(
            pa.list_(child.type),
            3,
            [pa.py_buffer(b"\x05"), pa.py_buffer(np.array([0, 1, 2, 3], np.int32))],
            children=[child],
        )
        assert plain(restored(stored_of(lists), lists.type)) == plain(lists)
        other = pa.array([7, 8, 9])
        union = pa.UnionArray.from_sparse(pa.array([0, 1, 0], pa.int8()), [child, other])
        assert plain(restored(stored_of(union), union.type)) == plain(union)
        fixed = pa.Array.from_buffers(pa.list_(child.type, 1), 3, [pa.py_buffer(b"\x05")], children=[child])
        assert plain(restored(stored_of(fixed), fixed.type)) == plain(fixed)
        with pytest.raises(InvalidArgument):
            stored_of(pa.StructArray.from_arrays([child], names=["x"]))


# ---- decimals ----

# Bytes as the format's pages have them.
DECIMAL_BYTES = [
    (0, 0, "00 00 00 00 00 00 00 00 00 00 00 00 00 00 08 22"),
    (1, 0, "01 00 00 00 00 00 00 00 00 00 00 00 00 00 08 22"),
    (-1, 0, "01 00 00 00 00 00 00 00 00 00 00 00 00 00 08 a2"),
    (7, 0, "07 00 00 00 00 00 00 00 00 00 00 00 00 00 08 22"),
    (42, 0, "42 00 00 00 00 00 00 00 00 00 00 00 00 00 08 22"),
    (42, 2, "42 00 00 00 00 00 00 00 00 00 00 00 00 80 07 22"),
    (250, 2, "50 01 00 00 00 00 00 00 00 00 00 00 00 80 07 22"),
    (12345, 2, "c5 49 00 00 00 00 00 00 00 00 00 00 00 80 07 22"),
    (-12345, 2, "c5 49 00 00 00 00 00 00 00 00 00 00 00 80 07 a2"),
    (-1999, 2, "ff 04 00 00 00 00 00 00 00 00 00 00 00 80 07 a2"),
    (10, 1, "10 00 00 00 00 00 00 00 00 00 00 00 00 c0 07 22"),
    (100, 2, "80 00 00 00 00 00 00 00 00 00 00 00 00 80 07 22"),
    (1, -1, "01 00 00 00 00 00 00 00 00 00 00 00 00 40 08 22"),
    (10**34 - 1, 0, "ff fc f3 cf 3f ff fc f3 cf 3f ff fc f3 0f 08 6e"),
    (1234567890123456789012345678901235, 14, "35 35 82 77 71 12 3c 6f e5 28 1e 9c 4b 93 04 26"),
    (1, 38, "01 00 00 00 00 00 00 00 00 00 00 00 00 80 fe 21"),
]


@pytest.mark.parametrize(("unscaled", "scale", "expected"), DECIMAL_BYTES)
def test_published_decimals(unscaled: int, scale: int, expected: str) -> None:
    for kind in (pa.decimal128(34, scale), pa.decimal256(34, scale)):
        raw = unscaled.to_bytes(kind.bit_width // 8, "little", signed=True)
        array = pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(raw)])
        data = stored_of(array).data
        assert data is not None
        assert data.tobytes().hex(" ") == expected


@settings(deadline=None)
@given(
    width=st.sampled_from([4, 8, 16, 32]),
    numbers=st.lists(st.integers(0, 34).flatmap(lambda digits: st.integers(-(10**digits) + 1, 10**digits - 1))),
    scale=st.one_of(st.integers(-40, 40), st.sampled_from([-6111, 6176])),
)
def test_decimals_agree_with_single_values(width: int, numbers: list[int], scale: int) -> None:
    numbers = [number for number in numbers if -(2 ** (8 * width - 1)) <= number < 2 ** (8 * width - 1)]
    rows = np.frombuffer(b"".join(number.to_bytes(width, "little", signed=True) for number in numbers), np.uint8)
    found = from_unscaled(rows.reshape(-1, width), scale)
    for number, row in zip(numbers, found, strict=True):
        digits = tuple(map(int, str(abs(number))))
        assert row.tobytes() == from_decimal(Decimal((int(number < 0), digits, -scale)))


@pytest.mark.parametrize("precision", [1, 8, 9, 10, 17, 18, 19, 27, 28, 33, 34])
def test_more_digits_than_the_type_allows(precision: int) -> None:
    for sign in (1, -1):
        raw = (sign * 10**precision).to_bytes(32, "little", signed=True)
        kind = pa.decimal256(precision, 2)
        array = pa.Array.from_buffers(kind, 2, [None, pa.py_buffer(bytes(32) + raw)])
        with pytest.raises(InvalidArgument, match=rf"decimal at 1: expected a value of decimal\({precision}, 2\)"):
            stored_of(array)
        below = (sign * (10**precision - 1)).to_bytes(32, "little", signed=True)
        assert stored_of(pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(below)])).null_count == 0


def test_from_unscaled_checks_what_it_is_given() -> None:
    row = np.zeros((1, 16), np.uint8)
    for bad in (lambda: from_unscaled(row[0], 0), lambda: from_unscaled(np.zeros((1, 5), np.uint8), 0)):
        with pytest.raises(InvalidArgument, match="unscaled: expected rows"):
            bad()
    with pytest.raises(InvalidArgument, match="scale"):
        from_unscaled(row, 6177)
    with pytest.raises(InvalidArgument, match="precision"):
        from_unscaled(row, 0, precision=35)
    with pytest.raises(InvalidArgument, match="valid"):
        from_unscaled(row, 0, valid=np.ones(2, np.bool_))
    assert from_unscaled(np.full((1, 16), 127, np.uint8), 0, valid=np.zeros(1, np.bool_)).tobytes() == bytes(16)


def test_wide_decimals_are_kept_as_they_are() -> None:
    array = pa.array([Decimal(10**37), None, Decimal(-1)], pa.decimal128(38, 0))
    stored = stored_of(array)
    assert not stored.node.is_decimal
    assert stored.node.fixed_size == 16
    assert stored.data is not None
    assert stored.data[:16].tobytes() == (10**37).to_bytes(16, "little")
    assert plain(restored(stored, array.type)) == plain(array)


# ---- what is refused ----


def test_text_that_is_not_utf8() -> None:
    offsets = pa.py_buffer(np.array([0, 1, 2], np.int32))
    array = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"a\xff")])
    with pytest.raises(InvalidArgument, match=r"string at 1: expected UTF-8, found other bytes \(field c\)"):
        stored_of(array)


@pytest.mark.parametrize(
    "array",
    [
        pa.Array.from_buffers(
            pa.binary(), 2, [None, pa.py_buffer(np.array([0, 3, 1], np.int32)), pa.py_buffer(b"abc")]
        ),
        pa.Array.from_buffers(
            pa.string(), 2, [None, pa.py_buffer(np.array([0, 3, 1], np.int32)), pa.py_buffer(b"abc")]
        ),
        pa.Array.from_buffers(
            pa.list_(pa.int8()),
            2,
            [None, pa.py_buffer(np.array([0, 3, 1], np.int32))],
            children=[pa.array([1, 2, 3], pa.int8())],
        ),
        pa.Array.from_buffers(
            pa.list_view(pa.int8()),
            1,
            [None, pa.py_buffer(np.array([0], np.int32)), pa.py_buffer(np.array([9], np.int32))],
            children=[pa.array([1, 2, 3], pa.int8())],
        ),
    ],
    ids=["binary", "string", "list", "list view"],
)
def test_arrays_that_are_not_sound(array: pa.Array) -> None:
    with pytest.raises(InvalidArgument, match=r"\(field c\)"):
        stored_of(array)


@pytest.mark.parametrize(
    ("array", "stored_as"),
    [
        (pa.array([1], pa.int32()), pa.int64()),
        (pa.array([1], pa.uint64()), pa.int64()),
        (pa.array([1], pa.int64()), pa.timestamp("s")),
        (pa.array([1], pa.time64("us")), pa.timestamp("us")),
        (pa.array([1], pa.timestamp("us")), pa.duration("us")),
        (pa.array([1.0]), pa.int64()),
        (pa.array(["a"]), pa.binary()),
        (pa.array([b"a"]), pa.string()),
        (pa.array([b"abc"], pa.binary(3)), pa.binary(4)),
        (pa.array([[1]]), pa.list_(pa.int64(), 1)),
        (pa.array([{"a": 1}]), pa.struct([("b", pa.int64())])),
        (pa.nulls(1), pa.string()),
    ],
    ids=str,
)
def test_an_array_of_another_type(array: pa.Array, stored_as: pa.DataType) -> None:
    with pytest.raises(InvalidArgument, match="values: expected an Arrow type that is stored as"):
        to_storage(array, node_of(stored_as), "c")


def test_ticks_may_come_as_ticks() -> None:
    ticks = pa.array([638355968000000000], pa.uint64())
    data = to_storage(ticks, node_of(pa.timestamp("us")), "c").data
    assert data is not None
    assert data.tolist() == ticks.to_pylist()


@pytest.mark.parametrize(
    ("fields", "trouble"),
    [
        ([pa.field("a", pa.int8()), pa.field("a", pa.int8())], "columns: expected unique names, found 'a' twice"),
        ([pa.field("", pa.int8())], "columns: expected names, found an empty one"),
        ([pa.field("s", pa.struct([("x", pa.int8()), ("x", pa.int8())]))], "struct 's': expected unique names"),
        ([pa.field("l", pa.list_(pa.struct([("", pa.int8())])))], "struct 'l.item': expected names"),
        ([pa.field("l", pa.list_(pa.int8(), 0))], "column 'l': expected fixed-size lists of at least 1"),
    ],
)
def test_schemas_that_no_shard_can_have(fields: list[pa.Field], trouble: str) -> None:
    with pytest.raises(InvalidSchema, match=trouble):
        schema_nodes(fields)


def test_schemas_that_are_too_deep() -> None:
    kind = pa.int8()
    for _ in range(63):
        kind = pa.list_(kind)
    node_of(kind)
    with pytest.raises(InvalidSchema, match="expected at most 64 levels"):
        node_of(pa.list_(kind))


def test_options_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="timestamps: expected 'ticks' or 'int64', found 'ns'"):
        schema_nodes([], timestamps="ns")  # type: ignore[arg-type]


@given(bits=st.lists(st.booleans(), max_size=40), first=st.integers(0, 7), behind=st.integers(0, 3))
def test_bits(bits: list[bool], first: int, behind: int) -> None:
    whole = np.array([True] * first + bits + [True] * behind, np.bool_)
    found = Bits(np.packbits(whole, bitorder="little"), first, len(bits))
    assert found.mask().tolist() == bits
    assert found.packed().tobytes() == np.packbits(np.array(bits, np.bool_), bitorder="little").tobytes()
