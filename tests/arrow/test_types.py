"""Arrow types in and out: each is stored as the table of types says, and comes back exactly as it was."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai.arrow import SCHEMA_PROPERTY, schema_nodes
from amudai.types import BasicType, SchemaNode
from tests.forge import (
    Column,
    Forge,
    binaries,
    booleans,
    constants,
    datetimes,
    decimals,
    dictionary,
    fixed_lists,
    guids,
    lists,
    maps,
    missing,
    nodes_of,
    numbers,
    open_forged,
    strings,
    structs,
    timespans,
    unions,
    units,
)
from tests.forge.decimal_table import decimal_bytes

EPOCH = 621_355_968_000_000_000
TICKS = {"s": 10_000_000, "ms": 10_000, "us": 10, "ns": None}


@dataclass
class Case:
    """An Arrow type, the column it is stored as, and values of it."""

    kind: pa.DataType
    column: Column
    values: list[Any]


class Celsius(pa.ExtensionType):  # type: ignore[misc]
    """An extension type that this process knows."""

    def __init__(self) -> None:
        super().__init__(pa.float32(), "test.celsius")

    def __arrow_ext_serialize__(self) -> bytes:
        return b"degrees"

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> Celsius:
        assert serialized == b"degrees"
        return cls()


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    pa.register_extension_type(Celsius())
    yield
    pa.unregister_extension_type("test.celsius")


def integers(dtype: str, *values: int | None) -> tuple[Column, list[Any]]:
    return numbers(values, dtype), list(values)


def moment(unit: str, count: int) -> int:
    """`count` units after 1970, in ticks."""
    return EPOCH + (count // 100 if unit == "ns" else count * TICKS[unit])  # type: ignore[operator]


TEXTS = ["", None, "naïve ✓", "x" * 40]
BYTES = [b"", None, b"\xff\x00", b"y" * 40]
ID = uuid.UUID("01020304-0506-0708-1020-304050607080")
HALVES = [-1.5, None, 0.0, 65504.0]
INTERVALS = [pa.MonthDayNano([1, -2, 3]), None, pa.MonthDayNano([-12, 31, -(1 << 62)])]
MONEY = [Decimal("2.50"), None, Decimal("-19.99"), Decimal("10.00")]


def money() -> Column:
    return decimals(decimal_bytes("2.50", None, "-19.99", "1E+1"))


def little_endian(size: int, scale: int, values: Sequence[Decimal | None]) -> Column:
    """Unscaled integers in two's complement, as Arrow lays decimals out."""
    stored = [
        None if value is None else int(value.scaleb(scale)).to_bytes(size, "little", signed=True) for value in values
    ]
    return binaries(stored, fixed_size=size)


def half_bits() -> Column:
    stored = [None if value is None else int(np.float16(value).view(np.uint16)) for value in HALVES]
    return numbers(stored, "u2")


def sparse() -> Column:
    return unions([0, 1, 1], [("n", numbers([5, 0, 0], "i8")), ("s", strings(["", "x", None]))])


def dense() -> Column:
    return unions([1, 0, 1], [("n", numbers([7], "i8")), ("s", strings([None, "x"]))], places=[1, 0, 0])


UNION_FIELDS = [pa.field("n", pa.int64(), nullable=False), pa.field("s", pa.string(), metadata={"k": "v"})]

