"""Every type of the format: what is stored comes out, with its natural Arrow type, however it is asked for."""

from __future__ import annotations

import struct
import uuid
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import amudai
from amudai.types import BasicType
from tests.forge import (
    BufferKind,
    Column,
    Forge,
    any_value,
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
    numbers,
    open_forged,
    strings,
    structs,
    timespans,
    unions,
    units,
)
from tests.forge.columns import bits_buffer
from tests.forge.decimal_table import DECIMALS, decimal_bytes
from tests.oracle import block, presence
from tests.oracle.binary import block_dictionary, fsst, lz4, zstd
from tests.oracle.binary import single_value as binary_single
from tests.oracle.numeric import delta, ffor, plain

EPOCH = 621_355_968_000_000_000
SECOND = 10_000_000

NAN = bytes.fromhex(DECIMALS["NaN"])


def read(column: Column, **options: Any) -> pa.Array:
    return open_forged(Forge.of({"c": column}), **options).read()["c"].combine_chunks()


@dataclass
class Case:
    """A column, and what reading it gives."""

    column: Column
    kind: pa.DataType
    values: list[Any]


GUIDS = [uuid.UUID(int=0), uuid.UUID("01020304-0506-0708-1020-304050607080")]

CASES: dict[str, Case] = {
    "unit": Case(units(4), pa.null(), [None] * 4),
    "boolean": Case(
        booleans([True, None, False, True, None, False, True, False, True, True, None]),
        pa.bool_(),
        [True, None, False, True, None, False, True, False, True, True, None],
    ),
    "string": Case(strings(["", None, "naïve ✓", "tail"]), pa.string(), ["", None, "naïve ✓", "tail"]),
    "string in blocks": Case(
        strings([f"row {i}" if i % 3 else None for i in range(20)], [lz4.encode, zstd.encode, fsst.encode], 7),
        pa.string(),
        [f"row {i}" if i % 3 else None for i in range(20)],
    ),
    "string of one value": Case(
        strings(["same", None, "same"], lambda v, n: binary_single.encode([b"same"], n)),
        pa.string(),
        ["same", None, "same"],
    ),
    "string in a block dictionary": Case(
        strings(["a", None, "b", "a"], block_dictionary.encode, nulls_to_encoder=True),
        pa.string(),
        ["a", None, "b", "a"],
    ),
    "string in a dictionary": Case(dictionary(["a", None, "b", "a"]), pa.string(), ["a", None, "b", "a"]),
    "binary": Case(binaries([b"\xff\x00", None, b""]), pa.binary(), [b"\xff\x00", None, b""]),
    "binary in a dictionary": Case(
        dictionary([b"\xff", b"", None], like=binaries([])), pa.binary(), [b"\xff", b"", None]
    ),
    "fixed size binary": Case(binaries([b"abc", None, b"xyz"], fixed_size=3), pa.binary(3), [b"abc", None, b"xyz"]),
    "fixed size binary in a dictionary": Case(
        dictionary([b"abc", None, b"abc"], like=binaries([], fixed_size=3)), pa.binary(3), [b"abc", None, b"abc"]
    ),
    "guid": Case(guids([GUIDS[0].bytes, None, GUIDS[1].bytes]), pa.uuid(), [GUIDS[0], None, GUIDS[1]]),
    "guid in a dictionary": Case(dictionary([GUIDS[1].bytes, None], like=guids([])), pa.uuid(), [GUIDS[1], None]),
    "decimal": Case(
        decimals(decimal_bytes("0", "7", None, "2.50", "-19.99", "1E+1", "0E-6176")),
        pa.decimal256(76, 38),
        [Decimal(0), Decimal(7), None, Decimal("2.5"), Decimal("-19.99"), Decimal(10), Decimal(0)],
    ),
    "struct": Case(
        structs({"a": numbers([1, 2, 3], "i8"), "b": strings(["x", None, "z"])}, present=[True, True, False]),
        pa.struct([("a", pa.int64()), ("b", pa.string())]),
        [{"a": 1, "b": "x"}, {"a": 2, "b": None}, None],
    ),
    "struct without members": Case(structs({}, present=[True, False]), pa.struct([]), [{}, None]),
    "list": Case(
        lists([2, None, 0, 1], strings(["a", None, "c"])), pa.list_(pa.string()), [["a", None], None, [], ["c"]]
    ),
    "fixed size list": Case(
        fixed_lists(2, numbers([1, None, 3, 4, 5, 6], "i2"), present=[True, False, True]),
        pa.list_(pa.int16(), 2),
        [[1, None], None, [5, 6]],
    ),
    "map": Case(
        maps([1, None, 0, 2], strings(["a", "b", "c"]), numbers([1, None, 3], "u1")),
        pa.map_(pa.string(), pa.uint8()),
        [[("a", 1)], None, [], [("b", None), ("c", 3)]],
    ),
    "sparse union": Case(
        unions([0, 1, 1, 0], [("n", numbers([5, 0, 0, None], "i8")), ("s", strings(["", "x", "y", ""]))]),
        pa.sparse_union([pa.field("n", pa.int64()), pa.field("s", pa.string())]),
        [5, "x", "y", None],
    ),
    "union of unnamed variants": Case(
        unions([1, 0], [("", numbers([0, 5], "i8")), ("", strings(["x", ""]))]),
        pa.sparse_union([pa.field("", pa.int64()), pa.field("", pa.string())]),
        ["x", 5],
    ),
    "list of structs of maps": Case(
        lists(
            [2, 0, None, 1],
            structs(
                {
                    "id": numbers([1, 2, 3], "i4"),
                    "tags": maps(
                        [2, None, 1], strings(["a", "b", "c"]), fixed_lists(2, numbers([1, 2, 3, 4, 5, 6], "u1"))
                    ),
                },
                present=[True, False, True],
            ),
        ),
        pa.list_(pa.struct([("id", pa.int32()), ("tags", pa.map_(pa.string(), pa.list_(pa.uint8(), 2)))])),
        [[{"id": 1, "tags": [("a", [1, 2]), ("b", [3, 4])]}, None], [], None, [{"id": 3, "tags": [("c", [5, 6])]}]],
    ),
    "lists of lists": Case(
        lists([2, 1], lists([1, None, 2], lists([0, 2, 1], numbers([7, 8, 9], "i8")))),
        pa.list_(pa.list_(pa.list_(pa.int64()))),
        [[[[]], None], [[[7, 8], [9]]]],
    ),
    "union in a struct in a list": Case(
        lists(
            [1, 2],
            structs({"u": unions([1, 0, 1], [("a", numbers([0, 6, 0], "i8")), ("b", strings(["x", "", "z"]))])}),
        ),
        pa.list_(
            pa.struct([("u", pa.sparse_union([pa.field("a", pa.int64()), pa.field("b", pa.string())]))]),
        ),
        [[{"u": "x"}], [{"u": 6}, {"u": "z"}]],
    ),
    "time span": Case(
        timespans([0, None, -900_000_000, 92_233_720_368_547_758]),
        pa.duration("ns"),
        [0, None, -90_000_000_000, 9_223_372_036_854_775_800],
    ),
    "date and time": Case(
        datetimes([EPOCH, None, 638_355_968_001_234_567]),
        pa.timestamp("ns", "UTC"),
        [0, None, 1_700_000_000_123_456_700],
    ),
    "JSON": Case(strings(['{"a": 1}', None]).labelled("KustoDynamic"), pa.json_(pa.string()), ['{"a": 1}', None]),
    "dynamic bytes": Case(binaries([b"[2]", None]).labelled("KustoDynamic"), pa.json_(pa.string()), ["[2]", None]),
}
for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
    bits = 8 * int(dtype[1])
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype[0] == "i" else (0, (1 << bits) - 1)
    CASES[f"{'u' * (dtype[0] == 'u')}int{bits}"] = Case(
        numbers([low, None, high, 7, low], dtype),
        pa.from_numpy_dtype(dtype),
        [low, None, high, 7, low],
    )
