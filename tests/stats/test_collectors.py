"""Statistics that a writer notes of a field: the published ones, and those of the oracle for every type."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amudai.arrow import schema_nodes, to_storage
from amudai.encoding import profile_of
from amudai.format import FieldDescriptor
from amudai.shard import FieldBuildContext, builder_of
from amudai.stats import FieldStatistics, bloom, hash_value
from amudai.storage import Spool
from amudai.types import DECIMAL, DYNAMIC, TIMESPAN, BasicType, SchemaNode
from tests.oracle.decimal128 import from_decimal
from tests.oracle.statistics import collect

INT = SchemaNode(schema_id=0, name="n", basic_type=BasicType.INT64, signed=True)
STRING = SchemaNode(schema_id=0, name="s", basic_type=BasicType.STRING)
DECIMALS = SchemaNode(schema_id=0, name="d", basic_type=BasicType.FIXED_SIZE_BINARY, fixed_size=16, extension=DECIMAL)


def node(kind: BasicType, **more: Any) -> SchemaNode:
    return SchemaNode(schema_id=0, name="f", basic_type=kind, **more)


def node_of(kind: pa.DataType) -> SchemaNode:
    (found,) = schema_nodes([pa.field("f", kind)])
    return found


def noted(field: SchemaNode, *batches: pa.Array, profile: str = "balanced") -> FieldStatistics:
    """What a builder notes of batches that come one after the other."""
    with Spool(None, 1 << 20) as spool:
        builder = builder_of(field, FieldBuildContext(profile_of(profile), spool))
        for batch in batches:
            builder.append(to_storage(batch, field, field.name))
        return builder.finish().statistics


def check(field: SchemaNode, array: pa.Array, cut: int = 0) -> FieldStatistics:
    """The statistics of an array, which comes in two batches; they are the oracle's."""
    found = noted(field, array[:cut], array[cut:])
    assert found == collect(array, field)
    return found


def stored(hexadecimal: str) -> FieldStatistics:
    return FieldStatistics.of(FieldDescriptor.decode(bytes.fromhex(hexadecimal)))


# --- published descriptors ---


def published(field: SchemaNode, array: pa.Array, descriptor: str) -> None:
    found, expected = noted(field, array), stored(descriptor)
    assert found == collect(array, field)
    # The reference states no bounds of texts and bytes.
    assert (found if expected.range_stats is not None else replace(found, range_stats=None)) == expected


def test_published_integers() -> None:
    published(
        node(BasicType.INT32, signed=True),
        pa.array([5, None, 10, -3], pa.int32()),
        "09 0400000000000000  11 0100000000000000"
        "32 15 0a 0b 20 fdffffffffffffffff01 10 01 1a 02 20 0a 20 01"
        "c902 0d00000000000000",
    )


def test_published_nulls() -> None:
    published(
        INT,
        pa.array([None] * 3, pa.int64()),
        "09 0300000000000000 11 0300000000000000 1a 02 0a 00 32 04 10 01 20 01 c902 0000000000000000",
    )


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
    published(STRING, pa.array(["apple", "banana", None]), descriptor)


def test_published_sizes() -> None:
    numbers = pa.array([None if i % 10 == 0 else i for i in range(1000)], pa.int64())
    assert check(INT, numbers).raw_data_size == 7325
    assert check(STRING, pa.array(["hello", None, "world", "", "こんにちは"])).raw_data_size == 26
    lists = pa.array([[1, 2, 3], None, [4, 5, 6]], pa.list_(pa.int64()))
    assert check(node_of(lists.type), lists).raw_data_size == 25


# --- every type against the oracle ---

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
CUTS = st.integers(0, 12)


@pytest.mark.parametrize(("field", "kind"), INTEGERS, ids=lambda case: str(case))
@given(data=st.data(), cut=CUTS)
def test_integers(field: SchemaNode, kind: pa.DataType, data: st.DataObject, cut: int) -> None:
    signed = pa.types.is_signed_integer(kind)
    low, high = (-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1) if signed else (0, 2**kind.bit_width - 1)
    values = data.draw(st.lists(st.none() | st.integers(low, high) | st.sampled_from([low, high]), max_size=20))
    check(field, pa.array(values, kind), cut)


@pytest.mark.parametrize(
    ("field", "kind"),
    [(node(BasicType.FLOAT32), pa.float32()), (node(BasicType.FLOAT64), pa.float64())],
    ids=["f32", "f64"],
)
@given(data=st.data(), cut=CUTS)
def test_floats(field: SchemaNode, kind: pa.DataType, data: st.DataObject, cut: int) -> None:
    special = st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, -math.nan, 1.0])
    values = data.draw(st.lists(st.none() | special | st.floats(width=kind.bit_width), max_size=20))
    check(field, pa.array(values, kind, from_pandas=False), cut)


@given(
    st.lists(
        st.none()
        | st.sampled_from(list(map(Decimal, ["0", "-0", "1.0", "1.00", "-1", "-1.0", "Infinity", "-Infinity", "NaN"])))
        | st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**20), max_value=10**20),
        max_size=20,
    ),
    st.integers(0, 2),
    CUTS,
)
@example([Decimal("1.0"), Decimal("1.00")], 0, 1)
@example([Decimal("1.00"), Decimal("1.0"), Decimal("sNaN")], 0, 1)
def test_decimals(values: list[Decimal | None], start: int, cut: int) -> None:
    rows = pa.array([None if value is None else from_decimal(value) for value in values], pa.binary(16))
    check(DECIMALS, rows[start:], cut)