CASES: dict[str, Case] = {
    "null": Case(pa.null(), units(3), [None] * 3),
    "bool": Case(pa.bool_(), booleans([True, None, False]), [True, None, False]),
    "int8": Case(pa.int8(), *integers("i1", -128, None, 127)),
    "int16": Case(pa.int16(), *integers("i2", -(1 << 15), None, 5)),
    "int32": Case(pa.int32(), *integers("i4", -(1 << 31), None, 5)),
    "int64": Case(pa.int64(), *integers("i8", -(1 << 63), None, 5)),
    "uint8": Case(pa.uint8(), *integers("u1", 255, None)),
    "uint16": Case(pa.uint16(), *integers("u2", 65535, None)),
    "uint32": Case(pa.uint32(), *integers("u4", (1 << 32) - 1, None)),
    "uint64": Case(pa.uint64(), *integers("u8", (1 << 64) - 1, None)),
    "float16": Case(pa.float16(), half_bits(), HALVES),
    "float32": Case(pa.float32(), numbers([1.5, None], "f4"), [1.5, None]),
    "float64": Case(pa.float64(), numbers([1.1, None], "f8"), [1.1, None]),
    "string": Case(pa.string(), strings(TEXTS), TEXTS),
    "large_string": Case(pa.large_string(), strings(TEXTS), TEXTS),
    "string_view": Case(pa.string_view(), strings(TEXTS), TEXTS),
    "binary": Case(pa.binary(), binaries(BYTES), BYTES),
    "large_binary": Case(pa.large_binary(), binaries(BYTES), BYTES),
    "binary_view": Case(pa.binary_view(), binaries(BYTES), BYTES),
    "fixed_size_binary": Case(pa.binary(3), binaries([b"abc", None], fixed_size=3), [b"abc", None]),
    "time32[s]": Case(pa.time32("s"), numbers([0, None, 86_399], "i4"), [0, None, 86_399]),
    "time32[ms]": Case(pa.time32("ms"), numbers([1, None], "i4"), [1, None]),
    "time64[us]": Case(pa.time64("us"), numbers([1, None], "i8"), [1, None]),
    "time64[ns]": Case(pa.time64("ns"), numbers([86_399_999_999_999, None], "i8"), [86_399_999_999_999, None]),
    "date32": Case(pa.date32(), datetimes([EPOCH + 864_000_000_000, None, EPOCH - 864_000_000_000]), [1, None, -1]),
    "date64": Case(pa.date64(), datetimes([EPOCH + 864_000_000_000, None]), [86_400_000, None]),
    "month_day_nano": Case(
        pa.month_day_nano_interval(),
        binaries([None if each is None else struct.pack("<iiq", *each) for each in INTERVALS], fixed_size=16),
        INTERVALS,
    ),
    "decimal32": Case(pa.decimal32(9, 2), money(), MONEY),
    "decimal64": Case(pa.decimal64(18, 2), money(), MONEY),
    "decimal128": Case(pa.decimal128(34, 2), money(), MONEY),
    "decimal256": Case(pa.decimal256(34, 2), money(), MONEY),
    "decimal128, many digits": Case(
        pa.decimal128(38, 5),
        little_endian(16, 5, [Decimal("-1.25"), None, Decimal(10**32)]),
        [Decimal("-1.25000"), None, Decimal(10**32)],
    ),
    "decimal256, many digits": Case(
        pa.decimal256(76, 2), little_endian(32, 2, [Decimal(-(10**60)), None]), [Decimal(-(10**60)), None]
    ),
    "decimal with a negative scale": Case(
        pa.decimal128(20, -1), decimals(decimal_bytes("1E+1", None)), [Decimal("1E+1"), None]
    ),
    "uuid": Case(pa.uuid(), guids([ID.bytes, None]), [ID, None]),
    "json": Case(pa.json_(pa.string()), strings(["[1]", None]).labelled("KustoDynamic"), ["[1]", None]),
    "json over large_string": Case(
        pa.json_(pa.large_string()), strings(["[1]", None]).labelled("KustoDynamic"), ["[1]", None]
    ),
    "json over string_view": Case(
        pa.json_(pa.string_view()), strings(["[1]", None]).labelled("KustoDynamic"), ["[1]", None]
    ),
    "bool8": Case(pa.bool8(), numbers([1, None, 0], "i1").labelled("arrow.bool8"), [True, None, False]),
    "opaque": Case(pa.opaque(pa.binary(), "geometry", "postgis"), binaries(BYTES).labelled("arrow.opaque"), BYTES),
    "an extension type of ours": Case(Celsius(), numbers([21.5, None], "f4").labelled("test.celsius"), [21.5, None]),
    "dictionary of strings": Case(pa.dictionary(pa.int8(), pa.string()), strings(["a", None, "a"]), ["a", None, "a"]),
    "dictionary of large strings": Case(
        pa.dictionary(pa.int32(), pa.large_string()), dictionary(["a", None, "a"]), ["a", None, "a"]
    ),
    "ordered dictionary": Case(pa.dictionary(pa.uint16(), pa.string(), ordered=True), strings(["b", "a"]), ["b", "a"]),
    "dictionary of integers": Case(pa.dictionary(pa.int64(), pa.int16()), *integers("i2", 5, None, 5)),
    "dictionary of timestamps": Case(
        pa.dictionary(pa.int32(), pa.timestamp("us")), datetimes([EPOCH + 10, None]), [1, None]
    ),
    "dictionary of lists": Case(
        pa.dictionary(pa.int8(), pa.list_(pa.int8())),
        lists([1, None, 2], numbers([1, 7, 7], "i1")),
        [[1], None, [7, 7]],
    ),
    "run-end encoded lists": Case(
        pa.run_end_encoded(pa.int16(), pa.list_(pa.int8())),
        lists([1, None, 2], numbers([1, 7, 7], "i1")),
        [[1], None, [7, 7]],
    ),
    "run-end encoded strings": Case(
        pa.run_end_encoded(pa.int32(), pa.string()), strings(["a", "a", None, None]), ["a", "a", None, None]
    ),
    "run-end encoded integers": Case(pa.run_end_encoded(pa.int16(), pa.int64()), *integers("i8", 1, 1, None, 2)),
    "list": Case(pa.list_(pa.int8()), lists([1, None, 2], numbers([1, None, 3], "i1")), [[1], None, [None, 3]]),
    "list with a named, required item": Case(
        pa.list_(pa.field("element", pa.int8(), nullable=False, metadata={"unit": "m"})),
        lists([1, None, 2], numbers([1, 2, 3], "i1")),
        [[1], None, [2, 3]],
    ),
    "large_list": Case(pa.large_list(pa.string()), lists([1, None], strings(["a"])), [["a"], None]),
    "list_view": Case(pa.list_view(pa.int8()), lists([1, None, 2], numbers([1, 2, 3], "i1")), [[1], None, [2, 3]]),
    "large_list_view": Case(
        pa.large_list_view(pa.int8()), lists([1, None, 2], numbers([1, 2, 3], "i1")), [[1], None, [2, 3]]
    ),
    "fixed_size_list": Case(
        pa.list_(pa.float32(), 2), fixed_lists(2, numbers([1.0, 2.0, 3.0, None], "f4")), [[1.0, 2.0], [3.0, None]]
    ),
    "struct": Case(
        pa.struct(
            [pa.field("a", pa.int64(), nullable=False, metadata={"k": "v"}), pa.field("b", pa.large_string())],
        ),
        structs({"a": numbers([1, 2], "i8"), "b": strings(["x", None])}, present=[True, False]),
        [{"a": 1, "b": "x"}, None],
    ),
    "struct without members": Case(pa.struct([]), structs({}, count=2), [{}, {}]),
    "map": Case(
        pa.map_(pa.string(), pa.int64()),
        maps([1, None], strings(["k"]), numbers([None], "i8")),
        [[("k", None)], None],
    ),
    "map with sorted keys": Case(
        pa.map_(pa.string(), pa.field("value", pa.int64(), nullable=False), keys_sorted=True),
        maps([2], strings(["a", "b"]), numbers([1, 2], "i8")),
        [[("a", 1), ("b", 2)]],
    ),
    "sparse union": Case(pa.sparse_union(UNION_FIELDS), sparse(), [5, "x", None]),
    "sparse union with codes": Case(pa.sparse_union(UNION_FIELDS, type_codes=[5, 9]), sparse(), [5, "x", None]),
    "dense union": Case(pa.dense_union(UNION_FIELDS), dense(), ["x", 7, None]),
    "dense union with codes": Case(pa.dense_union(UNION_FIELDS, type_codes=[9, 4]), dense(), ["x", 7, None]),
    "dense union, stored without places": Case(pa.dense_union(UNION_FIELDS), sparse(), [5, "x", None]),
    "sparse union, stored with places": Case(pa.sparse_union(UNION_FIELDS), dense(), ["x", 7, None]),
    "everything below everything": Case(
        pa.struct(
            [
                pa.field("ids", pa.large_list(pa.field("item", pa.uuid(), nullable=False))),
                pa.field("tags", pa.map_(pa.string_view(), pa.list_view(pa.dictionary(pa.int8(), pa.string())))),
                pa.field("at", pa.list_(pa.timestamp("ms", "UTC"), 1)),
            ]
        ),
        structs(
            {
                "ids": lists([1, 0], guids([ID.bytes])),
                "tags": maps([1, None], strings(["k"]), lists([2], strings(["a", "a"]))),
                "at": fixed_lists(1, datetimes([EPOCH, None])),
            }
        ),
        [{"ids": [ID], "tags": [("k", ["a", "a"])], "at": [0]}, {"ids": [], "tags": None, "at": [None]}],
    ),
}
for unit in TICKS:
    count = 1_700_000_000 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit] + (100 if unit == "ns" else 1)
    for zone in (None, "UTC", "Europe/Oslo"):
        CASES[f"timestamp[{unit}, {zone}]"] = Case(
            pa.timestamp(unit, zone),
            datetimes([moment(unit, count), None, moment(unit, -count)]),
            [count, None, -count],
        )
    ticks = moment(unit, count) - EPOCH
    CASES[f"duration[{unit}]"] = Case(pa.duration(unit), timespans([ticks, None, -ticks]), [count, None, -count])