for dtype in ("f4", "f8"):
    CASES[f"float{8 * int(dtype[1])}"] = Case(
        numbers([1.5, None, -0.0, float("inf")], dtype), pa.from_numpy_dtype(dtype), [1.5, None, -0.0, float("inf")]
    )


def plainly(array: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The values as Python objects; times as their numbers, which Python could not hold."""
    if pa.types.is_temporal(array.type):
        array = array.cast(pa.int64())
    return list(array.to_pylist())


def test_every_basic_type_has_a_case() -> None:
    def below(column: Column) -> set[BasicType]:
        return {column.basic_type}.union(*(below(child) for _, child in column.children))

    assert set().union(*(below(case.column) for case in CASES.values())) == set(BasicType)


@pytest.mark.parametrize("name", CASES)
def test_whole(name: str) -> None:
    case = CASES[name]
    shard = open_forged(Forge.of({"c": case.column}))
    assert shard.schema == pa.schema([pa.field("c", case.kind)])
    found = shard.read()["c"]
    found.validate(full=True)
    assert found.type == case.kind
    assert plainly(found) == case.values
    assert found.null_count == (0 if pa.types.is_union(case.kind) else case.values.count(None))
    assert shard.verify().ok


@pytest.mark.parametrize("name", CASES)
def test_every_slice(name: str) -> None:
    case = CASES[name]
    shard = open_forged(Forge.of({"c": case.column}))
    for start in range(len(case.values) + 1):
        for stop in range(start, len(case.values) + 1):
            found = shard.read(rows=slice(start, stop))["c"]
            found.validate(full=True)
            assert plainly(found) == case.values[start:stop], (start, stop)


@pytest.mark.parametrize("name", CASES)
def test_single_rows_in_any_order(name: str) -> None:
    case = CASES[name]
    shard = open_forged(Forge.of({"c": case.column}))
    last = len(case.values) - 1
    for rows in ([last, 0], [0, 0, last], list(range(0, last + 1, 2)), list(range(last, -1, -1))):
        found = shard.take(rows)["c"]
        found.validate(full=True)
        assert plainly(found) == [case.values[row] for row in rows], rows


@pytest.mark.parametrize("name", CASES)
def test_several_stripes(name: str) -> None:
    case = CASES[name]
    shard = open_forged(Forge.of({"c": case.column}, {"c": case.column}, layout="two-level"))
    assert plainly(shard.read()["c"]) == case.values * 2
    middle = slice(1, 2 * len(case.values) - 1)
    assert plainly(shard.read(rows=middle)["c"]) == (case.values * 2)[middle]


# ---- floats are bits ----

FLOAT_BITS = {
    "f4": [0x80000000, 0x00000001, 0x7FC00001, 0xFFABCDEF, 0x7F800000],
    "f8": [0x8000000000000000, 1, 0x7FF8000000000123, 0xFFF0000000000001, 0xFFF0000000000000],
}


@pytest.mark.parametrize("dtype", FLOAT_BITS)
def test_floats_keep_every_bit(dtype: str) -> None:
    found = read(numbers(FLOAT_BITS[dtype], dtype))
    kept = struct.unpack(f"<5{'I' if dtype == 'f4' else 'Q'}", found.buffers()[1].to_pybytes())
    assert list(kept) == FLOAT_BITS[dtype]


def test_a_constant_float_keeps_its_sign() -> None:
    found = read(constants(numbers([], "f8"), 3, -0.0))
    assert found.buffers()[1].to_pybytes() == 3 * struct.pack("<d", -0.0)


# ---- nulls ----


@pytest.mark.parametrize("kind", [presence.PLAIN, presence.ROARING])
def test_every_form_of_presence(kind: int) -> None:
    values = [None if i % 5 == 0 else i for i in range(1000)]
    assert read(numbers(values, "i8", plain.encode, 300, presence_kind=kind)).to_pylist() == values
    texts = [None if value is None else str(value) for value in values]
    assert read(strings(texts, block_values=300, presence_kind=kind)).to_pylist() == texts


def test_what_null_slots_hold_means_nothing() -> None:
    assert read(numbers([1, None, 3], "i8", filler=-99)).to_pylist() == [1, None, 3]
    assert read(strings(["a", None, "c"], filler=b"unseen")).to_pylist() == ["a", None, "c"]
    assert read(decimals([None, *decimal_bytes("7")], filler=NAN)).to_pylist() == [None, Decimal(7)]
    beyond = read(datetimes([EPOCH, None], filler=(1 << 64) - 1))
    assert beyond.type == pa.timestamp("ns", "UTC")
    assert plainly(beyond) == [0, None]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (numbers([1, 2, None, 4, 5, 6, 7, 8, 9], "i8"), [1, None, None, 4, 5, 6, 7, 8, None]),
        (strings(["a", "b", None, "d", "e", "f", "g", "h", "i"]), ["a", None, None, "d", "e", "f", "g", "h", None]),
    ],
)
def test_a_presence_buffer_of_its_own_marks_nulls_too(column: Column, expected: list[Any]) -> None:
    column.stored.buffers.append(
        bits_buffer(BufferKind.PRESENCE, [True, False, True, True, True, True, True, True, False])
    )
    column.stored.descriptor.null_count = 3
    found = read(column)
    assert found.to_pylist() == expected
    assert found.null_count == 3


def test_null_lists_may_have_items() -> None:
    column = lists([1, 2, 1], numbers([1, 2, 3, 4], "i8"))
    column.stored.buffers.append(bits_buffer(BufferKind.PRESENCE, [True, False, True]))
    column.stored.descriptor.null_count = 1
    shard = open_forged(Forge.of({"c": column}))
    assert shard.read()["c"].to_pylist() == [[1], None, [4]]
    assert shard.take([2, 1])["c"].to_pylist() == [[4], None]


def test_null_structs_hide_the_values_below_them() -> None:
    column = structs({"a": numbers([1, 2, 3], "i8")}, present=[True, False, True])
    found = read(column)
    assert found.to_pylist() == [{"a": 1}, None, {"a": 3}]
    assert found.flatten()[0].to_pylist() == [1, None, 3]


# ---- dense unions ----


def dense() -> Column:
    return unions(
        [0, 1, 0, 1, 0],
        [("n", numbers([10, 20, 30], "i8")), ("s", strings(["a", "b"]))],
        places=[2, 1, 0, 0, 0],
    )


def test_a_union_may_say_where_its_values_are() -> None:
    shard = open_forged(Forge.of({"c": dense()}))
    found = shard.read()["c"]
    found.validate(full=True)
    assert found.to_pylist() == [30, "b", 10, "a", 10]
    assert shard.read(rows=slice(1, 4))["c"].to_pylist() == ["b", 10, "a"]
    assert shard.take([4, 0, 4])["c"].to_pylist() == [10, 30, 10]


def test_a_union_names_only_variants_it_has() -> None:
    column = unions([0, 2], [("n", numbers([1, 2], "i8")), ("s", strings(["a", "b"]))])
    with pytest.raises(amudai.CorruptedData, match="union variant: expected less than 2, found 2"):
        read(column)


def test_a_union_place_beyond_its_variant_is_an_error() -> None:
    column = unions([0, 0], [("n", numbers([1, 2], "i8"))], places=[0, 2])
    with pytest.raises(amudai.CorruptedData, match="expected at most 2"):
        read(column)


def test_a_union_with_more_variants_than_arrow_can_number_does_not_hide_other_columns() -> None:
    many = unions([0], [(f"v{i}", numbers([1], "i8")) for i in range(129)])
    shard = open_forged(Forge.of({"u": many, "n": numbers([5], "i8")}))
    assert shard.read(["n"]).to_pylist() == [{"n": 5}]
    with pytest.raises(amudai.UnsupportedFeature, match="expected at most 128 variants, found 129"):
        shard.read(["u"])
    fits = unions([127], [(f"v{i}", numbers([i], "i8")) for i in range(128)])
    assert read(fits).to_pylist() == [127]


# ---- extension types ----


def test_labels_without_a_meaning_are_extension_types_of_arrow() -> None:
    shard = open_forged(Forge.of({"price": numbers([5], "i8").labelled("Acme.Money")}))
    assert shard.schema.field("price").type == pa.int64()
    assert shard.schema.field("price").metadata == {
        b"ARROW:extension:name": b"Acme.Money",
        b"ARROW:extension:metadata": b"",
    }
    assert shard["price"].extension == amudai.Extension("Acme.Money")
    assert shard["price"].stored_type == "int64 as Acme.Money"
    assert shard.read().to_pylist() == [{"price": 5}]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (numbers([5], "i4").labelled("KustoTimeSpan"), pa.int32()),
        (numbers([5], "u8").labelled("KustoTimeSpan"), pa.uint64()),
        (binaries([b"12345678"], fixed_size=8).labelled("KustoDecimal"), pa.binary(8)),
        (numbers([5], "i8").labelled("KustoDynamic"), pa.int64()),
        (numbers([5], "i8").labelled("kustotimespan"), pa.int64()),
    ],
)
def test_a_label_means_something_on_its_own_type_only(column: Column, kind: pa.DataType) -> None:
    assert read(column).type == kind


def test_dynamic_bytes_are_json() -> None:
    texts = [b'{"a": [1, "\xc3\xa4"]}', None, b" null ", b'"x"', b"-1.5e3"]
    shard = open_forged(Forge.of({"c": binaries(texts).labelled("KustoDynamic")}))
    assert shard.schema.field("c").type == pa.json_(pa.string())
    assert shard.read()["c"].to_pylist() == [None if text is None else text.decode() for text in texts]
    assert shard.scan(where=amudai.col("c").contains("1.5")).positions().tolist() == [4]
    assert shard.scan(where=amudai.col("c") == '"x"').positions().tolist() == [3]
    wide = open_forged(Forge.of({"c": binaries(texts).labelled("KustoDynamic")}), schema={"c": pa.large_string()})
    assert wide.read()["c"].to_pylist() == [None if text is None else text.decode() for text in texts]
    coded = open_forged(Forge.of({"c": dictionary(texts, like=binaries([]).labelled("KustoDynamic"))}))
    assert coded.scan(where=amudai.col("c").contains("1.5")).positions().tolist() == [4]


NOT_JSON = [b"", b"{", b"\x01\x02", b'"\xff"', b"[1] 2", b"{'a': 1}", b"[" * 100 + b"]" * 100, b"01"]


@pytest.mark.parametrize("value", NOT_JSON)
def test_dynamic_bytes_that_are_no_json(value: bytes) -> None:
    column = binaries([b"1", None, value, b"[]"]).labelled("KustoDynamic")
    shard = open_forged(Forge.of({"c": column}))
    said = r'expected JSON, found b.*schema=\{"column": pa.binary\(\)\}'
    with pytest.raises(amudai.InvalidArgument, match=said) as caught:
        shard.read()
    assert caught.value.place["field"] == "c"
    assert shard.take([0, 1, 3])["c"].to_pylist() == ["1", None, "[]"]
    assert read(column, schema={"c": pa.binary()}).to_pylist() == [b"1", None, value, b"[]"]
    constant = constants(binaries([]).labelled("KustoDynamic"), 2, value)
    with pytest.raises(amudai.InvalidArgument, match="expected JSON"):
        read(constant)


# ---- dates and times ----

NS_FIRST, NS_LAST = 529_122_247_631_452_242, 713_589_688_368_547_758  # docs/format/values.md
YEAR_9999 = 3_155_378_975_999_999_990  # its last microsecond


def test_times_in_reach_of_nanoseconds() -> None:
    found = read(datetimes([NS_FIRST, NS_LAST]))
    assert found.type == pa.timestamp("ns", "UTC")
    assert plainly(found) == [(NS_FIRST - EPOCH) * 100, (NS_LAST - EPOCH) * 100]


@pytest.mark.parametrize("ticks", [0, 10, NS_FIRST - 2, NS_LAST + 2, YEAR_9999])
def test_times_out_of_reach_of_nanoseconds_are_microseconds(ticks: int) -> None:
    for column in (
        datetimes([ticks, None, EPOCH]),
        datetimes([ticks, None, EPOCH], lambda v, t: ffor.encode(v, t)),
        constants(datetimes([]), 3, any_value(ticks, "u64")),
    ):
        found = read(column)
        assert found.type == pa.timestamp("us", "UTC")
        assert plainly(found)[0] == (ticks - EPOCH) // 10


def test_year_1_and_year_9999() -> None:
    found = read(datetimes([0, YEAR_9999]))
    assert [value.isoformat() for value in found.to_pylist()] == [
        "0001-01-01T00:00:00+00:00",
        "9999-12-31T23:59:59.999999+00:00",
    ]
    assert (
        open_forged(Forge.of({"c": datetimes([0, YEAR_9999])}))["c"].stats.min.isoformat()
        == "0001-01-01T00:00:00+00:00"
    )  # type: ignore[attr-defined]


def test_a_time_too_fine_is_an_error_with_a_way_out() -> None:
    column = datetimes([0, YEAR_9999 + 9])
    with pytest.raises(
        amudai.InvalidArgument, match=r"finer than its unit for timestamp\[us, tz=UTC\].*schema="
    ) as caught:
        read(column)
    assert caught.value.place["field"] == "c"
    assert read(column, schema={"c": pa.int64()}).to_pylist() == [0, YEAR_9999 + 9]
    assert read(column, schema={"c": pa.uint64()}).to_pylist() == [0, YEAR_9999 + 9]


def test_statistics_of_the_stripes_do_where_the_shard_has_none() -> None:
    stripes = [{"c": datetimes([EPOCH])}, {"c": datetimes([None])}, {"c": datetimes([0, None])}]
    shard = open_forged(Forge.of(*stripes, fields={0: None}))
    assert shard.schema.field("c").type == pa.timestamp("us", "UTC")
    assert plainly(shard.read()["c"]) == [0, None, -EPOCH // 10, None]
    within = open_forged(Forge.of(*stripes[:2], fields={0: None}))
    assert within.schema.field("c").type == pa.timestamp("ns", "UTC")


def test_without_statistics_times_are_nanoseconds_or_an_error() -> None:
    column = datetimes([0])
    column.stored.descriptor.ClearField("range_stats")
    forge = Forge.of({"c": column})
    assert open_forged(forge).schema.field("c").type == pa.timestamp("ns", "UTC")
    with pytest.raises(amudai.InvalidArgument, match="out of range for timestamp"):
        open_forged(forge).read()
    assert open_forged(forge, schema={"c": pa.timestamp("s")}).read()["c"].cast(pa.int64()).to_pylist() == [
        -EPOCH // SECOND
    ]


def test_ticks_beyond_all_calendars_are_refused() -> None:
    with pytest.raises(amudai.InvalidArgument, match=r"expected ticks below 2\*\*63"):
        read(datetimes([1 << 63]))
    assert read(datetimes([1 << 63]), schema={"c": pa.uint64()}).to_pylist() == [1 << 63]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.timestamp("s"), 86_400),
        (pa.timestamp("ms", "Europe/Oslo"), 86_400_000),
        (pa.timestamp("us"), 86_400_000_000),
        (pa.date32(), 1),
        (pa.date64(), 86_400_000),
    ],
)
def test_times_as_another_type(kind: pa.DataType, expected: int) -> None:
    found = read(datetimes([EPOCH + 86_400 * SECOND, None]), schema={"c": kind})
    assert found.type == kind
    integers = found.cast(pa.int32()) if kind == pa.date32() else found.cast(pa.int64())
    assert integers.to_pylist() == [expected, None]


def test_time_spans_out_of_reach_are_microseconds() -> None:
    found = read(timespans([-(1 << 63) + 8, 10]))
    assert found.type == pa.duration("us")
    assert plainly(found) == [(-(1 << 63) + 8) // 10, 1]
    raw = read(timespans([(1 << 63) - 1]), schema={"c": pa.int64()})
    assert raw.to_pylist() == [(1 << 63) - 1]


def test_a_whole_day_is_no_more_a_date_when_it_is_half_over() -> None:
    with pytest.raises(amudai.InvalidArgument, match=r"finer than its unit for date32"):
        read(datetimes([EPOCH + 1]), schema={"c": pa.date32()})


# ---- decimals ----


def test_decimals_with_all_their_digits() -> None:
    values = ["9999999999999999999999999999999999", "12345678901234567890.12345678901235"]
    assert read(decimals(decimal_bytes(*values))).to_pylist() == [Decimal(value) for value in values]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1E-6176"])
def test_a_decimal_that_arrow_cannot_hold_is_an_error_with_a_way_out(value: str) -> None:
    column = decimals(decimal_bytes("7", value))
    with pytest.raises(amudai.InvalidArgument, match=r"decimal at 1: .*schema=.*pa\.binary\(16\)") as caught:
        read(column)
    assert caught.value.place["field"] == "c"
    assert read(column, schema={"c": pa.binary(16)}).to_pylist() == decimal_bytes("7", value)
    assert open_forged(Forge.of({"c": column})).verify().ok


@pytest.mark.parametrize(
    "kind", [pa.decimal32(9, 2), pa.decimal64(18, 2), pa.decimal128(20, 2), pa.decimal256(40, 2)], ids=str
)
def test_decimals_as_another_type(kind: pa.DataType) -> None:
    found = read(decimals(decimal_bytes("2.50", None, "-19.99", "1E+1")), schema={"c": kind})
    assert found.type == kind
    assert found.to_pylist() == [Decimal("2.50"), None, Decimal("-19.99"), Decimal("10.00")]


def test_decimals_are_never_rounded() -> None:
    with pytest.raises(amudai.InvalidArgument, match="too many fraction digits"):
        read(decimals(decimal_bytes("-19.99")), schema={"c": pa.decimal128(20, 1)})
    with pytest.raises(amudai.InvalidArgument, match="too many digits"):
        read(decimals(decimal_bytes("-19.99")), schema={"c": pa.decimal128(3, 2)})


# ---- constants ----

CONSTANTS: dict[str, tuple[Column, Any, Any]] = {
    "boolean": (booleans([]), True, True),
    "int64": (numbers([], "i8"), -(1 << 63), -(1 << 63)),
    "uint64": (numbers([], "u8"), any_value((1 << 64) - 1, "u64"), (1 << 64) - 1),
    "int8": (numbers([], "i1"), -128, -128),
    "float32": (numbers([], "f4"), 0.5, 0.5),
    "string": (strings([]), "ok", "ok"),
    "empty string": (strings([]), "", ""),
    "string as bytes": (strings([]), b"ok", "ok"),
    "binary": (binaries([]), b"\xff", b"\xff"),
    "binary as string": (binaries([]), "ok", b"ok"),
    "fixed size binary": (binaries([], fixed_size=2), b"ab", b"ab"),
    "guid": (guids([]), GUIDS[1].bytes, GUIDS[1]),
    "decimal": (decimals([]), any_value(bytes.fromhex(DECIMALS["2.50"]), "decimal"), Decimal("2.50")),
    "decimal as bytes": (decimals([]), bytes.fromhex(DECIMALS["2.50"]), Decimal("2.50")),
    "null": (numbers([], "i8"), None, None),
    "null string": (strings([]), None, None),
    "JSON": (strings([]).labelled("KustoDynamic"), "[1]", "[1]"),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants(name: str) -> None:
    like, stored, expected = CONSTANTS[name]
    shard = open_forged(Forge.of({"c": constants(like, 5, stored)}))
    assert shard["c"].encodings == {"constant": 1}
    found = shard.read()["c"]
    found.validate(full=True)
    assert found.to_pylist() == [expected] * 5
    assert shard.take([4, 0])["c"].to_pylist() == [expected] * 2
    assert shard.read(rows=slice(2, 2))["c"].to_pylist() == []


@pytest.mark.parametrize(
    ("like", "stored"),
    [
        (booleans([]), 1),
        (numbers([], "i8"), any_value(1, "u64")),
        (numbers([], "u8"), 1),
        (numbers([], "i1"), 128),
        (numbers([], "u2"), any_value(1 << 16, "u64")),
        (numbers([], "f4"), 1e300),
        (numbers([], "f4"), 0.1),
        (numbers([], "f8"), 1),
        (strings([]), 7),
        (strings([]), b"\xff"),
        (binaries([], fixed_size=2), b"abc"),
        (guids([]), b"short"),
        (numbers([], "i8"), any_value(5, "datetime")),
        (datetimes([]), any_value(5, "timespan")),
        (decimals([]), "2.50"),
    ],
)
def test_a_constant_of_another_type_is_refused(like: Column, stored: Any) -> None:
    with pytest.raises(amudai.CorruptedData, match=r"constant_value: expected"):
        read(constants(like, 2, stored))


def test_a_dictionary_wins_over_a_constant() -> None:
    column = dictionary(["a", "b"])
    column.stored.descriptor.constant_value.CopyFrom(any_value("zzz"))
    assert read(column).to_pylist() == ["a", "b"]


def test_a_container_has_no_constant() -> None:
    column = structs({"a": numbers([1, 2], "i8")})
    column.stored.descriptor.constant_value.CopyFrom(any_value(None))
    assert read(column).to_pylist() == [{"a": 1}, {"a": 2}]


# ---- arrangements nobody writes ----


def test_codes_never_pass_for_numbers() -> None:
    column = numbers([1, 0], "u4")
    column.stored.buffers.append(dictionary(["x", "y"]).stored.buffers[1])
    with pytest.raises(amudai.CorruptedData, match="dictionary value_type: expected INT32, found STRING"):
        read(column)
    alone = numbers([1, 0], "u4").edited(lambda content: setattr(content.descriptor, "dictionary_size", 2))
    with pytest.raises(amudai.CorruptedData, match="expected one of kind VALUE_DICTIONARY, found none"):
        read(alone)


def test_codes_never_pass_for_booleans() -> None:
    column = booleans([True, False]).edited(lambda content: setattr(content.descriptor, "dictionary_size", 2))
    with pytest.raises(amudai.UnsupportedFeature, match="dictionary of boolean values"):
        read(column)


def test_codes_without_their_dictionary_are_an_error() -> None:
    column = dictionary(["x", "y"])
    del column.stored.buffers[1]
    with pytest.raises(amudai.CorruptedData, match="expected one of kind VALUE_DICTIONARY, found none"):
        read(column)


def test_unions_with_nulls_of_their_own_are_refused() -> None:
    column = dense().edited(
        lambda content: content.buffers.append(bits_buffer(BufferKind.PRESENCE, [True, False, True, True, True]))
    )
    with pytest.raises(amudai.UnsupportedFeature, match="union: a PRESENCE buffer of its own"):
        read(column)


def test_of_two_buffers_of_a_kind_the_first_counts() -> None:
    column, other = numbers([1, 2], "i8"), numbers([8, 9], "i8")
    column.stored.buffers.append(other.stored.buffers[0])
    assert read(column).to_pylist() == [1, 2]


def test_blocks_without_checksums_are_read() -> None:
    assert read(numbers([1, None], "i8", checksums=False)).to_pylist() == [1, None]
    assert read(strings(["a", None], checksums=False)).to_pylist() == ["a", None]


def test_many_blocks_and_segments_of_a_block_map() -> None:
    values = list(range(3000))
    column = numbers(values, "i4", plain.encode, 1)
    column.stored.buffers[0].segment_size = 7
    shard = open_forged(Forge.of({"c": column}))
    assert shard.read()["c"].to_pylist() == values
    assert shard.take([2999, 0, 1500])["c"].to_pylist() == [2999, 0, 1500]


def test_a_string_that_is_no_text_is_refused() -> None:
    for column in (strings([b"ok", b"\xff"]), dictionary([b"ok", b"\xff"]), strings([b"\xc3", b"\xa9"])):
        with pytest.raises(amudai.CorruptedData, match="UTF-8"):
            read(column)


@pytest.mark.parametrize(
    ("offsets", "message"),
    [([0, 2, 1], "ascending"), ([0, 1, 9], "at most 2, found 9"), ([0, 1 << 63, 2], "ascending")],
)
def test_list_offsets_that_make_no_sense_are_refused(offsets: list[int], message: str) -> None:
    column = lists([1, 1], numbers([1, 2], "i8"))
    column.stored.buffers[0].blocks = [(3, block.build(b"", plain.encode(offsets, "u8")))]
    with pytest.raises(amudai.CorruptedData, match=message) as caught:
        read(column)
    assert caught.value.place["field"] == "c"


def test_a_null_key_of_a_map_is_refused() -> None:
    with pytest.raises(amudai.CorruptedData, match="map keys: expected no nulls, found 1"):
        read(maps([2], strings(["a", None]), numbers([1, 2], "i8")))


def test_delta_over_many_rows_reads_from_the_middle() -> None:
    values = [1_000_000 + 3 * i for i in range(5000)]
    column = numbers(values, "i8", lambda v, t: delta.encode(v, t, ffor.encode), 2048)
    shard = open_forged(Forge.of({"c": column}))
    assert shard["c"].encodings == {"delta(ffor)": 3}
    assert shard.read(rows=slice(2040, 4100))["c"].to_pylist() == values[2040:4100]
