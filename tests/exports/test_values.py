"""Is every value written as other programs, Python above all, write it?"""

from __future__ import annotations

import io
import struct
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Context, Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from tests.effort import examples
from tests.exports.expected import csv_cell, json_text, json_value

pytestmark = pytest.mark.native

EXACT = Context(prec=60)


def json_texts(array: pa.Array) -> list[str]:
    """The values of an array as a JSON lines file has them."""
    out = io.BytesIO()
    amudai.JsonLinesWriter(out, ["v"]).write(pa.record_batch([array], ["v"]))
    lines = out.getvalue().decode().split("\n")
    assert lines.pop() == ""
    assert all(line.startswith('{"v": ') and line.endswith("}") for line in lines)
    return [line[6:-1] for line in lines]


def csv_text(array: pa.Array) -> str:
    """The lines of a CSV file, without its header."""
    out = io.BytesIO()
    amudai.CsvWriter(out, ["v"]).write(pa.record_batch([array], ["v"]))
    header, text = out.getvalue().decode().split("\n", 1)
    assert header == "v"
    return text


def check(array: pa.Array, expected: list[Any] | None = None) -> None:
    """Compare with the obvious text: the whole array, and a slice of it."""
    for part in (slice(None), slice(1, None), slice(0, 0)):
        piece = array[part]
        found = [json_value(value, array.type) for value in piece.to_pylist()] if expected is None else expected[part]
        assert json_texts(piece) == list(map(json_text, found))
        assert csv_text(piece) == "".join(csv_cell(value) + "\n" for value in found)


# ---- one kind after the other ----


@pytest.mark.slow
@given(st.lists(st.none() | st.floats() | st.floats(width=16) | st.integers(-(10**9), 10**9).map(lambda n: n / 1e4)))
@examples(400)
def test_doubles_have_the_digits_that_python_writes(values: list[float | None]) -> None:
    check(pa.array(values, pa.float64()))


@given(st.lists(st.binary(min_size=8, max_size=8)))
def test_doubles_of_any_bits(values: list[bytes]) -> None:
    check(pa.array([struct.unpack("<d", value)[0] for value in values], pa.float64()))


@pytest.mark.parametrize("power", range(-330, 310, 10))
def test_doubles_around_powers_of_ten(power: int) -> None:
    numbers = [
        float(f"{digits}e{power + shift}") for shift in range(10) for digits in ("1", "-9.5", "1.2345678901234567")
    ]
    check(pa.array(numbers))


def test_doubles_with_few_digits() -> None:
    check(
        pa.array([n / 100 for n in range(-3000, 3000)] + [999999999.999999, 1e9 + 0.5, 1e-4, 9.9e-5, -0.0, 0.1 + 0.2])
    )
    check(pa.array([0.1, 1.5, 3.4e38], pa.float32()))
    check(pa.array([0.1, 1.5, 65504], pa.float16()))


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
)
def test_integers_of_every_length(kind: pa.DataType) -> None:
    bits, is_signed = kind.bit_width, pa.types.is_signed_integer(kind)
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    near = {sign * (10**power + more) for power in range(20) for more in (-1, 0, 1) for sign in (1, -1)}
    check(pa.array([least, most, None, *sorted(n for n in near if least <= n <= most)], kind))


@given(st.lists(st.none() | st.integers(1 - 10**38, 10**38 - 1)), st.integers(-5, 38))
@examples(300)
def test_decimals_have_the_digits_that_python_writes(values: list[int | None], scale: int) -> None:
    stored = b"".join((0 if value is None else value).to_bytes(16, "little", signed=True) for value in values)
    mask = pa.array([value is not None for value in values], pa.bool_()).buffers()[1] if values else None
    array = pa.Array.from_buffers(pa.decimal128(38, scale), len(values), [mask, pa.py_buffer(stored)])
    expected = [None if value is None else str(Decimal(value).scaleb(-scale, EXACT)) for value in values]
    check(array, expected)


def test_decimals_of_every_width() -> None:
    values = [Decimal("1.10"), Decimal("-0.01"), None, Decimal("0.00"), Decimal("99999.99")]
    for kind in (pa.decimal32(7, 2), pa.decimal64(15, 2), pa.decimal128(20, 2), pa.decimal256(60, 2)):
        check(pa.array(values, kind))
    check(pa.array([Decimal("1e-9"), Decimal("0.00000123"), Decimal(12)], pa.decimal128(38, 10)))


