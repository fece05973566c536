"""Can predicates be made, printed, pickled, and are mistakes told?"""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import InvalidArgument
from amudai.predicate import Always, And, Compare, IsIn, IsNull, IsValid, Matches, Not, Or, Predicate, Text, col
from amudai.predicate.tree import Nanoseconds
from tests.effort import examples
from tests.scan.tables import trees

NAMES: dict[str, Any] = {
    "And": And,
    "Always": Always,
    "Decimal": Decimal,
    "Or": Or,
    "UUID": UUID,
    "col": col,
    "datetime": datetime,
    "pa": pa,
}

values = st.one_of(
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.datetimes(),
    st.dates(),
    st.times(),
    st.timedeltas(),
    st.uuids(),
    st.integers(-(2**62), 2**62).map(lambda count: pa.scalar(count | 1, pa.duration("ns"))),
    st.integers(-(2**62), 2**62).map(lambda count: pa.scalar(count | 1, pa.timestamp("ns", "UTC"))),
    st.integers(0, 10**12).map(lambda count: pa.scalar(count, pa.time64("ns"))),
)
columns = st.text(max_size=6).map(col)
leaves = st.one_of(
    st.builds(lambda c, v: c == v, columns, values),
    st.builds(lambda c, v: c < v, columns, values),
    st.builds(lambda c, v: c >= v, columns, values),
    st.builds(lambda c, v: c != v, columns, values),
    st.builds(lambda c, v: c.isin(v), columns, st.lists(values, max_size=3)),
    st.builds(lambda c: c.is_null(), columns),
    st.builds(lambda c: c.is_valid(), columns),
    st.builds(lambda c, t: c.has(t), columns, st.text(max_size=4)),
    st.builds(lambda c, t: c.hasprefix_cs(t), columns, st.text(max_size=4)),
    st.builds(lambda c, t: c.iequals(t), columns, st.text(max_size=4)),
    st.builds(lambda c, t: c.matches(t), columns, st.text(max_size=4)),
    st.builds(Always, st.booleans()),
)
predicates = trees(leaves, 8)


@examples(200)
@given(predicate=predicates)
def test_what_is_printed_makes_the_same(predicate: Predicate) -> None:
    again = eval(str(predicate), dict(NAMES))
    assert again == predicate
    assert hash(again) == hash(predicate)
    assert repr(predicate) == str(predicate)


@examples(100)
@given(predicate=predicates)
def test_predicates_pickle(predicate: Predicate) -> None:
    assert pickle.loads(pickle.dumps(predicate)) == predicate


c = col("a")
PRINTED = [
    (c.has("x") & (col("b") >= 5), 'col("a").has("x") & (col("b") >= 5)'),
    ((c == 1) & (c == 2) & (c == 3), '(col("a") == 1) & (col("a") == 2) & (col("a") == 3)'),
    ((c == 1) | (c == 2) & (c == 3), '(col("a") == 1) | (col("a") == 2) & (col("a") == 3)'),
    (((c == 1) | (c == 2)) & c.is_null(), '((col("a") == 1) | (col("a") == 2)) & col("a").is_null()'),
    (~(c == 1), '~(col("a") == 1)'),
    (~c.has("x"), '~col("a").has("x")'),
    (~(c.has("x") & c.has("y")), '~(col("a").has("x") & col("a").has("y"))'),
    (~~c.has("x"), 'col("a").has("x")'),
    (c.between(1, 2), '(col("a") >= 1) & (col("a") <= 2)'),
    (c.isin([1, "it's \"so\""]), """col("a").isin([1, 'it\\'s "so"'])"""),
    (c == float("inf"), 'col("a") == float("inf")'),
    (c.has_any(["x", "y"]), 'col("a").has("x") | col("a").has("y")'),
    (c.has_all(["x", "y"]), 'col("a").has("x") & col("a").has("y")'),
    (c.has_any([]), "Always(False)"),
    (c.has_all([]), "Always(True)"),
    (c.has_any(["x"]), 'col("a").has("x")'),
    (5 < c, 'col("a") > 5'),  # noqa: SIM300
    (c == pa.scalar(1001, pa.timestamp("ns", "UTC")), 'col("a") == pa.scalar(1001, pa.timestamp("ns", "UTC"))'),
    (c == np.float32(0.5), 'col("a") == 0.5'),
    (c == np.datetime64("2020-01-01T00:00"), 'col("a") == datetime.datetime(2020, 1, 1, 0, 0)'),
    (c == np.datetime64("2020-01-01"), 'col("a") == datetime.date(2020, 1, 1)'),
    (c == np.datetime64(1001, "ns"), 'col("a") == pa.scalar(1001, pa.timestamp("ns"))'),
    (c == np.timedelta64(5, "s"), 'col("a") == datetime.timedelta(seconds=5)'),
    (c == pa.scalar(2000, pa.timestamp("ns")), 'col("a") == datetime.datetime(1970, 1, 1, 0, 0, 0, 2)'),
]  # fmt: skip


