"""The table of `docs/engines.md` is what the receipts of scans say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

import amudai
from amudai.api import ArrowDataset
from amudai.interop import polars_reader
from tests.interop import tables
from tests.interop.page import START, check_table, is_pushed

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install 'amudai[duckdb]'")
pytest.importorskip("sqlglot", reason="sqlglot is not installed: pip install 'amudai[duckdb]'")
datafusion = pytest.importorskip("datafusion", reason="DataFusion is not installed: pip install 'amudai[datafusion]'")
pl = pytest.importorskip("polars", reason="polars is not installed: pip install 'amudai[polars]'")

pytestmark = pytest.mark.source

BEGIN, END = "<!-- pushed down -->\n", "<!-- /pushed down -->\n"

# The kind of a condition, the condition in SQL, and in polars.
KINDS: dict[str, tuple[str, Callable[[], Any]]] = {
    "`status = 500`": ("status = 500", lambda: pl.col("status") == 500),
    "`status < 500`": ("status < 500", lambda: pl.col("status") < 500),
    "`status BETWEEN 404 AND 500`": ("status BETWEEN 404 AND 500", lambda: pl.col("status").is_between(404, 500)),
    "`status IN (500, 503)`": ("status IN (500, 503)", lambda: pl.col("status").is_in([500, 503])),
    "`NOT (status < 500)`": ("NOT (status < 500)", lambda: ~(pl.col("status") < 500)),
    "`level IS NULL`": ("level IS NULL", lambda: pl.col("level").is_null()),
    "`level = 'warn'`": ("level = 'warn'", lambda: pl.col("level") == "warn"),
    "OR over two columns": (
        "status = 500 OR level = 'warn'",
        lambda: (pl.col("status") == 500) | (pl.col("level") == "warn"),
    ),
    "a range of times": ("ts >= TIMESTAMP '2026-01-01 03:00:00'", lambda: pl.col("ts") >= START),
    "a member of a struct": ("http['code'] = 3", lambda: pl.col("http").struct.field("code") == 3),
    "a float, `ms < 1`": ("ms < 1", lambda: pl.col("ms") < 1),
    "a float, `ms > 1`": ("ms > 1", lambda: pl.col("ms") > 1),
    "text begins with": ("message LIKE 'retry%'", lambda: pl.col("message").str.starts_with("retry")),
    "text contains": ("message LIKE '%retry%'", lambda: pl.col("message").str.contains("retry", literal=True)),
    "text contains, in any case": ("message ILIKE '%retry%'", lambda: pl.col("message").str.contains("(?i)retry")),
    "a regular expression": ("REGEX(message, 're.ry')", lambda: pl.col("message").str.contains("re.ry")),
    "a word: `has`": ("has(message, 'retry')", lambda: pl.col("message").amudai.has("retry")),
    "`status + 1 = 501`": ("status + 1 = 501", lambda: pl.col("status") + 1 == 501),
}


def by_duckdb(shard: amudai.Shard, condition: str, expected: int) -> str:
    from amudai.interop import register

    condition = condition.replace("http['code']", "http.code")
    rows, connection = shard.to_pyarrow_dataset(), duckdb.connect()
    register(connection)
    connection.register("logs", rows)
    condition = condition.replace("REGEX(", "regexp_matches(")
    assert connection.sql(f"SELECT count(*) FROM logs WHERE {condition}").fetchall() == [(expected,)]
    return "yes" if is_pushed(rows) else "no"


def by_sql(shard: amudai.Shard, condition: str, expected: int, made: list[ArrowDataset]) -> str:
    made.clear()
    condition = condition.replace("http['code']", "http.code")
    condition = condition.replace("REGEX(", "regexp_matches(")
    assert amudai.sql(f"SELECT count(*) FROM logs WHERE {condition}", logs=shard).fetchall() == [(expected,)]
    return "yes" if any(is_pushed(rows) for rows in made) else "no"


def by_datafusion(shard: amudai.Shard, condition: str) -> str:
    if condition.startswith("has("):
        return "no"
    rows, context = shard.to_pyarrow_dataset(), datafusion.SessionContext()
    context.register_dataset("logs", rows)
    condition = condition.replace("REGEX(", "regexp_like(")
    found = context.sql(f"SELECT count(*) AS n FROM logs WHERE {condition}").to_pydict()["n"]
    # The answer on a dataset of pyarrow's own. DataFusion hands it comparisons, which are false for NaN.
    context.register_dataset("plain", ds.dataset(tables.logs()))
    assert found == context.sql(f"SELECT count(*) AS n FROM plain WHERE {condition}").to_pydict()["n"]
    return "yes" if is_pushed(rows) else "no"


def by_polars(shard: amudai.Shard, predicate: Any, expected: int, asked: list[Any]) -> str:
    asked.clear()
    assert amudai.scan_polars(shard).filter(predicate).select(pl.len()).collect().item() == expected
    return "yes" if any(where is not None for where in asked) else "no"


@pytest.mark.slow
def test_the_table_says_what_is_pushed_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shard = tables.shard_of(tables.logs(), tmp_path)
    amudai.scan_polars(shard)  # installs the operators of amudai
    frame = pl.from_arrow(tables.logs())
    made: list[ArrowDataset] = []

    def noted(*arguments: Any) -> ArrowDataset:
        made.append(ArrowDataset(*arguments))
        return made[-1]

    monkeypatch.setattr("amudai.interop.duckdb_sql.ArrowDataset", noted)
    asked: list[Any] = []
    read = polars_reader.frames_of
    monkeypatch.setattr(polars_reader, "frames_of", lambda *each: asked.append(each[2]) or read(*each))
    lines = ["| condition | DuckDB | `amudai.sql` | DataFusion | polars |", "|---|---|---|---|---|"]
    for kind, (condition, predicate) in KINDS.items():
        expected = frame.filter(predicate()).height
        cells = [
            by_duckdb(shard, condition, expected),
            by_sql(shard, condition, expected, made),
            by_datafusion(shard, condition),
            by_polars(shard, predicate(), expected, asked),
        ]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    check_table(lines, BEGIN, END)