def kept(column: Column, field: pa.Field, *more: Column, metadata: dict[str, str] | None = None) -> amudai.Shard:
    """A shard that was written from this Arrow field."""
    content = pa.schema([field], metadata=metadata).serialize().to_pybytes()
    stripes = [{field.name: each} for each in (column, *more)]
    return open_forged(Forge.of(*stripes, properties={SCHEMA_PROPERTY: content}))


def plainly(value: Any) -> Any:
    """Values as the cases state them: times as numbers, wherever they are."""
    if isinstance(value, pa.ChunkedArray):
        return [plainly(each) for chunk in value.chunks for each in chunk]
    if isinstance(value, pa.ExtensionScalar) and value.is_valid and value.type.extension_name == "arrow.bool8":
        return bool(value.value.as_py())
    if isinstance(value, pa.ExtensionScalar) and value.is_valid and value.type.extension_name == "arrow.uuid":
        return value.as_py()
    if isinstance(value, pa.ExtensionScalar):
        return None if not value.is_valid else plainly(value.value)
    if not value.is_valid:
        return None
    if isinstance(value, pa.DictionaryScalar | pa.UnionScalar):
        return plainly(value.value)
    if pa.types.is_temporal(value.type) and not pa.types.is_interval(value.type):
        return value.value
    if isinstance(value, pa.MapScalar):
        return [(plainly(entry["key"]), plainly(_second(entry))) for entry in value.values]
    if isinstance(value, pa.StructScalar):
        return {name: plainly(value[name]) for name in value}
    if isinstance(value, pa.ListScalar):
        return [plainly(item) for item in value.values]
    return value.as_py()


