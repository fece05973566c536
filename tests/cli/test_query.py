"""Does query ask in KQL and SQL, and write what it found?"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import amudai
from tests.cli.runs import run

pytest.importorskip("duckdb_kql", reason="duckdb-kql is not installed: pip install 'amudai[kql]'")

FAILED = [row for row in range(1000) if row % 7 == 0]
ASKED = 'where message has "timeout" and status >= 501 | summarize n = count() by status | sort by status asc'
FOUND = [{"status": code, "n": sum(1 for row in FAILED if row % 3 == code - 500)} for code in (501, 502)]


def rows(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_query_prints_tables_json_lines_and_csv(shard: Path) -> None:
    assert rows(run("query", ASKED, shard, "--json").stdout) == FOUND
    first, second = (str(row["n"]) for row in FOUND)
    assert run("query", ASKED, shard, "-f", "csv").stdout.splitlines() == ["status,n", f"501,{first}", f"502,{second}"]
    assert run("query", ASKED, shard).stdout.split() == ["status", "n", "501", first, "502", second]
    assert run("query", "where status == 7", shard).stdout == ""


def test_query_writes_files(shard: Path, tmp_path: Path) -> None:
    target = tmp_path / "found.parquet"
    run("query", ASKED, shard, "-o", target)
    assert pq.read_table(target).to_pylist() == FOUND
    assert "expected a new file" in run("query", ASKED, shard, "-o", target, code=3).stderr
    run("query", "where status == 502", shard, "-o", target, "--overwrite")
    assert pq.read_table(target).num_rows == FOUND[1]["n"]
    run("query", ASKED, shard, "-o", tmp_path / "found.jsonl")
    assert rows((tmp_path / "found.jsonl").read_text()) == FOUND


def test_query_reads_shards_folders_and_attached_parquet(shard: Path, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    amudai.write_dataset(amudai.open(shard).to_table(), folder, rows_per_shard=400)
    pq.write_table(amudai.open(shard).to_table(), tmp_path / "lake.parquet")
    amudai.attach(tmp_path / "lake.parquet", to=tmp_path / "lake.amudai.shard")
    for source in (folder, tmp_path / "lake.amudai.shard"):
        assert rows(run("query", ASKED, source, "--json").stdout) == FOUND
    twice = [{**row, "n": row["n"] * 2} for row in FOUND]
    assert rows(run("query", ASKED, shard, *sorted(folder.glob("*.shard")), "--json").stdout) == twice


def test_query_asks_in_sql(shard: Path) -> None:
    condition = "message LIKE '%timeout%' AND status >= 501"
    asked = f"SELECT status, count(*) AS n FROM data WHERE {condition} GROUP BY ALL ORDER BY 1"
    done = run("query", "--sql", asked, shard, "--json", "--explain")
    assert rows(done.stdout) == FOUND
    assert json.loads(done.stderr)["scans"][0]["where"].endswith('col("message").contains_cs("timeout")')
    assert "found nothing" in run("query", "--sql", "SELECT nothing FROM data", shard, code=2).stderr
    for refused in ("SET threads = 2", "CREATE TABLE t AS FROM data", "SELECT 1; SELECT 2", ""):
        assert "sql: expected one query" in run("query", "--sql", refused, shard, code=2).stderr
    assert "sql: expected" in run("query", "--sql", "SELEC 1", shard, code=2).stderr


def test_query_explains(shard: Path) -> None:
    said = run("query", ASKED, shard, "--explain").stderr
    assert said.startswith("where: the scan\nsummarize: DuckDB\nsort: DuckDB\n")
    assert "rows ruled out" in said


@pytest.mark.parametrize(
    ("query", "code", "said"),
    [
        ("where nothing == 1", 2, "found nothing (line 1, column 7)"),
        ("where status == 1 | make-series count() on ts step 1h", 3, "found make-series at line 1, column 21"),
        ("where status ==", 2, "kql: expected a query at line 1"),
    ],
)
def test_query_says_what_is_wrong(shard: Path, query: str, code: int, said: str) -> None:
    assert said in run("query", query, shard, code=code).stderr


def test_query_checks_its_options(shard: Path) -> None:
    assert "--format: expected table, jsonl, csv" in run("query", ASKED, shard, "-f", "parquet", code=2).stderr
    assert "--output: expected a name" in run("query", ASKED, shard, "-o", "found.xyz", code=2).stderr
