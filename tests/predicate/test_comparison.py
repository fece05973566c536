"""Do comparisons keep their exact meaning when their values are written in a column's type?"""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import InvalidArgument
from amudai.predicate.comparison import comparison
from amudai.predicate.tree import CompareOp, Nanoseconds, Value
from tests.effort import examples

OPERATORS: dict[CompareOp, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ops = st.sampled_from(list(OPERATORS))

INTEGERS = [pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
FLOATS = [pa.float16(), pa.float32(), pa.float64()]
DECIMALS = [pa.decimal32(5, 2), pa.decimal64(12, 0), pa.decimal128(38, 10), pa.decimal256(76, 38), pa.decimal128(5, -2)]

numbers = st.one_of(
    st.integers(-400, 400),
    st.integers(-(2**65), 2**65),
    st.sampled_from([2**k + d for k in (7, 8, 15, 31, 32, 53, 63, 64) for d in (-1, 0, 1)]),
    st.integers(-800, 800).map(lambda half: half / 2),
    st.floats(),
    st.floats(width=16),
    st.sampled_from([0.0, -0.0, 65504.0, 65520.0, 1e-8, 3.4028235e38, 1.7976931348623157e308, float("inf"), 0.1]),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**6), max_value=10**6, places=3),
    st.sampled_from([Decimal("1e400"), Decimal("-1e400"), Decimal("1e-400"), Decimal("Infinity"), Decimal("0.1")]),
)


