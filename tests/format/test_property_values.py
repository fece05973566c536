"""AnyValue: the published bytes, and what Python makes of them."""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amudai.errors import CorruptedData, InvalidArgument
from amudai.format import AnyValue, DataRef, any_value, any_values, python_value, python_values
from amudai.format.message import parse
from amudai.format.property_values import properties_of
from amudai.format.wire import amudai_pb2 as wire

UNIX_EPOCH = 621_355_968_000_000_000


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ("0a 00", AnyValue("null")),
        ("10 01", AnyValue("bool", True)),
        ("10 00", AnyValue("bool", False)),
        ("18 ac 02", AnyValue("u64", 300)),
        ("20 2a", AnyValue("i64", 42)),
        ("20 00", AnyValue("i64", 0)),
        ("20 ff ff ff ff ff ff ff ff ff 01", AnyValue("i64", -1)),
        ("29 00 00 00 00 00 00 f8 3f", AnyValue("double", 1.5)),
        ("42 05 68 65 6c 6c 6f", AnyValue("string", "hello")),
        ("42 00", AnyValue("string", "")),
        ("4a 02 01 02", AnyValue("bytes", b"\x01\x02")),
        ("20 05 f2 01 01 75", AnyValue("i64", 5, "u")),
        ("", AnyValue("unknown")),
        ("fa 01 01 78", AnyValue("unknown")),
    ],
)
def test_published_values(payload: str, expected: AnyValue) -> None:
    found = AnyValue.of(wire.AnyValue.FromString(bytes.fromhex(payload)))
    assert found == expected
    assert type(found.value) is type(expected.value)
    if expected.kind != "unknown":
        assert expected.encode() == bytes.fromhex(payload)
        assert AnyValue.decode(expected.encode()) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"datetime_value": wire.DateTimeUtc(ticks=UNIX_EPOCH)}, datetime(1970, 1, 1, tzinfo=UTC)),
        ({"datetime_value": wire.DateTimeUtc(ticks=0)}, datetime(1, 1, 1, tzinfo=UTC)),
        (
            {"datetime_value": wire.DateTimeUtc(ticks=3_155_378_975_999_999_990)},
            datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        ),
        ({"datetime_value": wire.DateTimeUtc(ticks=UNIX_EPOCH + 1)}, UNIX_EPOCH + 1),
        ({"datetime_value": wire.DateTimeUtc(ticks=3_155_378_976_000_000_000)}, 3_155_378_976_000_000_000),
        ({"datetime_value": wire.DateTimeUtc(ticks=2**64 - 1)}, 2**64 - 1),
        ({"timespan_value": wire.TimeSpan(ticks=15_000_000)}, timedelta(seconds=1.5)),
        ({"timespan_value": wire.TimeSpan(ticks=2**64 - 10)}, timedelta(microseconds=-1)),
        ({"timespan_value": wire.TimeSpan(ticks=7)}, 7),
        ({"timespan_value": wire.TimeSpan(ticks=2**64 - 7)}, -7),
        ({"decimal_value": bytes(range(16))}, bytes(range(16))),
        ({"data_ref": wire.DataRef(url="a")}, DataRef("a", 0, 0)),
        ({"null_value": wire.UnitValue()}, None),
        ({"list_value": wire.ListValue(elements=[wire.AnyValue(i64_value=1), wire.AnyValue()])}, [1, None]),
        ({"list_value": wire.ListValue()}, []),
        (
            {"struct_value": wire.StructValue(fields=[wire.NameValuePair(name="a", value=wire.AnyValue(u64_value=1))])},
            {"a": 1},
        ),
    ],
)
def test_python_values(message: dict[str, Any], expected: object) -> None:
    found = python_value(AnyValue.of(wire.AnyValue(**message)))
    assert found == expected
    assert type(found) is type(expected)


def test_a_bag_keeps_its_order_and_the_first_of_a_name() -> None:
    pairs = [wire.NameValuePair(name=name, value=wire.AnyValue(i64_value=at)) for at, name in enumerate("bab")]
    bag = python_values(properties_of([*pairs, wire.NameValuePair(name="none")]))
    assert list(bag.items()) == [("b", 0), ("a", 1), ("none", None)]


@pytest.mark.parametrize("size", [0, 15, 17])
def test_a_decimal_of_another_size(size: int) -> None:
    with pytest.raises(CorruptedData, match=f"expected 16 bytes, found {size}$"):
        AnyValue.of(wire.AnyValue(decimal_value=bytes(size)))


def nested(levels: int) -> bytes:
    payload = b"\x10\x01"
    for _ in range(levels):
        inner = b"\x0a" + varint(len(payload)) + payload
        payload = b"\xa2\x01" + varint(len(inner)) + inner
    return payload


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def test_nesting_ends() -> None:
    value = AnyValue.of(parse(wire.AnyValue, nested(40)))
    for _ in range(40):
        assert value.kind == "list"
        assert isinstance(value.value, tuple)
        (value,) = value.value
    assert value == AnyValue("bool", True)
    with pytest.raises(CorruptedData, match="AnyValue: expected a protobuf message"):
        parse(wire.AnyValue, nested(5_000))


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
OFFSETS = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
PLAIN = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**64 - 1),
        st.floats(allow_nan=False),
        TEXT,
        st.binary(max_size=5),
        st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=OFFSETS),
        st.timedeltas(timedelta(days=-10_000_000), timedelta(days=10_000_000)),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(value=PLAIN)
