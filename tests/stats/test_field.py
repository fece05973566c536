"""Statistics of a field: the published descriptors, and agreement with obvious Python for every type."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from amudai.errors import InvalidArgument
from amudai.format.any_value import AnyValue
from amudai.format.field_descriptors import FieldDescriptor
from amudai.format.statistics import (
    BinaryStats,
    BooleanStats,
    Cardinality,
    DecimalStats,
    FloatingStats,
    HllSketch,
    ListStats,
    RangeStats,
    StringStats,
)
from amudai.stats import BLOOM_SEED, HLL_SEED, FieldStatistics, Hll, bloom, collect
from amudai.stats.hashing import hash_value, hash_values
from amudai.types import DECIMAL, DYNAMIC, TIMESPAN, BasicType, SchemaNode
from amudai.types.decimal128 import from_decimal

INT = SchemaNode(schema_id=0, name="n", basic_type=BasicType.INT64, signed=True)
STRING = SchemaNode(schema_id=0, name="s", basic_type=BasicType.STRING)
DECIMALS = SchemaNode(schema_id=0, name="d", basic_type=BasicType.FIXED_SIZE_BINARY, fixed_size=16, extension=DECIMAL)


def node(kind: BasicType, **more: Any) -> SchemaNode:
    return SchemaNode(schema_id=0, name="f", basic_type=kind, **more)


def stored(hexadecimal: str) -> FieldStatistics:
    return FieldStatistics.of(FieldDescriptor.decode(bytes.fromhex(hexadecimal)))


def bounds(kind: Any, low: object, high: object) -> RangeStats:
    return RangeStats(min=AnyValue(kind, low), min_inclusive=True, max=AnyValue(kind, high), max_inclusive=True)


NO_BOUNDS = RangeStats(min=None, min_inclusive=True, max=None, max_inclusive=True)


def raw_size(values: Sequence[object], data: int) -> int:
    nulls = sum(value is None for value in values)
    return 0 if nulls == len(values) else data + (math.ceil(len(values) / 8) if nulls else 0)


# --- published descriptors ---


def test_published_integers() -> None:
    expected = stored(
        "09 0400000000000000  11 0100000000000000"
        "32 15 0a 0b 20 fdffffffffffffffff01 10 01 1a 02 20 0a 20 01"
        "c902 0d00000000000000"
    )
    found = collect(pa.array([5, None, 10, -3], pa.int32()), node(BasicType.INT32, signed=True))
    assert found == expected


def test_published_nulls() -> None:
    expected = stored("09 0300000000000000 11 0300000000000000 1a 02 0a 00 32 04 10 01 20 01 c902 0000000000000000")
    assert collect(pa.array([None] * 3, pa.int64()), INT) == expected


def test_published_strings() -> None:
    counters = bytearray(128)
    counters[20], counters[99] = 1, 2
    data = "00010008 00004080 01200000 00004080 10000800 02100000 80000002 10000020"
    descriptor = (
        "09 0300000000000000 11 0100000000000000"
        "3a a801 09 0200000000000000 10 01 1a 9a01 0a 07 787868335f3634 11 314c4c4864756d41 1d 07000000 22 8001"
        f"{counters.hex()}"
        "42 51 0a 4f 09 0100000000000000 11 7b14ae47e17a843f 19 0200000000000000 22 07 787868335f3634"
        f"29 464642696164754d 32 20 {data}"
        "a201 24 09 0500000000000000 11 0500000000000000 19 0600000000000000 21 0200000000000000"
        "c902 0c00000000000000"
    )
    assert len(bytes.fromhex(descriptor)) == 321
    assert collect(pa.array(["apple", "banana", None]), STRING) == stored(descriptor)


def test_published_sizes() -> None:
    assert collect(pa.array([None if i % 10 == 0 else i for i in range(1000)], pa.int64()), INT).raw_data_size == 7325
    assert collect(pa.array(["hello", None, "world", "", "こんにちは"]), STRING).raw_data_size == 26
    lists = pa.array([[1, 2, 3], None, [4, 5, 6]], pa.list_(pa.int64()))
    assert collect(lists, node(BasicType.LIST)).raw_data_size == 25


# --- every type against obvious Python ---

INTEGERS = [
    (node(BasicType.INT8, signed=True), pa.int8()),
    (node(BasicType.INT8), pa.uint8()),
    (node(BasicType.INT16, signed=True), pa.int16()),
    (node(BasicType.INT16), pa.uint16()),
    (node(BasicType.INT32, signed=True), pa.int32()),
    (node(BasicType.INT32), pa.uint32()),
    (node(BasicType.INT64, signed=True), pa.int64()),
    (node(BasicType.INT64), pa.uint64()),
    (node(BasicType.INT64, signed=True, extension=TIMESPAN), pa.int64()),
    (node(BasicType.DATETIME), pa.uint64()),
]


@pytest.mark.slow
@pytest.mark.parametrize(("field", "kind"), INTEGERS, ids=lambda case: str(case))
@given(data=st.data())
def test_integers(field: SchemaNode, kind: pa.DataType, data: st.DataObject) -> None:
    signed = pa.types.is_signed_integer(kind)
    low, high = (-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1) if signed else (0, 2**kind.bit_width - 1)
    values = data.draw(st.lists(st.none() | st.integers(low, high) | st.sampled_from([low, high]), max_size=20))
    known = [value for value in values if value is not None]
    assert collect(pa.array(values, kind), field) == FieldStatistics(
        position_count=len(values),
        null_count=len(values) - len(known),
        raw_data_size=raw_size(values, len(known) * kind.bit_width // 8),
        range_stats=bounds("i64" if signed else "u64", min(known), max(known)) if known else NO_BOUNDS,
    )


@pytest.mark.parametrize(
    ("field", "kind"),
    [(node(BasicType.FLOAT32), pa.float32()), (node(BasicType.FLOAT64), pa.float64())],
    ids=["f32", "f64"],
)
@given(data=st.data())
def test_floats(field: SchemaNode, kind: pa.DataType, data: st.DataObject) -> None:
    special = st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, -math.nan, 1.0])
    values = data.draw(st.lists(st.none() | special | st.floats(width=kind.bit_width), max_size=20))
    known = [value for value in values if value is not None]
    numbers = [value for value in known if not math.isnan(value)]
    found = collect(pa.array(values, kind, from_pandas=False), field)
    assert found == FieldStatistics(
        position_count=len(values),
        null_count=len(values) - len(known),
        raw_data_size=raw_size(values, len(known) * kind.bit_width // 8),
        range_stats=bounds("double", min(numbers), max(numbers)) if numbers else NO_BOUNDS,
        type_stats=FloatingStats(
            zero_count=numbers.count(0.0),
            positive_count=sum(0 < value < math.inf for value in numbers),
            negative_count=sum(-math.inf < value < 0 for value in numbers),
            nan_count=len(known) - len(numbers),
            positive_infinity_count=numbers.count(math.inf),
            negative_infinity_count=numbers.count(-math.inf),
        ),
    )
    if numbers and found.range_stats and found.range_stats.min and found.range_stats.max:
        # 0.0 == -0.0: only the bits tell that the first of them was kept.
        assert struct.pack("d", found.range_stats.min.value) == struct.pack("d", min(numbers))
        assert struct.pack("d", found.range_stats.max.value) == struct.pack("d", max(numbers))


@pytest.mark.parametrize("zeros", [[0.0, -0.0], [-0.0, 0.0]])
@pytest.mark.parametrize("count", [1, 7, 64, 1000])
def test_the_first_zero_is_the_bound(zeros: list[float], count: int) -> None:
    stats = collect(pa.array([math.nan, *zeros * count], pa.float64()), node(BasicType.FLOAT64)).range_stats
    assert stats is not None
    assert stats.min is not None
    assert stats.max is not None
    assert struct.pack("d", stats.min.value) == struct.pack("d", stats.max.value) == struct.pack("d", zeros[0])


@given(
    st.lists(
        st.none()
        | st.sampled_from(list(map(Decimal, ["0", "-0", "1.0", "1.00", "-1", "-1.0", "Infinity", "-Infinity", "NaN"])))
        | st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**20), max_value=10**20),
        max_size=20,
    ),
    st.integers(0, 2),
)
@example([Decimal("1.0"), Decimal("1.00")], 0)
@example([Decimal("1.00"), Decimal("1.0"), Decimal("sNaN")], 0)
def test_decimals(values: list[Decimal | None], start: int) -> None:
    array = pa.array([None if value is None else from_decimal(value) for value in values], pa.binary(16))[start:]
    values = values[start:]
    known = [value for value in values if value is not None]
    numbers = [value for value in known if not value.is_nan()]
    assert collect(array, DECIMALS) == FieldStatistics(
        position_count=len(values),
        null_count=len(values) - len(known),
        raw_data_size=raw_size(values, 16 * len(known)),
        range_stats=bounds("decimal", from_decimal(min(numbers)), from_decimal(max(numbers))) if numbers else NO_BOUNDS,
        type_stats=DecimalStats(
            zero_count=sum(value == 0 for value in numbers),
            positive_count=sum(value > 0 for value in numbers),
            negative_count=sum(value < 0 for value in numbers),
            nan_count=len(known) - len(numbers),
        ),
    )


@given(st.lists(st.none() | st.booleans(), max_size=40))
def test_booleans(values: list[bool | None]) -> None:
    assert collect(pa.array(values, pa.bool_()), node(BasicType.BOOLEAN)) == FieldStatistics(
        position_count=len(values),
        null_count=values.count(None),
        raw_data_size=raw_size(values, math.ceil(len(values) / 8)),
        type_stats=BooleanStats(true_count=values.count(True), false_count=values.count(False)),
    )


def sketches(found: FieldStatistics, known: list[bytes]) -> None:
    if not known:
        assert found.cardinality is None
        assert found.bloom_filter is None
        return
    sketch = Hll()
    sketch.insert(hash_values(known, HLL_SEED))
    assert found.cardinality == Cardinality(
        count=sketch.estimate(),
        is_estimate=True,
        sketch=HllSketch(
            hash_algorithm="xxh3_64", hash_seed=HLL_SEED, bits_per_index=7, counters=sketch.counters.tobytes()
        ),
    )
    assert found.bloom_filter is not None
    assert found.bloom_filter.num_values == len(set(known))
    assert found.bloom_filter.num_blocks * 32 == len(found.bloom_filter.data)
    assert found.bloom_filter.data == bloom.build(hash_values(known, BLOOM_SEED))
    assert all(bloom.probe(found.bloom_filter.data, xxh3_64_intdigest(value, BLOOM_SEED)) for value in known)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
@given(values=st.lists(st.none() | st.text(max_size=5), max_size=30), start=st.integers(0, 2))
def test_strings(kind: pa.DataType, values: list[str | None], start: int) -> None:
    array, values = pa.array(values, pa.string()).cast(kind)[start:], values[start:]
    known = [value.encode() for value in values if value is not None]
    found = collect(array, STRING)
    lengths = list(map(len, known))
    assert (found.position_count, found.null_count) == (len(values), values.count(None))
    assert found.raw_data_size == raw_size(values, sum(lengths))
    assert found.range_stats is None
    assert found.type_stats == StringStats(
        min_size=min(lengths, default=0),
        min_non_empty_size=min(filter(None, lengths), default=None),
        max_size=max(lengths, default=0),
        ascii_count=sum(value.isascii() for value in known),
    )
    sketches(found, known)


@pytest.mark.parametrize("extension", ["", DYNAMIC])
@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
@given(values=st.lists(st.none() | st.binary(max_size=5), max_size=30), start=st.integers(0, 2))
def test_binaries(kind: pa.DataType, extension: str, values: list[bytes | None], start: int) -> None:
    array, values = pa.array(values, pa.binary()).cast(kind)[start:], values[start:]
    known = [value for value in values if value is not None]
    found = collect(array, node(BasicType.BINARY, extension=extension))
    lengths = list(map(len, known))
    assert (found.position_count, found.null_count) == (len(values), values.count(None))
    assert found.raw_data_size == raw_size(values, sum(lengths))
    assert found.type_stats == BinaryStats(
        min_length=min(lengths, default=0),
        min_non_empty_length=min(filter(None, lengths), default=None),
        max_length=max(lengths, default=0),
    )
    sketches(found, known)


@pytest.mark.parametrize(
    ("field", "size"),
    [
        (node(BasicType.GUID, fixed_size=16), 16),
        (node(BasicType.FIXED_SIZE_BINARY, fixed_size=3), 3),
        (node(BasicType.FIXED_SIZE_BINARY, fixed_size=16), 16),
        # Only 16 bytes are a decimal.
        (node(BasicType.FIXED_SIZE_BINARY, fixed_size=8, extension=DECIMAL), 8),
    ],
    ids=str,
)
@given(data=st.data())
def test_fixed_sizes(field: SchemaNode, size: int, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | st.binary(min_size=size, max_size=size), max_size=10))
    known = [value for value in values if value is not None]
    found = collect(pa.array(values, pa.binary(size)), field)
    assert found.raw_data_size == raw_size(values, size * len(known))
    length = size if known else 0
    assert found.type_stats == BinaryStats(min_length=length, min_non_empty_length=length or None, max_length=length)
    assert found.range_stats is None
    sketches(found, known)


def test_many_distinct_values_have_no_filter() -> None:
    found = collect(pa.array([str(i) for i in range(1025)] * 2), STRING)
    assert found.bloom_filter is None
    assert found.cardinality is not None
    assert collect(pa.array([str(i) for i in range(1024)] * 2), STRING).bloom_filter is not None


LISTS = [pa.list_(pa.int8()), pa.large_list(pa.int8()), pa.list_view(pa.int8()), pa.large_list_view(pa.int8())]


@pytest.mark.parametrize("kind", [*LISTS, pa.map_(pa.int8(), pa.int8())], ids=str)
@given(lengths=st.lists(st.none() | st.integers(0, 4), max_size=20), start=st.integers(0, 2))
def test_lists_and_maps(kind: pa.DataType, lengths: list[int | None], start: int) -> None:
    item: Any = (1, 2) if pa.types.is_map(kind) else 1
    array = pa.array([None if length is None else [item] * length for length in lengths], kind)[start:]
    lengths = lengths[start:]
    known = [length for length in lengths if length is not None]
    stats = ListStats(
        min_length=min(known, default=0),
        min_non_empty_length=min(filter(None, known), default=None),
        max_length=max(known, default=0),
    )
    assert collect(array, node(BasicType.MAP if pa.types.is_map(kind) else BasicType.LIST)) == FieldStatistics(
        position_count=len(lengths),
        null_count=lengths.count(None),
        raw_data_size=raw_size(lengths, 8 * len(lengths)),
        type_stats=stats if lengths else None,
    )


@pytest.mark.parametrize(
    ("field", "kind", "value"),
    [
        (node(BasicType.STRUCT), pa.struct([("a", pa.int8())]), {"a": 1}),
        (node(BasicType.FIXED_SIZE_LIST, fixed_size=2), pa.list_(pa.int8(), 2), [1, 2]),
    ],
    ids=["struct", "fixed_size_list"],
)
@pytest.mark.parametrize("valid", [[], [False] * 3, [True] * 9, [True] * 8 + [False]])
def test_structs_and_fixed_lists(field: SchemaNode, kind: pa.DataType, value: object, valid: list[bool]) -> None:
    found = collect(pa.array([value if here else None for here in valid], kind), field)
    bitmap = math.ceil(len(valid) / 8) if True in valid and False in valid else 0
    assert found == FieldStatistics(position_count=len(valid), null_count=valid.count(False), raw_data_size=bitmap)


def test_units_are_only_counted() -> None:
    assert collect(pa.nulls(5), node(BasicType.UNIT)) == FieldStatistics(position_count=5)


@pytest.mark.parametrize(
    ("field", "array"),
    [
        (INT, pa.array([1], pa.int32())),
        (node(BasicType.INT64), pa.array([1], pa.int64())),
        (node(BasicType.DATETIME), pa.array([1], pa.timestamp("ns"))),
        (STRING, pa.array([b"a"])),
        (node(BasicType.GUID, fixed_size=16), pa.array([b"a"], pa.binary(1))),
        (DECIMALS, pa.array([Decimal(1)])),
        (node(BasicType.BOOLEAN), pa.array([1])),
        (node(BasicType.LIST), pa.array([1])),
        (node(BasicType.FLOAT32), pa.array([1.0])),
    ],
    ids=str,
)
def test_another_arrow_type_is_an_error(field: SchemaNode, array: pa.Array) -> None:
    with pytest.raises(InvalidArgument, match="expected the stored form of"):
        collect(array, field)


def test_a_literal_is_probed_by_its_bytes() -> None:
    found = collect(pa.array(["timeout", "refused"]), STRING).bloom_filter
    assert found is not None
    assert bloom.probe(found.data, hash_value(b"timeout", found.hash_seed))
    assert not bloom.probe(found.data, hash_value(b"absent", found.hash_seed))


def test_decimal_bounds_are_the_stored_bytes() -> None:
    rows = [from_decimal(Decimal(text)) for text in ("1.0", "1.00", "-7")]
    stats = collect(pa.array(rows, pa.binary(16)), DECIMALS).range_stats
    assert stats is not None
    assert stats.max is not None
    assert stats.max.value == rows[0]
