"""The table of `docs/engines.md` is what the receipts of scans say.

`AMUDAI_WRITE_ENGINES=1 pytest tests/interop/test_engines_page.py` writes the table anew.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

import amudai
from amudai.api import ArrowDataset
from tests.interop import tables

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install 'amudai[duckdb]'")
pytest.importorskip("sqlglot", reason="sqlglot is not installed: pip install 'amudai[duckdb]'")
datafusion = pytest.importorskip("datafusion", reason="DataFusion is not installed: pip install datafusion")
pl = pytest.importorskip("polars", reason="polars is not installed: pip install 'amudai[polars]'")

pytestmark = pytest.mark.source

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"
BEGIN, END = "<!-- pushed down -->\n", "<!-- /pushed down -->\n"
START = dt.datetime(2026, 1, 1, 3)

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


def is_pushed(rows: ArrowDataset) -> bool:
    return any(scan.explain().where != "True" for scan in rows.scans)


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


def by_polars(shard: amudai.Shard, predicate: Any, expected: int) -> str:
    from amudai.interop.polars_frames import pushed

    assert amudai.scan_polars(shard).filter(predicate).select(pl.len()).collect().item() == expected
    return "no" if pushed(predicate, shard) is None else "yes"


# The same conditions for engines of clusters, which have no SQL that reaches a source.
RAY: dict[str, str] = {
    "`status = 500`": "col('status') == 500",
    "`status < 500`": "col('status') < 500",
    "`status BETWEEN 404 AND 500`": "(col('status') >= 404) & (col('status') <= 500)",
    "`status IN (500, 503)`": "col('status').is_in([500, 503])",
    "`NOT (status < 500)`": "~(col('status') < 500)",
    "`level IS NULL`": "col('level').is_null()",
    "`level = 'warn'`": "col('level') == 'warn'",
    "OR over two columns": "(col('status') == 500) | (col('level') == 'warn')",
    "a range of times": "col('ts') >= START",
    "a member of a struct": "col('http').struct.field('code') == 3",
    "a float, `ms < 1`": "col('ms') < 1",
    "a float, `ms > 1`": "col('ms') > 1",
    "text begins with": "col('message').str.starts_with('retry')",
    "text contains": "col('message').str.contains('retry')",
    "`status + 1 = 501`": "col('status') + 1 == 501",
}
DAFT: dict[str, str] = {
    **RAY,
    "a member of a struct": "col('http').get('code') == 3",
    "text begins with": "col('message').startswith('retry')",
    "text contains": "col('message').contains('retry')",
}
CLUSTER_BEGIN, CLUSTER_END = "<!-- pushed down by clusters -->\n", "<!-- /pushed down by clusters -->\n"


def by_ray(shard: amudai.Shard, condition: str, col: Any) -> str:
    from amudai.interop.ray_data import AmudaiDatasource

    expression = eval(condition, {"col": col, "START": START})
    if not expression._is_pyarrow_convertible():
        return "no"  # Ray keeps the filter
    source = AmudaiDatasource(shard).apply_predicate(expression)
    found = sum(block.num_rows for task in source.get_read_tasks(1) for block in task())
    assert found == tables.logs().filter(expression.to_pyarrow()).num_rows
    return "yes" if is_pushed(source._rows) else "no"


def by_daft(shard: amudai.Shard, condition: str, daft: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    from amudai.interop import daft_source, read_daft

    seen: list[Any] = []
    read = daft_source.from_daft
    monkeypatch.setattr(daft_source, "from_daft", lambda *asked: seen.append(read(*asked)) or seen[-1])
    expression = eval(condition, {"col": daft.col, "START": START})
    found = read_daft(shard).where(expression).select("id").to_pydict()["id"]
    monkeypatch.setattr(daft_source, "from_daft", read)
    assert found == daft.from_arrow(tables.logs()).where(expression).select("id").to_pydict()["id"]
    return "yes" if any(each is not None for each in seen) else "no"


@pytest.mark.slow
def test_the_table_says_what_ray_and_daft_push_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray.data", reason="Ray Data is not installed: pip install 'amudai[ray]'")
    daft = pytest.importorskip("daft", reason="Daft is not installed: pip install 'amudai[daft]'")
    from ray.data.expressions import col

    shard = tables.shard_of(tables.logs(), tmp_path)
    lines = ["| condition | Ray Data | Daft |", "|---|---|---|"]
    for kind, condition in RAY.items():
        cells = [by_ray(shard, condition, col), by_daft(shard, DAFT[kind], daft, monkeypatch)]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    check_table(lines, CLUSTER_BEGIN, CLUSTER_END)


def check_table(lines: list[str], begin: str, end: str) -> None:
    """Compare a table with that of the page, or write it there."""
    table = "".join(f"{line}\n" for line in lines)
    before, _, rest = PAGE.read_text().partition(begin)
    old, _, after = rest.partition(end)
    if os.environ.get("AMUDAI_WRITE_ENGINES"):
        PAGE.write_text(f"{before}{begin}{table}{end}{after}")
    else:
        assert old == table


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
    lines = ["| condition | DuckDB | `amudai.sql` | DataFusion | polars |", "|---|---|---|---|---|"]
    for kind, (condition, predicate) in KINDS.items():
        expected = frame.filter(predicate()).height
        cells = [
            by_duckdb(shard, condition, expected),
            by_sql(shard, condition, expected, made),
            by_datafusion(shard, condition),
            by_polars(shard, predicate(), expected),
        ]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    check_table(lines, BEGIN, END)
