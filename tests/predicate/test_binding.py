"""Does a bound predicate return the rows that the predicate is true for?"""

from __future__ import annotations

import math
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import InvalidArgument
from amudai.predicate import (
    Always,
    And,
    Bound,
    BoundAlways,
    BoundAnd,
    BoundLeaf,
    BoundOr,
    Compare,
    IsIn,
    IsNull,
    IsValid,
    Not,
    Or,
    Predicate,
    Text,
    bind,
    col,
)
from amudai.types import SchemaNode
from tests.effort import examples
from tests.oracle import operators
from tests.oracle.predicates import joined
from tests.predicate.shards import Bindable, PlainSchema, rows_of
from tests.predicate.test_comparison import OPERATORS

N = [1, 5, None, 7, -3, 0, 5, None]
F = [1.5, math.nan, None, -0.0, 0.0, math.inf, None, 5.0]
S = ["time out", "Time", None, "", "timeout", "si", "\u017fI", "out-time"]
B = [True, None, False, True, None, False, False, True]
T = pa.array([1, 2, 3, None, 5, None, 7, 8], pa.timestamp("us"))
L = [["time", "b"], None, [], [None], ["Time", None], ["x"], [], ["a b"]]
LN = [[1, 2], None, [], [None], [7, None], [-1], [], [5]]
P = [
    {"n": 1, "t": ["x"]},
    None,
    {"n": None, "t": []},
    {"n": 5, "t": None},
    {"n": 7, "t": ["time"]},
    None,
    {"n": 2, "t": ["y"]},
    {"n": 5, "t": ["x"]},
]
M = [[("a", 1)], None, [], [("b", None)], [("a", 7), ("c", 5)], [], [("time", -1)], None]
Q = [[{"n": 1}, {"n": 5}], None, [], [None], [{"n": None}], [{"n": 7}], [], [{"n": 5}]]

TABLE = pa.table(
    {
        "n": pa.array(N, pa.int32()),
        "f": pa.array(F, pa.float64()),
        "s": pa.array(S, pa.string()),
        "b": pa.array(B, pa.bool_()),
        "t": T,
        "l": pa.array(L, pa.list_(pa.string())),
        "ln": pa.array(LN, pa.large_list(pa.int64())),
        "p": pa.array(P, pa.struct([("n", pa.int64()), ("t", pa.list_(pa.string()))])),
        "m": pa.array(M, pa.map_(pa.string(), pa.int64())),
        "q": pa.array(Q, pa.list_(pa.struct([("n", pa.int64())]))),
        "d": pa.array(S, pa.string()).dictionary_encode(),
        "nothing": pa.nulls(8),
        "http.code": pa.array(N, pa.int64()),
    }
)


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Bindable:
    return Bindable(TABLE, tmp_path_factory.mktemp("bind"))


# ---- three values, the slow way ----

LISTED: dict[str, list[Any]] = {
    "l": L,
    "ln": LN,
    "p.t": [row and row["t"] for row in P],
    "m.key": [row and [key for key, _ in row] for row in M],
    "m.value": [row and [value for _, value in row] for row in M],
    "q.n": [row and [item and item["n"] for item in row] for row in Q],
}
PLAIN: dict[str, list[Any]] = {
    "n": N,
    "f": F,
    "s": S,
    "b": B,
    "d": S,
    "p.n": [row and row["n"] for row in P],
    "`http.code`": N,
    "nothing": [None] * 8,
}


def of_value(leaf: Any, value: Any) -> bool | None:
    match leaf:
        case IsNull():
            return value is None
        case IsValid():
            return value is not None
    if value is None:
        return None
    match leaf:
        case Compare(_, op, other):
            return OPERATORS[op](value, other)
        case IsIn(_, others):
            return any(value == other for other in others)
        case Text(_, op, text, case_sensitive):
            return operators.is_true(op, value, text, case_sensitive)
    raise AssertionError(leaf)


def truth(predicate: Predicate, row: int) -> bool | None:
    return joined(predicate, lambda leaf: of_row(leaf, row))


def of_row(predicate: Predicate, row: int) -> bool | None:
    path: str = predicate.path  # type: ignore[attr-defined]
    if path in PLAIN:
        return of_value(predicate, PLAIN[path][row])
    items = LISTED[path.removesuffix(".item")][row]
    if isinstance(predicate, IsNull | IsValid) and path in ("l", "ln", "p.t"):
        return (items is None) is isinstance(predicate, IsNull)
    return None if items is None else any(of_value(predicate, item) is True for item in items)