@pytest.mark.slow
@given(st.lists(st.none() | st.text() | st.text('ab"\\\n\r\t, \x00\x1f\x7f\x85\xa0\u2028\u3000é漢😀', max_size=40)))
@examples(400)
def test_texts_are_quoted_where_it_is_needed(values: list[str | None]) -> None:
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        check(pa.array(values, kind))


@pytest.mark.parametrize("special", ['"', "\\", "\n", ",", "\x1f", "é", "\u3000"])
def test_special_characters_at_every_place(special: str) -> None:
    texts = ["x" * before + special + "y" * (size - before) for size in range(20) for before in range(size + 1)]
    check(pa.array(texts))
    long = ["z" * 4090 + special * 20, special * 9000, "w" * 100_000]
    check(pa.array(long))


@given(st.lists(st.none() | st.binary(max_size=20)))
def test_bytes_are_hexadecimal(values: list[bytes | None]) -> None:
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        check(pa.array(values, kind))
    check(pa.array([None if value is None else value.ljust(20)[:20] for value in values], pa.binary(20)))


@given(st.lists(st.none() | st.dates()))
def test_dates(values: list[date | None]) -> None:
    check(pa.array(values, pa.date32()))
    check(pa.array(values, pa.date64()))


@given(st.lists(st.none() | st.times()))
def test_times_of_day(values: list[time | None]) -> None:
    check(pa.array(values, pa.time64("us")))
    whole = [None if value is None else value.replace(microsecond=0) for value in values]
    check(pa.array(whole, pa.time32("s")))
    check(pa.array(whole, pa.time32("ms")))


@given(st.lists(st.none() | st.datetimes()))
def test_times_without_a_zone(values: list[datetime | None]) -> None:
    check(pa.array(values, pa.timestamp("us")))
    check(pa.array([None if value is None else value.replace(microsecond=0) for value in values], pa.timestamp("s")))


# Arrow knows when clocks change up to 2037.
@given(st.lists(st.none() | st.datetimes(datetime(1946, 1, 1), datetime(2037, 1, 1))))
def test_times_with_a_zone_are_written_with_it(values: list[datetime | None]) -> None:
    zoned = [None if value is None else value.replace(tzinfo=UTC) for value in values]
    for zone in ("UTC", "Europe/Berlin", "America/St_Johns", "+05:30", "-09:00", "Europe/London"):
        check(pa.array(zoned, pa.timestamp("us", zone)))


def test_times_that_python_does_not_have() -> None:
    days = [-719529, -719528, 2932896, 2932897, 10**7, -(10**7)]
    texts = ["-0001-12-31", "0000-01-01", "9999-12-31", "10000-01-01", "29349-01-26", "-25410-12-06"]
    check(pa.array(days, pa.date32()), texts)
    check(pa.array([day * 86400 for day in days], pa.timestamp("s")), [f"{text}T00:00:00" for text in texts])
    check(
        pa.array([1_700_000_000_123_456_789, -1], pa.timestamp("ns", "UTC")),
        ["2023-11-14T22:13:20.123456789Z", "1969-12-31T23:59:59.999999999Z"],
    )
    check(pa.array([1], pa.time64("ns")), ["00:00:00.000000001"])
    # On the clocks of their zones these two lie before the first and behind the last nanosecond that 64 bits hold.
    edges = ["1677-09-20T23:12:43.145224193-01:00", "2262-04-12T01:47:16.854775807+02:00"]
    check(pa.array([1 - 2**63], pa.timestamp("ns", "-01:00")), edges[:1])
    check(pa.array([2**63 - 1], pa.timestamp("ns", "+02:00")), edges[1:])
    check(
        pa.array([2**63 - 1, -(2**63)], pa.timestamp("s", "+01:00")),
        ["292277026596-12-04T15:30:07Z", "-292277022657-01-27T09:29:52+01:00"],
    )


def test_offsets_that_have_no_name_in_iso_8601_become_utc() -> None:
    # Berlin was 53 minutes and 28 seconds ahead until 1893.
    check(pa.array([-3_000_000_000], pa.timestamp("s", "Europe/Berlin")), ["1874-12-07T18:40:00Z"])
    check(pa.array([0, None], pa.timestamp("s", "Mars/Olympus_Mons")), ["1970-01-01T00:00:00Z", None])