@given(st.lists(st.none() | st.booleans(), max_size=40), CUTS)
def test_booleans(values: list[bool | None], cut: int) -> None:
    check(node(BasicType.BOOLEAN), pa.array(values, pa.bool_()), cut)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
@given(values=st.lists(st.none() | st.text(max_size=5), max_size=30), start=st.integers(0, 2), cut=CUTS)
def test_strings(kind: pa.DataType, values: list[str | None], start: int, cut: int) -> None:
    check(STRING, pa.array(values, pa.string()).cast(kind)[start:], cut)


@pytest.mark.parametrize("extension", ["", DYNAMIC])
@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
@given(values=st.lists(st.none() | st.binary(max_size=5), max_size=30), start=st.integers(0, 2), cut=CUTS)
def test_binaries(kind: pa.DataType, extension: str, values: list[bytes | None], start: int, cut: int) -> None:
    check(node(BasicType.BINARY, extension=extension), pa.array(values, pa.binary()).cast(kind)[start:], cut)


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
@given(data=st.data(), cut=CUTS)
def test_fixed_sizes(field: SchemaNode, size: int, data: st.DataObject, cut: int) -> None:
    values = data.draw(st.lists(st.none() | st.binary(min_size=size, max_size=size), max_size=10))
    check(field, pa.array(values, pa.binary(size)), cut)


def test_many_distinct_values_have_no_filter() -> None:
    found = check(STRING, pa.array([str(i) for i in range(1025)] * 2), 1000)
    assert found.bloom_filter is None
    assert found.cardinality is not None
    assert check(STRING, pa.array([str(i) for i in range(1024)] * 2), 1000).bloom_filter is not None


@pytest.mark.slow
def test_values_that_outgrow_a_dictionary() -> None:
    """Some statistics come from the entries of a dictionary, the rest from the values behind it."""
    few = pa.array(["a", None, "bcd", "\u00e9"] * 20_000)
    many = pa.array([f"value {at * 7919}" for at in range(140_000)])
    assert noted(STRING, few, many) == collect(pa.concat_arrays([few, many]), STRING)


LISTS = [pa.list_(pa.int8()), pa.large_list(pa.int8()), pa.list_view(pa.int8()), pa.large_list_view(pa.int8())]


@pytest.mark.parametrize("kind", [*LISTS, pa.map_(pa.int8(), pa.int8())], ids=str)
@given(lengths=st.lists(st.none() | st.integers(0, 4), max_size=20), start=st.integers(0, 2), cut=CUTS)
def test_lists_and_maps(kind: pa.DataType, lengths: list[int | None], start: int, cut: int) -> None:
    item: Any = (1, 2) if pa.types.is_map(kind) else 1
    array = pa.array([None if length is None else [item] * length for length in lengths], kind)
    check(node_of(kind), array[start:], cut)


@pytest.mark.parametrize(
    ("kind", "value"),
    [(pa.struct([("a", pa.int8())]), {"a": 1}), (pa.list_(pa.int8(), 2), [1, 2])],
    ids=["struct", "fixed_size_list"],
)
@pytest.mark.parametrize("valid", [[], [False] * 3, [True] * 9, [True] * 8 + [False]])
def test_structs_and_fixed_lists(kind: pa.DataType, value: object, valid: list[bool]) -> None:
    array = pa.array([value if here else None for here in valid], kind)
    found = check(node_of(kind), array, 4)
    bitmap = math.ceil(len(valid) / 8) if True in valid and False in valid else 0
    assert found == FieldStatistics(position_count=len(valid), null_count=valid.count(False), raw_data_size=bitmap)


def test_units_are_only_counted() -> None:
    assert check(node(BasicType.UNIT), pa.nulls(5), 2) == FieldStatistics(position_count=5)


def test_the_plain_profile_keeps_filters_of_guids_only() -> None:
    texts, guids = pa.array(["a", "b"]), pa.array([b"a" * 16], pa.binary(16))
    assert noted(STRING, texts, profile="plain").bloom_filter is None
    guid = node(BasicType.GUID, fixed_size=16)
    assert noted(guid, guids, profile="plain") == collect(guids, guid)


def test_a_literal_is_probed_by_its_bytes() -> None:
    found = noted(STRING, pa.array(["timeout", "refused"])).bloom_filter
    assert found is not None
    assert bloom.probe(found.data, hash_value(b"timeout", found.hash_seed))
    assert not bloom.probe(found.data, hash_value(b"absent", found.hash_seed))


def test_decimal_bounds_are_the_stored_bytes() -> None:
    rows = [from_decimal(Decimal(text)) for text in ("1.0", "1.00", "-7")]
    stats = noted(DECIMALS, pa.array(rows, pa.binary(16))).range_stats
    assert stats is not None
    assert stats.max is not None
    assert stats.max.value == rows[0]