def test_what_python_says_comes_back(value: object) -> None:
    found = any_value(value)
    assert python_value(found) == value
    assert python_value(AnyValue.decode(found.encode())) == value
    assert any_value(python_value(found)) == found


@settings(deadline=None)
@given(value=st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.timezones()))
def test_any_time_of_any_zone(value: datetime) -> None:
    """Compared in UTC: hours that a clock shows twice equal nothing in another zone."""
    assert python_value(any_value(value)) == value.astimezone(UTC)


@settings(deadline=None)
@given(values=st.dictionaries(TEXT, PLAIN, max_size=4))
def test_a_dict_becomes_a_bag(values: dict[str, object]) -> None:
    bag = any_values(values)
    assert [name for name, _ in bag] == list(values)
    assert python_values(bag) == values


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, AnyValue("bool", True)),
        (np.bool_(False), AnyValue("bool", False)),
        (np.int8(-1), AnyValue("i64", -1)),
        (2**63 - 1, AnyValue("i64", 2**63 - 1)),
        (2**63, AnyValue("u64", 2**63)),
        (np.uint64(2**64 - 1), AnyValue("u64", 2**64 - 1)),
        (np.float32(0.5), AnyValue("double", 0.5)),
        (bytearray(b"ab"), AnyValue("bytes", b"ab")),
        (datetime(1, 1, 1, tzinfo=UTC), AnyValue("datetime", 0)),
        (datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), AnyValue("datetime", UNIX_EPOCH)),
        (timedelta(microseconds=-1), AnyValue("timespan", -10)),
        ((), AnyValue("list", ())),
        (OrderedDict(a=None), AnyValue("struct", (("a", AnyValue("null")),))),
        (DataRef("a", 1, 2), AnyValue("data_ref", DataRef("a", 1, 2))),
        ([AnyValue("decimal", bytes(16), "note")], AnyValue("list", (AnyValue("decimal", bytes(16), "note"),))),
    ],
)
def test_what_python_values_become(value: object, expected: AnyValue) -> None:
    found = any_value(value)
    assert found == expected
    assert type(found.value) is type(expected.value)


def test_a_not_a_number_keeps_its_bits() -> None:
    (nan,) = np.array([0x7FF8_0000_0000_1234], np.uint64).view(np.float64).tolist()
    payload = any_value(nan).encode()
    assert payload == bytes.fromhex("29 34 12 00 00 00 00 f8 7f")
    assert AnyValue.decode(payload).encode() == payload
    assert any_value(-0.0).encode() == bytes.fromhex("29 00 00 00 00 00 00 00 80")


LOOP: list[object] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (2**64, "expected an integer of 64 bits, found one of 65"),
        (-(2**63) - 1, "expected an integer of 64 bits"),
        (Fraction(1, 2), "expected None, bool, int, float, .* found Fraction"),
        ({1, 2}, "found set"),
        ({1: 2}, "name of a value: expected str, found int"),
        (LOOP, "expected at most 30 levels of lists and dicts, found more"),
        ("\ud800", "expected Unicode, found a lone surrogate at 0"),
        ({"a\udfff": 1}, "expected Unicode, found a lone surrogate at 1"),
        (datetime(2020, 1, 1), "expected one with a time zone, found 2020-01-01T00:00:00"),
        (datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))), "expected the year 1 or later in UTC"),
        (timedelta.max, r"timedelta: expected less than 2\*\*63 ticks"),
        ({"a": [object()]}, "found object"),
    ],
)
def test_what_is_no_value(value: object, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        any_value(value)


def test_the_deepest_value_is_read_again() -> None:
    value: object = 1
    for _ in range(30):
        value = {"a": value}
    payload = any_value(value).encode()
    assert python_value(AnyValue.decode(payload)) == value


def test_pandas_times_keep_their_nanoseconds() -> None:
    pandas = pytest.importorskip("pandas")
    stamp = pandas.Timestamp("2024-05-06T07:08:09.123456700+02:00")
    assert any_value(stamp).value == any_value(stamp.floor("us").to_pydatetime()).value + 7
    with pytest.raises(InvalidArgument, match="expected whole ticks of 100 ns, found 701 ns beside them"):
        any_value(pandas.Timestamp("2024-05-06T07:08:09.123456701+02:00"))
    with pytest.raises(InvalidArgument, match="found NaTType"):
        any_value(pandas.NaT)
    assert any_value(pandas.Timedelta(-100, "ns")) == AnyValue("timespan", -1)
    with pytest.raises(InvalidArgument, match="expected whole ticks"):
        any_value(pandas.Timedelta(1, "ns"))