@given(st.lists(st.none() | st.timedeltas(timedelta(days=-(10**8)), timedelta(days=10**8))))
def test_durations_are_seconds(values: list[timedelta | None]) -> None:
    check(pa.array(values, pa.duration("us")))


def test_durations_of_every_unit() -> None:
    for unit, text in (("s", "PT90S"), ("ms", "PT0.09S"), ("us", "PT0.00009S"), ("ns", "PT0.00000009S")):
        check(pa.array([90, 0, None, -90], pa.duration(unit)), [text, "PT0S", None, f"-{text}"])
    check(pa.array([-(2**63)], pa.duration("ns")), ["-PT9223372036.854775808S"])


# ---- values of several parts, and other types ----

NESTED = [
    pa.array([[1, 2], None, [], [None]]),
    pa.array([[1, 2], None, []], pa.large_list(pa.int8())),
    pa.array([[1, 2], None, [], [3]], pa.list_view(pa.int8())),
    pa.array([[1, 2], None, [3, None]], pa.list_(pa.int8(), 2)),
    pa.array([["a,b", 'c"d'], ["e\nf"]]),
    pa.array([[[1], []], [None, [2, 3]]]),
    pa.array([{"a": 1, 'b "quoted"': "x"}, None, {"a": None, 'b "quoted"': None}]),
    pa.array([{}, None, {}], pa.struct([])),
    pa.array([[{"t": datetime(2026, 1, 31, 10)}], None, [None]]),
    pa.array([{"l": [{"n": 1.5}], "d": Decimal("1.10")}, {"l": None, "d": None}]),
    pa.array([[("k", 1)], None, [], [("k", 1), ("k", 2)], [("b", 1), ("a", 2)]], pa.map_(pa.string(), pa.int8())),
    pa.array([[(1, date(2026, 1, 1))], None], pa.map_(pa.int8(), pa.date32())),
    pa.array([[[float("nan"), float("-inf")]], [[0.5]]]),
    pa.array([True, None, False, True]),
    pa.array([[True], [False, None]]),
    pa.nulls(3),
]


@pytest.mark.parametrize("array", NESTED, ids=[str(array.type) for array in NESTED])
def test_values_of_several_parts(array: pa.Array) -> None:
    check(array)
    check(pa.concat_arrays([array, array[1:], array[:0], array])[1:])


def test_uuids() -> None:
    values = [UUID(int=1), None, UUID(int=2**128 - 1), UUID("12345678-9abc-def0-1234-56789abcdef0")]
    array = pa.array([None if value is None else value.bytes for value in values], pa.uuid())
    check(array, [None if value is None else str(value) for value in values])


def test_dictionaries_and_runs_are_written_as_their_values() -> None:
    check(pa.array(["x", None, "y", "x"]).dictionary_encode())
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([date(2026, 1, 1), None]))
    check(runs, ["2026-01-01", "2026-01-01", None])


def test_unions_are_written_as_their_values() -> None:
    codes = pa.array([0, 5, 5, 0], pa.int8())
    sparse = [pa.array([1, 2, 3, None]), pa.array([b"a", b"b", None, b"d"])]
    check(pa.UnionArray.from_sparse(codes, sparse, ["n", "b"], [0, 5]), [1, "62", None, None])
    dense = [pa.array([1, None]), pa.array(["a,b", "c"])]
    offsets = pa.array([0, 1, 0, 1], pa.int32())
    check(pa.UnionArray.from_dense(codes, offsets, dense, ["n", "t"], [0, 5]), [1, "c", "a,b", None])


def test_intervals_are_months_days_and_nanoseconds() -> None:
    check(pa.array([(1, 2, 3), None], pa.month_day_nano_interval()), [[1, 2, 3], None])


def test_extension_types_are_written_as_their_storage() -> None:
    check(pa.array(['{"a": 1}', None], pa.json_(pa.string())), ['{"a": 1}', None])


def test_zones_of_nested_times_are_written() -> None:
    berlin = timezone(timedelta(hours=2))
    array = pa.array([[datetime(2026, 7, 1, 12, tzinfo=berlin)]], pa.list_(pa.timestamp("ms", "Europe/Berlin")))
    assert json_texts(array) == ['["2026-07-01T12:00:00.000+02:00"]']
    assert csv_text(array) == '"[""2026-07-01T12:00:00.000+02:00""]"\n'