def _second(entry: pa.StructScalar) -> pa.Scalar:
    return entry[list(entry)[1]]


# ---- in: how each type is stored ----


def unnamed(node: SchemaNode) -> tuple[Any, ...]:
    """The properties of a node that decide how it is stored. Names below lists and maps do not matter."""
    named = node.basic_type in (BasicType.STRUCT, BasicType.UNION)
    children = [(child.name if named else "", unnamed(child)) for child in node.children]
    return node.schema_id, node.basic_type, node.signed, node.fixed_size, node.extension, children


@pytest.mark.parametrize("name", CASES)
def test_stored_as_the_table_says(name: str) -> None:
    case = CASES[name]
    (found,) = schema_nodes([pa.field("c", case.kind)])
    (expected,) = nodes_of({"c": case.column})
    assert found.name == "c"
    assert unnamed(found) == unnamed(expected)


def test_ids_count_depth_first() -> None:
    fields = [
        pa.field("id", pa.int64()),
        pa.field("p", pa.struct([("a", pa.string()), ("l", pa.list_(pa.uint32()))])),
        pa.field("m", pa.map_(pa.string(), pa.decimal128(10, 2))),
    ]
    found = schema_nodes(fields)
    below = [[node.schema_id, *(child.schema_id for child in node.children)] for node in found]
    assert below == [[0], [1, 2, 3], [5, 6, 7]]
    assert found[1].children[1].children[0].schema_id == 4
    assert [str(node) for node in found] == [
        "int64",
        "struct<a: string, l: list<uint32>>",
        "map<string, decimal>",
    ]


# ---- out: what was kept comes back ----


