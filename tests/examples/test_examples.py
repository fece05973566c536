"""Do the examples do what they say? They assert it themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import amudai
from examples.demo.logs import RARE_ROWS, make_logs
from examples.demo.measure import measure
from examples.demo.tasks import Task, tasks

EXAMPLES = Path(__file__).parents[2] / "examples"
NEEDED = {
    "polars_frames": "polars",
    "pandas_frames": "pandas",
    "duckdb_sql": "duckdb",
    "lake_duckdb": "sqlglot",
    "lake_datafusion": "datafusion",
    "lake_iceberg": "pyiceberg",
    "lake_polars": "polars",
    "lake_spark": "pyspark",
    "lake_ray": "ray",
    "lake_daft": "daft",
    "lake_dask": "dask",
}


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    environment = {**os.environ, "RAY_worker_niceness": "0"}  # otherwise 15, and other tests run as well
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_example(path: Path, tmp_path: Path) -> None:
    needed = NEEDED.get(path.stem)
    if needed is not None and find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    if path.stem == "lake_spark" and which("java") is None:
        pytest.skip("Java is not installed, and Spark needs it")
    done = run(str(path), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert len(path.read_text().splitlines()) < 60


@pytest.mark.slow
def test_demo(tmp_path: Path) -> None:
    figures = tmp_path / "figures.md"
    figures.write_text("before\n<!-- figures -->\nold\n<!-- /figures -->\nafter\n")
    options = ["--rows", "20000", "--folder", str(tmp_path), "--figures", str(figures)]
    done = run("-m", "examples.demo", *options, folder=EXAMPLES.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "report.html").read_text()
    assert page.count("<svg") == 3
    assert "http://" not in page
    assert "https://" not in page
    table = figures.read_text()
    assert table.startswith("before\n<!-- figures -->\n| 20,000 log records")
    assert table.endswith("|\n<!-- /figures -->\nafter\n")
    assert "old" not in table
    assert f"| a rare word | {RARE_ROWS} |" in table


@pytest.fixture(scope="module")
def logs() -> pa.Table:
    return make_logs(5000)


@pytest.fixture(scope="module")
def files(logs: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("logs")
    amudai.write(logs, folder / "logs.amudai.shard", indexes=[amudai.TermIndex("message")])
    pq.write_table(logs, folder / "logs.parquet")
    return folder / "logs.amudai.shard", folder / "logs.parquet"


def test_the_demo_makes_the_same_logs_each_time(logs: pa.Table) -> None:
    assert logs.equals(make_logs(5000))
    assert sum("deadlock" in text for text in logs["message"].to_pylist()) == RARE_ROWS
    assert 0.05 < sum("connection" in text for text in logs["message"].to_pylist()) / 5000 < 0.15


@pytest.mark.slow
def test_the_demo_notices_a_wrong_answer(logs: pa.Table, files: tuple[Path, Path]) -> None:
    task = tasks(logs)[0]
    assert measure(task, *files).right
    wrong: list[Task] = [
        replace(task, truth=lambda: logs.slice(0, RARE_ROWS)),
        replace(task, positions=lambda: task.positions()[1:]),
        replace(task, shard=lambda path: amudai.open(path).scan(where=task.where, limit=RARE_ROWS - 1).to_table()),
        replace(task, parquet=[*task.parquet, lambda path: pq.read_table(path)]),
    ]
    for each in wrong:
        assert not measure(each, *files).right