numbers = st.sampled_from([-3, 0, 1, 5, 5.5, 7, 1e300, -1e300, math.nan, math.inf, 2**70])
strings = st.sampled_from(["", "time", "TIME", "out", "x", "a", "si", "-", "b", "time out"])
compare_ops = st.sampled_from(list(OPERATORS))
number_paths = st.sampled_from(["n", "f", "p.n", "ln", "m.value", "q.n", "`http.code`", "ln.item"])
text_paths = st.sampled_from(["s", "d", "l", "p.t", "m.key", "l.item"])
text_ops = st.sampled_from(["has", "hasprefix", "hassuffix", "contains", "startswith", "endswith", "equals"])
leaves: st.SearchStrategy[Predicate] = st.one_of(
    st.builds(Compare, number_paths, compare_ops, numbers),
    st.builds(IsIn, number_paths, st.lists(numbers, max_size=3).map(tuple)),
    st.builds(Compare, text_paths, compare_ops, strings),
    st.builds(IsIn, text_paths, st.lists(strings, max_size=3).map(tuple)),
    st.builds(Compare, st.just("b"), compare_ops, st.booleans()),
    st.builds(Text, text_paths, text_ops, strings, st.booleans()),
    st.builds(IsNull, st.one_of(number_paths, text_paths, st.just("nothing"))),
    st.builds(IsValid, st.one_of(number_paths, text_paths, st.just("nothing"))),
    st.builds(Compare, st.just("nothing"), compare_ops, numbers),
    st.builds(Always, st.booleans()),
)


def trees(leaf: st.SearchStrategy[Predicate]) -> st.SearchStrategy[Predicate]:
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.builds(And, st.lists(inner, max_size=3).map(tuple)),
            st.builds(Or, st.lists(inner, max_size=3).map(tuple)),
            st.builds(Not, inner),
        ),
        max_leaves=6,
    )


@examples(500)
@given(leaf=leaves)
def test_leaves_and_their_negations(shard: Bindable, leaf: Predicate) -> None:
    expected = [truth(leaf, row) for row in range(8)]
    assert shard.rows(leaf) == [row for row in range(8) if expected[row] is True]
    assert shard.rows(Not(leaf)) == [row for row in range(8) if expected[row] is False]


@examples(200)
@given(predicate=trees(leaves))
def test_rows_are_those_for_which_the_predicate_is_true(shard: Bindable, predicate: Predicate) -> None:
    assert shard.rows(predicate) == [row for row in range(8) if truth(predicate, row) is True]


# ---- pyarrow's own evaluation of the same tree ----

plain_leaves: st.SearchStrategy[Predicate] = st.one_of(
    st.builds(
        Compare, st.sampled_from(["n", "f"]), compare_ops, st.sampled_from([-3, 0, 1, 5, 5.5, 7, 1e300, math.nan])
    ),
    st.builds(Compare, st.just("s"), compare_ops, strings),
    st.builds(IsIn, st.just("n"), st.lists(st.sampled_from([0, 5, 7]), min_size=1, max_size=3).map(tuple)),
    st.builds(IsNull, st.sampled_from(["n", "f", "s", "b"])),
    st.builds(Compare, st.just("b"), st.sampled_from(["==", "!="]), st.booleans()),
)


def as_expression(predicate: Predicate) -> pc.Expression:
    match predicate:
        case Compare(path, op, value):
            return OPERATORS[op](pc.field(path), pc.scalar(value))
        case IsIn(path, values):
            return as_expression(Or(tuple(Compare(path, "==", value) for value in values)))
        case IsNull(path):
            return pc.field(path).is_null()
        case Not(term):
            return ~as_expression(term)
        case And(terms) | Or(terms):
            found = pc.scalar(isinstance(predicate, And))
            for term in terms:
                found = found & as_expression(term) if isinstance(predicate, And) else found | as_expression(term)
            return found
    raise AssertionError(predicate)


@examples(150)
@given(predicate=trees(plain_leaves))
def test_pyarrow_returns_the_same_rows(shard: Bindable, predicate: Predicate) -> None:
    numbered = TABLE.select(["n", "f", "s", "b"]).append_column("row", pa.array(range(8)))
    assert shard.rows(predicate) == numbered.filter(as_expression(predicate))["row"].to_pylist()


# ---- the form of what comes out ----


def parts(bound: Bound) -> list[Bound]:
    return [bound, *(part for term in getattr(bound, "terms", ()) for part in parts(term))]


@examples(200)
@given(predicate=trees(leaves))
def test_the_form_is_normal(shard: Bindable, predicate: Predicate) -> None:
    bound = shard.bind(predicate)
    for part in parts(bound):
        if isinstance(part, BoundAnd | BoundOr):
            assert len(part.terms) > 1
            assert not any(isinstance(term, type(part) | BoundAlways) for term in part.terms)
        elif isinstance(part, BoundLeaf):
            assert part.scalars or not isinstance(part.leaf, Compare | IsIn)
            if part.negated and isinstance(part.leaf, Compare) and not part.lists:
                assert part.leaf.path == "f"  # where NaN is neither less nor not less