@pytest.mark.parametrize("name", CASES)
def test_restored_exactly(name: str) -> None:
    case = CASES[name]
    field = pa.field("c", case.kind, nullable=pa.types.is_null(case.kind), metadata={"unit": "m", "note": "ä"})
    shard = kept(case.column, field, metadata={"origin": "here"})
    assert shard.schema.field("c").equals(field, check_metadata=True)
    assert shard.schema.metadata == {b"origin": b"here"}
    table = shard.read()
    table.validate(full=True)
    assert table.schema.field("c").equals(field, check_metadata=True)
    assert table["c"].type == case.kind
    assert plainly(table["c"]) == case.values
    assert SCHEMA_PROPERTY not in shard.properties


@pytest.mark.parametrize("name", CASES)
def test_restored_in_slices_and_single_rows(name: str) -> None:
    case = CASES[name]
    shard = kept(case.column, pa.field("c", case.kind), case.column)
    values = case.values * 2
    last = len(values) - 1
    for rows in (slice(1, last), slice(0, 0), slice(last, None)):
        found = shard.read(rows=rows)["c"]
        found.validate(full=True)
        assert plainly(found) == values[rows]
    for taken in ([last, 0, last], [0], [1, 0]):
        found = shard.take(taken)["c"]
        found.validate(full=True)
        assert found.type == case.kind
        assert plainly(found) == [values[row] for row in taken]
    batches = list(shard.to_reader(batch_rows=1))
    assert [batch.num_rows for batch in batches] == [1] * len(values)
    assert all(batch.schema.field("c").type == case.kind for batch in batches)


@pytest.mark.parametrize("name", CASES)
def test_restored_where_a_stripe_lacks_the_column(name: str) -> None:
    case = CASES[name]
    rows = numbers([0] * len(case.values), "i8")
    content = pa.schema([pa.field("rows", pa.int64()), pa.field("c", case.kind)]).serialize().to_pybytes()
    forge = Forge.of(
        {"rows": rows, "c": missing(case.column)},
        {"rows": rows, "c": case.column},
        properties={SCHEMA_PROPERTY: content},
    )
    found = open_forged(forge).read()["c"]
    found.validate(full=True)
    assert found.type == case.kind
    assert plainly(found) == [None] * len(case.values) + case.values


CONSTANT_TYPES = {
    "large_string": (pa.large_string(), strings([]), "x", "x"),
    "string_view": (pa.string_view(), strings([]), "x", "x"),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), strings([]), "x", "x"),
    "run-end encoded": (pa.run_end_encoded(pa.int32(), pa.string()), strings([]), "x", "x"),
    "time64": (pa.time64("us"), numbers([], "i8"), 5, 5),
    "duration": (pa.duration("s"), timespans([]), 20_000_000, 2),
    "uuid": (pa.uuid(), guids([]), ID.bytes, ID),
    "json": (pa.json_(pa.large_string()), strings([]).labelled("KustoDynamic"), "{}", "{}"),
    "extension": (Celsius(), numbers([], "f4"), 0.5, 0.5),
}


@pytest.mark.parametrize("name", CONSTANT_TYPES)
def test_constants_are_restored_too(name: str) -> None:
    kind, like, stored, expected = CONSTANT_TYPES[name]
    for value, values in ((stored, [expected] * 3), (None, [None] * 3)):
        found = kept(constants(like, 3, value), pa.field("c", kind)).read()["c"]
        found.validate(full=True)
        assert found.type == kind
        assert plainly(found) == values


def test_an_extension_that_is_not_registered_keeps_its_metadata() -> None:
    metadata = {"ARROW:extension:name": "acme.money", "ARROW:extension:metadata": '{"currency": "NOK"}'}
    field = pa.field("c", pa.int64(), metadata=metadata)
    shard = kept(numbers([5, None], "i8"), field)
    assert shard.read().schema.field("c").equals(field, check_metadata=True)
    assert shard.read()["c"].to_pylist() == [5, None]


def test_an_extension_of_somebody_else_becomes_metadata() -> None:
    field = pa.field("c", Celsius())
    content = pa.schema([field]).serialize().to_pybytes()
    pa.unregister_extension_type("test.celsius")
    try:
        shard = open_forged(Forge.of({"c": numbers([21.5], "f4")}, properties={SCHEMA_PROPERTY: content}))
        found = shard.read().schema.field("c")
    finally:
        pa.register_extension_type(Celsius())
    assert found.type == pa.float32()
    assert found.metadata[b"ARROW:extension:name"] == b"test.celsius"
    assert found.metadata[b"ARROW:extension:metadata"] == b"degrees"


