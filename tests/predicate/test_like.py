"""Do `like` and `ilike` mean what they mean in SQL?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai.errors import InvalidArgument
from amudai.predicate import Matches, Predicate, Text, bind, col, parse_where
from tests.effort import examples
from tests.oracle import operators
from tests.predicate.shards import PlainSchema, rows_of

SCHEMA = PlainSchema(pa.schema({"s": pa.string()}))
# Without characters whose case DuckDB ignores otherwise: it compares lower case, the operators here upper case.
ALPHABET = "aAbB%_\\ .^$[](){}*+?|-\n\u00e9\u00c9\u4e2d\U0001f600"
patterns = st.text(ALPHABET, max_size=7)
values = st.lists(st.one_of(st.none(), st.text(ALPHABET, max_size=8)), max_size=8)


def both(predicate: Predicate, values: list[str | None]) -> tuple[list[int], list[int]]:
    """The rows for which a predicate is true, and those for which it is false."""
    table = pa.table({"s": pa.array(values, pa.string())})
    return rows_of(bind(predicate, SCHEMA), table), rows_of(bind(~predicate, SCHEMA), table)


def of_duckdb(
    operator: str, pattern: str, values: list[str | None], escape: str | None = None
) -> tuple[list[int], list[int]]:
    table = pa.table({"s": pa.array(values, pa.string()), "row": range(len(values))})
    with duckdb.connect() as connection:
        connection.register("t", table)
        clause = "" if escape is None else " escape $escape"
        given = {"pattern": pattern} if escape is None else {"pattern": pattern, "escape": escape}
        found = connection.execute(f"select row, s {operator} $pattern{clause} from t order by row", given).fetchall()
    return [row for row, answer in found if answer], [row for row, answer in found if answer is False]


@pytest.mark.slow
@examples(300)
@given(pattern=patterns, values=values)
def test_duckdb_says_the_same(pattern: str, values: list[str | None]) -> None:
    assert both(col("s").like(pattern), values) == of_duckdb("like", pattern, values)
    assert both(col("s").ilike(pattern), values) == of_duckdb("ilike", pattern, values)


@pytest.mark.slow
@examples(200)
@given(pattern=patterns, values=values, escape=st.sampled_from("\\.a"))
def test_duckdb_escapes_in_the_same_way(pattern: str, values: list[str | None], escape: str) -> None:
    try:
        predicate = col("s").like(pattern, escape=escape)
    except InvalidArgument:
        return  # there is nothing behind the last escape; DuckDB says so only if a value gets that far
    assert both(predicate, values) == of_duckdb("like", pattern, values, escape)


@examples(200)
@given(data=st.data(), ignore_case=st.booleans())
def test_the_oracle_says_the_same(data: st.DataObject, ignore_case: bool) -> None:
    """Patterns that are made from the value, letters whose case is odd included."""
    letters = "aAsSiIkK\u017f\u0131\u0130\u212a\u00df\u1e9e\u03c3\u03c2\u03a3\u00b5\u03bc."
    value = data.draw(st.text(letters, max_size=6))
    pattern = "".join(data.draw(st.sampled_from([each, each, each.swapcase()[:1], "_", "%"])) for each in value)
    column = col("s")
    answer = operators.is_like(value, pattern, case_sensitive=not ignore_case)
    true, false = both(column.ilike(pattern) if ignore_case else column.like(pattern), [value])
    assert (true, false) == (([0], []) if answer else ([], [0]))


LEAVES: list[tuple[str, Predicate, Predicate]] = [
    ("abc", Text("s", "equals", "abc", True), col("s").iequals("abc")),
    ("%abc%", col("s").contains_cs("abc"), col("s").contains("abc")),
    ("%%abc%%", col("s").contains_cs("abc"), col("s").contains("abc")),
    ("abc%", col("s").startswith_cs("abc"), col("s").startswith("abc")),
    ("%abc", col("s").endswith_cs("abc"), col("s").endswith("abc")),
    ("%", col("s").contains_cs(""), col("s").contains("")),
    ("", Text("s", "equals", "", True), col("s").iequals("")),
    ("a%.b", Matches("s", r"(?s)\Aa.*\.b\z"), Matches("s", r"(?s)\A[Aa].*\.[Bb]\z")),
    ("_", Matches("s", r"(?s)\A.\z"), Matches("s", r"(?s)\A.\z")),
    ("%a_s%", Matches("s", "(?s)a.s"), Matches("s", "(?s)[Aa].[Ss\u017f]")),
]


@pytest.mark.parametrize(("pattern", "like", "ilike"), LEAVES)
def test_which_leaves_they_become(pattern: str, like: Predicate, ilike: Predicate) -> None:
    assert col("s").like(pattern) == like
    assert col("s").ilike(pattern) == ilike


def test_an_exact_text_is_compared() -> None:
    assert str(bind(col("s").like("abc"), SCHEMA)) == 'col("s") == "abc"'
    assert bind(col("s").like("abc"), SCHEMA) == bind(col("s") == "abc", SCHEMA)


TEXTS: list[tuple[str, Predicate]] = [
    ("s like 'a%'", col("s").like("a%")),
    ("s not like '%a_b'", ~col("s").like("%a_b")),
    ("s !ilike 'A%'", ~col("s").ilike("A%")),
    ("s ILIKE '%x%' and s like 'y'", col("s").ilike("%x%") & col("s").like("y")),
    (r"s like '100!%' escape '!'", col("s").like("100!%", escape="!")),
    (r"s like @'100\%' escape @'\'", col("s").like("100\\%", escape="\\")),
]


@pytest.mark.parametrize(("text", "predicate"), TEXTS)
def test_predicates_written_as_text(text: str, predicate: Predicate) -> None:
    assert parse_where(text) == predicate


MISTAKES: list[tuple[Callable[[], object], str]] = [
    (lambda: col("s").like(5), "like: expected a pattern, found 5"),  # type: ignore[arg-type]
    (lambda: col("s").ilike("a", escape="ab"), "ilike: expected a single escape character, found 'ab'"),
    (lambda: col("s").like("a!", escape="!"), "like: expected a character behind the last '!', found 'a!'"),
    (lambda: bind(col("n").like("5"), PlainSchema(pa.schema({"n": pa.int64()}))), "column 'n' .* expected text"),
    (lambda: parse_where("s like 5"), "expected a text in quotes, found `5`"),
    (lambda: parse_where("s like 'a!' escape '!'"), "expected a character behind the last"),
    (lambda: parse_where("s like 'a' escape"), "expected a text in quotes, found the end"),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES)
def test_mistakes(mistake: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        mistake()


@pytest.mark.slow
def test_an_index_answers(tmp_path: Path) -> None:
    words = ["alpha beta", "Alpha-Beta", "gamma delta", "beta alpha"]
    table = pa.table({"s": [words[row % 4] + f" {row}" for row in range(4000)]})
    shard = amudai.write(table, tmp_path / "s.amudai.shard", indexes=[amudai.TermIndex("s")])
    for pattern in ("%alpha%beta%", "%gamma%", "Alpha%", "%a 17", "%7_7"):
        for operator in ("like", "ilike"):
            scan = shard.scan(where=f"s {operator} '{pattern}'")
            expected, _ = of_duckdb(operator, pattern, table["s"].to_pylist())
            assert list(scan.positions()) == expected
    explained = str(shard.scan(where="s ilike '%gamma_delta 2%'").explain())
    assert "term" in explained