BOUND = [
    (col("n") < 5.5, 'col("n") <= 5'),
    (~(col("n") < 5), 'col("n") >= 5'),
    (~(col("f") < 5), '~(col("f") < 5)'),
    (~(col("f") == 5), 'col("f") != 5'),
    (col("n") == 5.5, "False"),
    (~(col("n") == 5.5), 'col("n").is_valid()'),
    (col("n") < 2**40, 'col("n").is_valid()'),
    (~(col("n") < 2**40), "False"),
    (col("n").isin([5.5, 2**40]), "False"),
    (col("n").isin([5, 5.5]), 'col("n").isin([5])'),
    (~col("n").is_null(), 'col("n").is_valid()'),
    (~col("l.item").is_null(), '~col("l.item").is_null()'),
    (~(col("ln") == 5.5), 'col("ln").is_valid()'),
    (col("s").has(""), 'col("s").is_valid()'),
    (col("l").contains(""), 'col("l.item").is_valid()'),
    (col("s").iequals(""), 'col("s").iequals("")'),
    (col("t") < "1970-01-01T00:00:00.0000025", 'col("t") <= datetime.datetime(1970, 1, 1, 0, 0, 0, 2)'),
    (~((col("n") == 1) | ~col("s").has("x")), '(col("n") != 1) & col("s").has("x")'),
    (((col("n") == 1) & (col("n") == 5.5)) | col("s").has("x"), 'col("s").has("x")'),
    (col("nothing") == 1, "False"),
    (~(col("nothing") == 1), "False"),
]  # fmt: skip


@pytest.mark.parametrize(("predicate", "text"), BOUND)
def test_bound_predicates_print(shard: Bindable, predicate: Predicate, text: str) -> None:
    assert str(shard.bind(predicate)) == text


def test_a_leaf_knows_its_way_and_its_value(shard: Bindable) -> None:
    leaf = shard.bind(col("q.n") >= 5)
    assert isinstance(leaf, BoundLeaf)
    assert [node.name for node in leaf.nodes if node.name in ("q", "n")] == ["q", "n"]
    assert (leaf.type, leaf.scalars, leaf.lists) == (pa.int64(), (pa.scalar(5, pa.int64()),), True)
    leaf = shard.bind(col("n") == 5)
    assert isinstance(leaf, BoundLeaf)
    assert (leaf.type, leaf.scalars, leaf.lists) == (pa.int32(), (pa.scalar(5, pa.int32()),), False)
    leaf = shard.bind(col("d") == "x")
    assert isinstance(leaf, BoundLeaf)
    assert leaf.scalars == (pa.scalar("x"),)


@examples(100)
@given(predicate=trees(leaves))
def test_a_schema_without_a_file_will_do(shard: Bindable, predicate: Predicate) -> None:
    bound = bind(predicate, PlainSchema(TABLE.schema))
    assert str(bound) == str(shard.bind(predicate))
    assert rows_of(bound, TABLE) == shard.rows(predicate)


class Counting(PlainSchema):
    """A schema that counts the columns it was asked for."""

    asked: list[str]

    def field(self, node: SchemaNode) -> pa.Field:
        self.asked.append(node.name)
        return super().field(node)

    def visible(self) -> tuple[SchemaNode, ...]:
        raise AssertionError("asked for all columns")


def test_only_the_columns_of_the_predicate_are_asked_for() -> None:
    schema = Counting(TABLE.schema)
    schema.asked = []
    bind((col("n") == 1) & col("p.t").has("x"), schema)
    assert schema.asked == ["n", "p"]


# ---- mistakes ----

MISTAKES: list[tuple[Predicate, str]] = [
    (col("nn") == 1, "column 'nn': expected one of .*; did you mean 'n'"),
    (col("S").has("x"), "did you mean 's'"),
    (col("p.m") == 1, "did you mean 'p.t' or 'p.n'"),
    (col("xyz") == 1, "column 'xyz': expected one of"),
    (col("n") == "x", "column 'n' of type int32: expected a number to compare with, found 'x'"),
    (col("n").isin([1, "x"]), "column 'n' of type int32: expected a number"),
    (col("n").has("x"), "column 'n' of type int32: expected text for has"),
    (col("n").matches("x"), "column 'n' of type int32: expected text for matches"),
    (col("ln").contains("x"), "column 'ln' of type int64: expected text for contains"),
    (col("p") == 1, "column 'p': expected a type that can be compared with 1, found struct"),
    (col("m") == 1, "column 'm': expected a type that can be compared with 1, found map"),
    (col("s").matches("(x"), r"expected a regular expression, found '\(x'"),
    (col("s").has("\ud800"), "UTF-8"),
    (col("t") > datetime(2020, 1, 1).astimezone(), "without a time zone"),
]


@pytest.mark.parametrize(("predicate", "message"), MISTAKES)
def test_mistakes_name_the_column(shard: Bindable, predicate: Predicate, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        shard.bind(predicate)


def test_only_predicates_are_bound(shard: Bindable) -> None:
    with pytest.raises(InvalidArgument, match="where: expected a predicate, found 'n == 1'"):
        shard.bind("n == 1")  # type: ignore[arg-type]


def test_paths_lead_through_unions(tmp_path: Path) -> None:
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])], ["i", "s"])
    shard = Bindable(pa.table({"u": union}), tmp_path)
    bound = shard.bind(col("u.i") == 1)
    assert isinstance(bound, BoundLeaf)
    assert bound.unions
    assert [node.name for node in bound.nodes] == ["u", "i"]