def test_raw_integers_of_times_are_restored() -> None:
    # The option for times that ticks of 100 ns cannot hold keeps the integers of the Arrow type.
    found = kept(numbers([1, None, -(1 << 63)], "i8"), pa.field("c", pa.timestamp("ns", "UTC"))).read()["c"]
    assert plainly(found) == [1, None, -(1 << 63)]
    days = kept(numbers([-(1 << 31), 5], "i4"), pa.field("c", pa.date32())).read()["c"]
    assert days.cast(pa.int32()).to_pylist() == [-(1 << 31), 5]
    assert days[1].as_py() == date(1970, 1, 6)


def test_floats_of_16_bits_have_no_bounds_of_their_bits() -> None:
    shard = kept(half_bits(), pa.field("c", pa.float16()))
    assert (shard["c"].stats.min, shard["c"].stats.max) == (None, None)
    assert shard["c"].stats.null_count == 1


def test_types_of_members_are_those_that_were_kept() -> None:
    case = CASES["everything below everything"]
    shard = kept(case.column, pa.field("c", case.kind))
    assert shard["c.ids"].type == pa.large_list(pa.field("item", pa.uuid(), nullable=False))
    assert shard["c.ids.item"].type == pa.uuid()
    assert shard["c.tags.key"].type == pa.string_view()
    assert shard["c.tags.value"].type == pa.list_view(pa.dictionary(pa.int8(), pa.string()))
    assert shard["c.at.item"].type == pa.timestamp("ms", "UTC")


# ---- more than an array of the type can count ----


def test_more_values_than_a_dictionary_has_codes_come_in_several_chunks() -> None:
    values = [f"v{i % 300}" for i in range(600)]
    kind = pa.dictionary(pa.int8(), pa.string())
    shard = kept(strings(values), pa.field("c", kind))
    found = shard.read()["c"]
    found.validate(full=True)
    assert found.type == kind
    assert found.to_pylist() == values
    assert all(len(chunk.dictionary) <= 128 for chunk in found.chunks)
    assert [value for batch in shard.to_reader() for value in batch["c"].to_pylist()] == values
    assert shard.take([599, 0])["c"].to_pylist() == ["v299", "v0"]


def test_more_lists_than_a_dictionary_can_count_come_in_several_chunks() -> None:
    kind = pa.dictionary(pa.int8(), pa.list_(pa.int8()))
    shard = kept(lists([1] * 300, numbers([at % 100 for at in range(300)], "i1")), pa.field("c", kind))
    found = shard.read()["c"]
    found.validate(full=True)
    assert found.type == kind
    assert found.to_pylist() == [[at % 100] for at in range(300)]


def test_more_rows_than_a_run_end_can_count_come_in_several_chunks() -> None:
    kind = pa.run_end_encoded(pa.int16(), pa.int64())
    shard = kept(constants(numbers([], "i8"), 70_000, 5), pa.field("c", kind))
    found = shard.read()["c"]
    found.validate(full=True)
    assert (len(found), found.type) == (70_000, kind)
    assert {value.as_py() for chunk in found.chunks for value in chunk.values} == {5}
    assert sum(batch.num_rows for batch in shard.to_reader()) == 70_000


def test_shards_of_one_schema_keep_types_of_their_own() -> None:
    column = numbers([1], "i8")
    assert kept(column, pa.field("c", pa.int64())).schema.field("c").type == pa.int64()
    assert kept(column, pa.field("c", pa.timestamp("us"))).schema.field("c").type == pa.timestamp("us")
    assert kept(column, pa.field("c", pa.int64(), metadata={"a": "b"})).schema.field("c").metadata == {b"a": b"b"}
    assert kept(column, pa.field("c", pa.int64())).schema.field("c").metadata is None


# ---- a kept schema that does not fit ----


