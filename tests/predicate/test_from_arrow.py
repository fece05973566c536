"""Do expressions of pyarrow, read as predicates, return the rows that pyarrow returns?"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.predicate import from_expression
from tests.effort import examples
from tests.predicate.shards import Bindable
from tests.scan.tables import trees

f = pc.field
ROWS = 6
TABLE = pa.table(
    {
        "n": pa.array([1, 5, None, 7, -3, 5], pa.int64()),
        "i": pa.array([1, 5, None, 7, -3, 5], pa.int8()),
        "x": pa.array([1.5, float("nan"), None, 7.0, -0.5, 5.0]),
        "s": pa.array(["Time out", "time", None, "", 'a"b.c', "Kelvin \u212a\u017f"]),
        "b": pa.array([True, False, None, True, False, None]),
        "t": pa.array([1, 2, 3, None, 10**15, 6], pa.timestamp("us")),
        "z": pa.array([100, 200, 300, None, 10**15, 600], pa.timestamp("ns", "UTC")),
        "d": pa.array([1, 2, 3, None, 18262, 6], pa.date32()),
        "u": pa.array([100, 200, 300, None, 1100, 600], pa.duration("ns")),
        "c": pa.array([Decimal("1.50"), None, Decimal("7.00"), Decimal("-3.25"), None, Decimal("5.00")]),
        "y": pa.array([b"a", b"", None, b"b", b"c", b"d"]),
        "p": pa.array(
            [{"q": 1, "r.w": "x"}, None, {"q": None, "r.w": "y"}, {"q": 5, "r.w": None}, {"q": 7, "r.w": "z"}, None]
        ),
        "dict": pa.array(["a", "b", None, "a", "c", "b"]).dictionary_encode(),
        "row": pa.array(range(ROWS)),
    }
)


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Bindable:
    return Bindable(TABLE, tmp_path_factory.mktemp("from_arrow"))


EXPRESSIONS: list[pc.Expression] = [
    f("n") > 5,
    f("n") == 5,
    f("n") != 5,
    pc.scalar(5) > f("n"),
    pc.scalar(5) <= f("n"),
    f("n") < 5.5,
    f("i") >= 5,
    f("i") < 1000,
    f("x") <= 5,
    f("x") != 5,
    f("x") == float("nan"),
    ~(f("x") < 5),
    f("s") == "time",
    f("s") >= "a",
    f("b"),
    ~f("b"),
    f("b") == False,  # noqa: E712
    f("t") >= datetime(1970, 1, 1, 0, 0, 0, 2),
    f("t") == pa.scalar(2, pa.timestamp("us")),
    f("z") > pa.scalar(200, pa.timestamp("ns", "UTC")),
    f("z") == datetime(1970, 1, 12, 13, 46, 40, tzinfo=UTC),
    f("d") == date(2020, 1, 1),
    f("u") > pa.scalar(1000, pa.duration("ns")),
    f("u") < timedelta(microseconds=1),
    f("c") >= Decimal("5.00"),
    f("y") == b"a",
    f("dict") == "a",
    f("p", "q") > 1,
    f("p", "r.w") == "x",
    f("n").isin([1, 5]),
    ~f("n").isin([1, 5]),
    f("n").isin([1, None]),
    ~f("n").isin([1, None]),
    pc.is_in(f("n"), pa.array([1, 5, None]), skip_nulls=True),
    ~pc.is_in(f("n"), pa.array([1, 5, None]), skip_nulls=True),
    f("s").isin(["time", ""]),
    f("s").isin(pa.array([], pa.string())),
    f("d").isin([date(2020, 1, 1)]),
    f("n").is_null(),
    ~f("n").is_null(),
    pc.is_null(f("n")),
    pc.is_in(f("n"), pa.array([1, 5])),
    f("n").is_valid(),
    f("p").is_null(),
    f("p", "q").is_null(),
    pc.starts_with(f("s"), "Time"),
    pc.starts_with(f("s"), "tIME", ignore_case=True),
    pc.ends_with(f("s"), "out"),
    pc.ends_with(f("s"), ".C", ignore_case=True),
    pc.match_substring(f("s"), 'a"b'),
    pc.match_substring(f("s"), "IN ks", ignore_case=True),
    pc.match_substring(f("s"), "A\"B.c", ignore_case=True),
    pc.match_substring_regex(f("s"), "^[Tt]ime"),
    pc.match_substring_regex(f("s"), "^time", ignore_case=True),
    pc.scalar(True),
    pc.scalar(False) | (f("n") == 5),
    f("i") == pc.scalar(5).cast(pa.int8()),
    f("t") < pc.scalar("1970-01-01 00:00:00.000003").cast(pa.timestamp("us")),
    (f("n") > 1) & (f("x") < 6) | ~(f("s") == "time"),
    ~((f("n") > 1) & f("b") | f("p", "q").is_null()),
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_the_rows_are_pyarrows(shard: Bindable, expression: pc.Expression) -> None:
    assert shard.rows(from_expression(expression)) == TABLE.filter(expression)["row"].to_pylist()


leaves = st.sampled_from(EXPRESSIONS)


@examples(150)
@given(expression=trees(leaves, 5))
def test_the_rows_of_trees_are_pyarrows(shard: Bindable, expression: pc.Expression) -> None:
    assert shard.rows(from_expression(expression)) == TABLE.filter(expression)["row"].to_pylist()


PRINTED: list[tuple[pc.Expression, str]] = [
    ((f("a") > 5) & ~(f("b", "c") == "x"), '(col("a") > 5) & ~(col("b.c") == "x")'),
    (f("a.b") == 1, 'col("`a.b`") == 1'),
    (f("a").isin([1, 2]), 'col("a").is_valid() & col("a").isin([1, 2])'),
    (f("a").isin([1, None]), 'col("a").isin([1]) | col("a").is_null()'),
    (pc.starts_with(f("a"), "x"), 'col("a").startswith_cs("x")'),
    (pc.match_substring(f("a"), "a.b", ignore_case=True), r'col("a").matches("(?i)a\\.b")'),
    (f("a") == pa.scalar(1001, pa.timestamp("ns")), 'col("a") == pa.scalar(1001, pa.timestamp("ns"))'),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "text"), PRINTED)
def test_what_they_become(expression: pc.Expression, text: str) -> None:
    assert str(from_expression(expression)) == text


REFUSED: list[tuple[pc.Expression, str]] = [
    (f("a") + 1 > 5, "found add"),
    (pc.utf8_lower(f("a")) == "x", "found utf8_lower"),
    (pc.is_nan(f("a")), "found is_nan"),
    (f("a").cast(pa.int8()) == 1, "cast: expected a literal, found a column"),
    (f("a") == f("b"), "equal: expected a column and a literal"),
    (f("a") == pa.scalar(None, pa.int64()), "equal: expected a value, found a null: use is_null"),
    (f("a").is_null(nan_is_null=True), "is_null: expected nan_is_null=False"),
    (f("a").isin([float("nan")]), "is_in: expected numbers, found NaN"),
    (pc.is_null(f("a") == 1), "is_null: expected a column"),
    (pc.scalar(5), "expected a condition, found the literal 5"),
    (f(0) == 1, "expected columns by their names"),
    (pc.if_else(f("a"), True, False), "found if_else"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "message"), REFUSED)
def test_what_cannot_be_said_is_named(expression: pc.Expression, message: str) -> None:
    with pytest.raises(UnsupportedFeature, match=message):
        from_expression(expression)


def test_and_of_two_values_is_not_kleenes() -> None:
    with pytest.raises(UnsupportedFeature, match="found and"):
        from_expression(pc.and_(f("a"), f("b")))


@pytest.mark.parametrize("given", ["a > 5", None, 5])
def test_other_things_are_refused(given: Any) -> None:
    with pytest.raises(InvalidArgument, match="expected an expression of pyarrow"):
        from_expression(given)


def test_substrait_does_not_say_enough() -> None:
    """Why expressions are read from their pickled form. Once this fails, Substrait may serve instead."""
    schema = pa.schema({"n": pa.int64(), "s": pa.string()})
    table = pa.table({"n": [1, 2, None]}, schema=schema.remove(1)).append_column("s", pa.array(["a", "b", None]))
    outside = ~f("n").isin([1])
    again = pc.Expression.from_substrait(outside.to_substrait(schema))
    assert table.filter(outside).num_rows == 2
    assert table.filter(again).num_rows == 1
    for expression in (pc.match_substring_regex(f("s"), "a"), f("n") < 5.5):
        with pytest.raises(pa.ArrowException):
            expression.to_substrait(schema)
    for kind in (pa.duration("s"), pa.uuid(), pa.decimal256(50, 2)):
        with pytest.raises(pa.ArrowException):
            (f("n") == 1).to_substrait(schema.append(pa.field("other", kind)))
