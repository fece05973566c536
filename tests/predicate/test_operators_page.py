"""Do the operators mean what docs/operators.md says?"""

from __future__ import annotations

import ast
from operator import attrgetter
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from amudai.predicate import Predicate, col
from tests.oracle import operators
from tests.predicate.shards import Bindable

PAGE = Path(__file__).parents[2] / "docs" / "operators.md"
ANSWERS = {"true": True, "false": False, "null": None}
Case = tuple[str | None, str, Any, bool | None]


def rows_below(heading: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    lines = PAGE.read_text("utf-8").split(f"## {heading}\n")[1].split("\n## ")[0].splitlines()
    table = [line for line in lines if line.startswith("|")][2:]
    return [[cell.strip().strip("`") for cell in line.strip("|").split(" |")] for line in table]


# ---- side by side ----

VALUES = [
    "time-out",
    "Time-Out",
    "timeout",
    "time",
    "out",
    "OUT of time",
    "time out",
    "",
    None,
    "sometimes",
    "t\nt",
    "without",
]


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Bindable:
    return Bindable(pa.table({"value": VALUES}), tmp_path_factory.mktemp("page"))


def asked(column: str, cell: str, names: dict[str, Any]) -> Any:
    return eval(f"{column}{cell}" if cell.startswith("==") else f"{column}.{cell}", names)


@pytest.mark.parametrize(("meaning", "kql", "polars", "sql"), rows_below("Side by side"))
def test_operators_in_a_row_return_the_same_rows(
    shard: Bindable, meaning: str, kql: str, polars: str, sql: str
) -> None:
    names = {"col": col, "pl": pl}
    answers: list[list[int]] = []
    for cell in (kql, polars, sql):
        if cell and not cell.startswith("is_in("):
            predicate: Predicate = asked('col("value")', cell, names)
            answers.append(shard.rows(predicate))
    frame = pl.DataFrame({"value": VALUES}).with_row_index()
    if polars:
        answers.append(frame.filter(asked('pl.col("value")', polars, names))["index"].to_list())
    if sql:
        operator, pattern = sql.split("(", 1)
        rows = duckdb.sql(
            f"select index from frame where value {operator} '{ast.literal_eval(pattern[:-1])}'"
        ).fetchall()
        answers.append(sorted(row for (row,) in rows))
    assert all(answer == answers[0] for answer in answers), meaning
    assert 0 < len(answers[0]) < len(VALUES), meaning


def test_every_operator_has_a_row() -> None:
    cells = [cell for _, *cells in rows_below("Side by side") for cell in cells]
    shown = {cell.split("(")[0] for cell in cells}
    text_operators = {name for name in dir(col("a")) if not name.startswith("_")} - {"between", "is_valid", "str"}
    assert shown >= text_operators | {f"str.{name}" for name in dir(col("a").str) if not name.startswith("_")}


# ---- cases ----


def cases() -> list[Case]:
    """The rows of the table under "Cases"."""
    return [
        (None if value == "null" else ast.literal_eval(value), operator, ast.literal_eval(text), ANSWERS[answer])
        for value, operator, text, answer in rows_below("Cases")
    ]


def test_the_page_has_many_cases() -> None:
    assert len(cases()) >= 110
    assert {operator.removesuffix("_cs") for _, operator, _, _ in cases()} >= {
        "has", "hasprefix", "hassuffix", "contains", "startswith", "endswith", "iequals", "matches", "like", "ilike",
        "str.contains", "str.starts_with", "str.ends_with", "str.contains_any",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_cases(kind: pa.DataType, tmp_path: Path) -> None:
    found = cases()
    table = pa.table(
        {
            "value": pa.array([value for value, _, _, _ in found]).cast(kind),
            "list": [[value] for value, _, _, _ in found],
        }
    )
    shard = Bindable(table, tmp_path)
    for row, (value, operator, text, answer) in enumerate(found):
        predicate = attrgetter(operator)(col("value"))(text)
        true, false = row in shard.rows(predicate), row in shard.rows(~predicate)
        assert (true, false) == (answer is True, answer is False), f"{value!r} {operator} {text!r}"
        of_items = attrgetter(operator)(col("list"))(text)
        assert (row in shard.rows(of_items)) is (answer is True)
        assert (row in shard.rows(~of_items)) is (answer is not True)


@pytest.mark.parametrize(("value", "operator", "text", "answer"), cases())
def test_the_oracle_says_the_same(value: str | None, operator: str, text: Any, answer: bool | None) -> None:
    if operator == "matches":
        assert pc.match_substring_regex(pa.array([value], pa.string()), text)[0].as_py() is answer
    elif operator.startswith("str."):
        frame = pl.DataFrame({"value": pl.Series([value], dtype=pl.String)})
        given = pl.Series(text, dtype=pl.String).implode() if isinstance(text, list) else text
        assert frame.select(attrgetter(operator)(pl.col("value"))(given)).item() is answer
    elif operator in ("like", "ilike"):
        found = None if value is None else operators.is_like(value, text, case_sensitive=operator == "like")
        assert found is answer
    else:
        op = "equals" if operator == "iequals" else operator.removesuffix("_cs")
        assert operators.is_true(op, value, text, operator.endswith("_cs")) is answer