@pytest.mark.parametrize(
    "content",
    [b"", b"garbage", "text", 5, pa.schema([("c", pa.int64())]).serialize().to_pybytes()[:40]],
    ids=["empty", "garbage", "text", "number", "cut"],
)
def test_a_kept_schema_that_is_none(content: object) -> None:
    shard = open_forged(Forge.of({"c": numbers([1], "i8")}, properties={SCHEMA_PROPERTY: content}))
    with pytest.raises(amudai.CorruptedData, match=r"property amudai\.arrow\.schema: expected"):
        shard.read()


@pytest.mark.parametrize(
    "schema",
    [
        pa.schema([("other", pa.int64())]),
        pa.schema([("c", pa.int64()), ("d", pa.int64())]),
        pa.schema([]),
    ],
)
def test_a_kept_schema_of_other_columns(schema: pa.Schema) -> None:
    properties = {SCHEMA_PROPERTY: schema.serialize().to_pybytes()}
    shard = open_forged(Forge.of({"c": numbers([1], "i8")}, properties=properties))
    with pytest.raises(amudai.CorruptedData, match="kept Arrow schema: expected the columns of the shard"):
        shard.read()


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (numbers([1], "i8"), pa.int32()),
        (numbers([1], "i8"), pa.uint64()),
        (numbers([1], "i8"), pa.float64()),
        (numbers([1], "i8"), pa.string()),
        (numbers([1], "i8"), pa.list_(pa.int64())),
        (numbers([1.0], "f8"), pa.int64()),
        (numbers([1.0], "f8"), pa.timestamp("us")),
        (numbers([1], "u4"), pa.float32()),
        (numbers([1], "u4"), pa.time32("s")),
        (booleans([True]), pa.int8()),
        (strings(["a"]), pa.int64()),
        (binaries([b"a"]), pa.string()),
        (binaries([b"ab"], fixed_size=2), pa.binary(3)),
        (binaries([b"ab"], fixed_size=2), pa.int16()),
        (guids([ID.bytes]), pa.string()),
        (datetimes([EPOCH]), pa.duration("us")),
        (datetimes([EPOCH]), pa.float64()),
        (lists([1], numbers([1], "i8")), pa.int64()),
        (lists([1], numbers([1], "i8")), pa.list_(pa.int64(), 1)),
        (lists([1], numbers([1], "i8")), pa.list_(pa.string())),
        (fixed_lists(2, numbers([1, 2], "i8")), pa.list_(pa.int64(), 3)),
        (fixed_lists(2, numbers([1, 2], "i8")), pa.list_(pa.int64())),
        (structs({"a": numbers([1], "i8")}), pa.struct([("b", pa.int64())])),
        (structs({"a": numbers([1], "i8")}), pa.struct([("a", pa.int64()), ("b", pa.int64())])),
        (structs({"a": numbers([1], "i8")}), pa.int64()),
        (maps([1], strings(["a"]), numbers([1], "i8")), pa.list_(pa.int64())),
        (unions([0], [("a", numbers([1], "i8"))]), pa.int64()),
        (unions([0], [("a", numbers([1], "i8"))]), pa.sparse_union([])),
    ],
)
def test_a_type_that_cannot_hold_the_stored_values_is_refused(column: Column, kind: pa.DataType) -> None:
    """Bits are never taken for something else: not by a kept schema, not when a caller asks for it."""
    with pytest.raises(amudai.CorruptedData, match=r"kept Arrow schema: type: expected") as caught:
        kept(column, pa.field("c", kind)).read()
    assert str(caught.value.place["field"]).startswith("c")
    with pytest.raises(amudai.InvalidArgument) as asked:
        open_forged(Forge.of({"c": column}), schema={"c": kind}).read()
    assert asked.value.message.startswith("type: expected")
    assert str(asked.value.place["field"]).startswith("c")


def test_members_of_a_struct_are_found_by_name() -> None:
    column = structs({"a": numbers([1], "i8"), "b": numbers([2], "i8")})
    swapped = pa.struct([("b", pa.int64()), ("a", pa.int64())])
    assert open_forged(Forge.of({"c": column}), schema={"c": swapped}).read()["c"].to_pylist() == [{"b": 2, "a": 1}]
    fewer = pa.struct([("b", pa.int64())])
    assert open_forged(Forge.of({"c": column}), schema={"c": fewer}).read()["c"].to_pylist() == [{"b": 2}]
