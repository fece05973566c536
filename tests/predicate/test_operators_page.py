"""Do the operators mean what docs/operators.md says?"""

from __future__ import annotations

import ast
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from amudai.predicate import col
from tests.oracle import operators
from tests.predicate.shards import Bindable

PAGE = Path(__file__).parents[2] / "docs" / "operators.md"
ANSWERS = {"true": True, "false": False, "null": None}
Case = tuple[str | None, str, str, bool | None]


def cases() -> list[Case]:
    """The rows of the table under "Cases"."""
    lines = PAGE.read_text().split("## Cases")[1].splitlines()
    rows = [
        [cell.strip().strip("`") for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| `")
    ]
    return [
        (None if value == "null" else ast.literal_eval(value), operator, ast.literal_eval(text), ANSWERS[answer])
        for value, operator, text, answer in rows
    ]


def test_the_page_has_many_cases() -> None:
    assert len(cases()) >= 60
    assert {operator.removesuffix("_cs") for _, operator, _, _ in cases()} >= {
        "has", "hasprefix", "hassuffix", "contains", "startswith", "endswith", "iequals", "matches"
    }  # fmt: skip


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
        predicate = getattr(col("value"), operator)(text)
        true, false = row in shard.rows(predicate), row in shard.rows(~predicate)
        assert (true, false) == (answer is True, answer is False), f"{value!r} {operator} {text!r}"
        of_items = getattr(col("list"), operator)(text)
        assert (row in shard.rows(of_items)) is (answer is True)
        assert (row in shard.rows(~of_items)) is (answer is not True)


@pytest.mark.parametrize(("value", "operator", "text", "answer"), cases())
def test_the_oracle_says_the_same(value: str | None, operator: str, text: str, answer: bool | None) -> None:
    if operator == "matches":
        assert pc.match_substring_regex(pa.array([value], pa.string()), text)[0].as_py() is answer
        return
    op = "equals" if operator == "iequals" else operator.removesuffix("_cs")
    assert operators.is_true(op, value, text, operator.endswith("_cs")) is answer