@pytest.mark.parametrize(("predicate", "text"), PRINTED)
def test_predicates_print_as_python(predicate: Predicate, text: str) -> None:
    assert str(predicate) == text


def test_the_nodes_behind_the_methods() -> None:
    assert c.has("x") == Text("a", "has", "x", False)
    assert c.has_cs("x") == Text("a", "has", "x", True)
    assert c.endswith_cs("x") == Text("a", "endswith", "x", True)
    assert c.iequals("x") == Text("a", "equals", "x", False)
    assert c.matches("x") == Matches("a", "x")
    assert (c != b"x") == Compare("a", "!=", b"x")
    assert (c == bytearray(b"x")) == Compare("a", "==", b"x")
    assert c.isin(iter([1, 2])) == IsIn("a", (1, 2))
    assert c.is_null() | c.is_valid() == Or((IsNull("a"), IsValid("a")))
    assert ~(c.has("x") & c.has("y")) == Not(And((Text("a", "has", "x", False), Text("a", "has", "y", False))))


MISTAKES: list[tuple[Callable[[], object], str]] = [
    (lambda: c.has("x") and c.has("y"), "write & | ~"),
    (lambda: c.has("x") or c.has("y"), "write & | ~"),
    (lambda: not c.has("x"), "write & | ~"),
    (lambda: 1 < c < 5, r"between\(low, high\)"),
    (lambda: bool(c), "a column is not a predicate"),
    (lambda: c == None, r'found None: use col\("a"\).is_null\(\)'),  # noqa: E711
    (lambda: c.isin([1, None]), r'found None: use col\("a"\).is_null\(\)'),
    (lambda: c == pa.scalar(None, pa.int64()), r"is_null\(\)"),
    (lambda: c == 1 & c == 2, "put comparisons in parentheses"),
    (lambda: c == 1 | c, "put comparisons in parentheses"),
    (lambda: c.has("x") & 1, "put comparisons in parentheses"),
    (lambda: 1 | c.has("x"), "put comparisons in parentheses"),
    (lambda: ~c, "put comparisons in parentheses"),
    (lambda: c == col("b"), "columns can only be compared with values"),
    (lambda: c == np.datetime64(1, "ps"), "expected a value to compare"),
    (lambda: c == np.datetime64("NaT"), r"is_null\(\)"),
    (lambda: c == np.timedelta64("NaT", "ns"), r"is_null\(\)"),
    (lambda: c == [1, 2], r"expected a value to compare col\(\"a\"\) with, found \[1, 2\]"),
    (lambda: c.isin("abc"), "expected a list of values, found 'abc'"),
    (lambda: c.isin(5), "expected a list of values, found 5"),
    (lambda: c.has_any("abc"), "expected a list of values, found 'abc'"),
    (lambda: c.has(5), "has: expected a text, found 5"),
    (lambda: c.matches(b"x"), "expected a regular expression, found b'x'"),
    (lambda: col(5), "expected the name of a column, found 5"),
    (lambda: 5 in c, r"isin\(values\)"),
    (lambda: list(c), "has no values to iterate over"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "message"), MISTAKES)
def test_mistakes_are_told(mistake: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        mistake()


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Vienna"])
def test_pandas_values_keep_their_nanoseconds(zone: str | None) -> None:
    pandas = pytest.importorskip("pandas")
    moment = pandas.Timestamp(1_700_000_000_123_456_789, unit="ns", tz=zone)
    kind = pa.timestamp("ns", None if zone is None else "UTC")
    assert (col("t") == moment) == Compare("t", "==", Nanoseconds(1_700_000_000_123_456_789, kind))
    span = pandas.Timedelta(1_000_001, unit="ns")
    assert (col("d") < span) == Compare("d", "<", Nanoseconds(1_000_001, pa.duration("ns")))