def exactly(value: Any) -> Any:
    """A number that compares exactly with others. Infinities and NaN stay floats."""
    if isinstance(value, Decimal) and not value.is_finite():
        return float(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return value
    return Fraction(value)


def compares(stored: Any, op: CompareOp, value: Any) -> bool:
    stored, value = exactly(stored), exactly(value)
    if isinstance(stored, float) != isinstance(value, float):
        # Fractions are turned to floats beside floats, which may overflow: only the sign of the infinite one matters.
        stored = stored if isinstance(stored, float) else 0.0
        value = value if isinstance(value, float) else 0.0
    return OPERATORS[op](stored, value)


def says(found: Any, stored: Any) -> bool:
    return found if isinstance(found, bool) else compares(stored, found[0], found[1].as_py())


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
@examples(150)
@given(op=ops, value=numbers, data=st.data())
def test_integers(kind: pa.DataType, op: CompareOp, value: Any, data: st.DataObject) -> None:
    info = np.iinfo(kind.to_pandas_dtype())
    near = exactly(value)
    around = [] if isinstance(near, float) else [int(near) + step for step in (-1, 0, 1)]
    candidates = [each for each in [*around, int(info.min), int(info.max), 0] if info.min <= each <= info.max]
    stored = data.draw(st.one_of(st.sampled_from(candidates), st.integers(int(info.min), int(info.max))))
    found = comparison(op, value, kind, "n")
    assert found is True or found is False or found[1].type == kind
    assert says(found, stored) is compares(stored, op, value)


@pytest.mark.parametrize("kind", FLOATS, ids=str)
@examples(150)
@given(op=ops, value=numbers, data=st.data())
def test_floats(kind: pa.DataType, op: CompareOp, value: Any, data: st.DataObject) -> None:
    dtype = kind.to_pandas_dtype()
    near = exactly(value)
    with np.errstate(over="ignore"):
        middle = dtype(near if isinstance(near, float) else max(min(near, Fraction(10) ** 308), -(Fraction(10) ** 308)))
        candidates = [middle, np.nextafter(middle, dtype(np.inf)), np.nextafter(middle, dtype(-np.inf))]
    candidates += [dtype(each) for each in (0.0, -0.0, np.inf, -np.inf, np.nan)]
    stored = float(data.draw(st.sampled_from(candidates)))
    found = comparison(op, value, kind, "x")
    assert found is True or found is False or found[1].type == kind
    assert says(found, stored) is compares(stored, op, value)


@pytest.mark.parametrize("kind", DECIMALS, ids=str)
@examples(100)
@given(op=ops, value=numbers, data=st.data())
def test_decimals(kind: pa.DataType, op: CompareOp, value: Any, data: st.DataObject) -> None:
    most = 10**kind.precision - 1
    near = exactly(value)
    unit = Fraction(10) ** -kind.scale
    around = [] if isinstance(near, float) else [int(near / unit) + step for step in (-1, 0, 1)]
    unscaled = data.draw(st.sampled_from([each for each in [*around, most, -most, 0] if abs(each) <= most]))
    found = comparison(op, value, kind, "d")
    assert found is True or found is False or found[1].type == kind
    assert says(found, unscaled * unit) is compares(unscaled * unit, op, value)


@pytest.mark.parametrize("width", [0, 1, 2, 3])
@examples(60)
@given(op=ops, value=st.binary(max_size=4), data=st.data())
def test_bytes_of_a_fixed_size(width: int, op: CompareOp, value: bytes, data: st.DataObject) -> None:
    near = value[:width].ljust(width, b"\0")
    stored = data.draw(st.one_of(st.just(near), st.binary(min_size=width, max_size=width)))
    found = comparison(op, value, pa.binary(width), "b")
    answer = found if isinstance(found, bool) else OPERATORS[found[0]](stored, found[1].as_py())
    assert answer is OPERATORS[op](stored, value)


DAY = 86_400 * 10**9
TIMES: list[tuple[pa.DataType, Value, int]] = [
    (pa.timestamp("us"), datetime(1970, 1, 1, 0, 0, 1, 5), 1_000_005_000),
    (pa.timestamp("ns"), "1970-01-01T00:00:00.123456789", 123_456_789),
    (pa.timestamp("s"), "1970-01-01 00:00:00.5", 500_000_000),
    (pa.timestamp("ms"), date(1970, 1, 2), DAY),
    (pa.timestamp("s"), "1969-12-31", -DAY),
    (pa.timestamp("us", "UTC"), datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), 0),
    (pa.timestamp("us", "Europe/Berlin"), datetime(1970, 1, 1, tzinfo=UTC), 0),
    (pa.timestamp("us", "UTC"), "1970-01-01T02:00:00+02:00", 0),
    (pa.timestamp("us", "UTC"), datetime(1970, 1, 1, 1), 3_600_000_000_000),  # without a zone, it is UTC
    (pa.timestamp("us", "Europe/Berlin"), "1970-01-02", 86_400_000_000_000),
    (pa.timestamp("ns", "UTC"), Nanoseconds(1, pa.timestamp("ns")), 1),
    (pa.timestamp("ns", "UTC"), "1970-01-01T00:00:00.000000001Z", 1),
    (pa.timestamp("us"), Nanoseconds(1001, pa.timestamp("ns")), 1001),
    (pa.date32(), date(1970, 1, 3), 2 * DAY),
    (pa.date32(), datetime(1970, 1, 3, 12), 2 * DAY + DAY // 2),
    (pa.date64(), "1969-12-31", -DAY),
    (pa.time32("s"), time(0, 0, 1, 500_000), 1_500_000_000),
    (pa.time64("ns"), "00:00:02", 2 * 10**9),
    (pa.time64("us"), Nanoseconds(1001, pa.time64("ns")), 1001),
    (pa.duration("ms"), timedelta(microseconds=1500), 1_500_000),
    (pa.duration("us"), Nanoseconds(-1001, pa.duration("ns")), -1001),
]
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


@pytest.mark.parametrize(("kind", "value", "nanoseconds"), TIMES)
@pytest.mark.parametrize("op", OPERATORS)
def test_times(kind: pa.DataType, value: Value, nanoseconds: int, op: CompareOp) -> None:
    unit = DAY if pa.types.is_date(kind) else UNITS[kind.unit]
    found = comparison(op, value, kind, "t")
    for count in (nanoseconds // unit - 1, nanoseconds // unit, nanoseconds // unit + 1):
        if isinstance(found, bool):
            answer = found
        else:
            assert found[1].type == kind
            whole = pa.int64() if kind.bit_width == 64 else pa.int32()
            stored = found[1].cast(whole).as_py()
            bound = stored * (10**6 if pa.types.is_date64(kind) else unit)
            answer = OPERATORS[found[0]](count * unit, bound)
        assert answer is OPERATORS[op](count * unit, nanoseconds), count


def test_times_beyond_the_type() -> None:
    assert comparison("<", datetime(9999, 1, 1), pa.timestamp("ns"), "t") is True
    assert comparison(">=", datetime(9999, 1, 1), pa.timestamp("ns"), "t") is False
    assert comparison(">", datetime(1, 1, 1), pa.timestamp("ns"), "t") is True
    assert comparison("==", datetime(1, 1, 1), pa.timestamp("ns"), "t") is False


def test_uuids() -> None:
    one = UUID(int=1 << 100)
    for value in (one, str(one), one.bytes):
        found = comparison("==", value, pa.uuid(), "u")
        assert found is not True
        assert found is not False
        assert found[1].as_py() == one.bytes


REFUSED: list[tuple[pa.DataType, Value, str]] = [
    (pa.int64(), "5", "expected a number to compare with, found '5' \\(str\\)"),
    (pa.int64(), True, "expected a number to compare with, found True"),
    (pa.float64(), date(2020, 1, 1), "expected a number"),
    (pa.bool_(), 1, "expected True or False"),
    (pa.string(), 5, "expected a text"),
    (pa.string(), b"x", "expected a text"),
    (pa.string(), "\ud800", "UTF-8"),
    (pa.binary(), "x", "expected bytes"),
    (pa.binary(3), "x", "expected bytes"),
    (pa.uuid(), "x", "expected a UUID"),
    (pa.uuid(), b"x", "expected a UUID"),
    (pa.timestamp("us"), 5, "expected a point in time"),
    (pa.timestamp("us"), "soon", "expected a point in time"),
    (pa.timestamp("us"), "2020-01-01T00:00:00.", "expected a point in time"),
    (pa.timestamp("us"), "2020-01-01T00:00:00.1234567890", "expected a point in time"),
    (pa.timestamp("us"), datetime(2020, 1, 1, tzinfo=UTC), "without a time zone"),
    (pa.date32(), datetime(2020, 1, 1, tzinfo=UTC), "without a time zone"),
    (pa.time64("us"), "now", "a time of day"),
    (pa.time64("us"), time(1, tzinfo=UTC), "a time of day"),
    (pa.duration("us"), 5, "a length of time"),
    (pa.struct([("a", pa.int64())]), 5, "expected a type that can be compared with 5, found struct"),
    (pa.month_day_nano_interval(), 5, "expected a type that can be compared"),
]


@pytest.mark.parametrize(("kind", "value", "message"), REFUSED)
def test_comparisons_that_make_no_sense(kind: pa.DataType, value: Value, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message) as caught:
        comparison("==", value, kind, "some.path")
    assert "some.path" in str(caught.value)
    assert str(kind) in str(caught.value)
