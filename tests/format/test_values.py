"""AnyValue: the published bytes, and what Python makes of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from amudai.errors import CorruptedData
from amudai.format import AnyValue, DataRef, python_value, python_values
from amudai.format.message import parse
from amudai.format.values import properties_of
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
