"""Iceberg tables: what pyiceberg reads is what we read, with indexes or without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import amudai
from amudai import UnsupportedFeature
from amudai.errors import InvalidArgument, MissingFile

pytest.importorskip("pyiceberg")
pytest.importorskip("sqlalchemy")

# Each test makes a catalog in a database.
pytestmark = pytest.mark.slow

INDEXES = [amudai.TermIndex("text")]


def rows(first: int, count: int = 50) -> pa.Table:
    at = range(first, first + count)
    return pa.table({"n": pa.array(at, pa.int64()), "text": [f"line {n} by user{n % 7}" for n in at]})


@pytest.fixture
def catalog(tmp_path: Path) -> Any:
    from pyiceberg.catalog.sql import SqlCatalog

    (tmp_path / "warehouse").mkdir()
    catalog = SqlCatalog("local", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse")
    catalog.create_namespace("lake")
    return catalog


@pytest.fixture
def table(catalog: Any) -> Any:
    found = catalog.create_table("lake.logs", schema=rows(0).schema)
    for first in (0, 100, 200):
        found.append(rows(first))
    return found


def by_number(found: pa.Table) -> list[dict[str, Any]]:
    return sorted(found.to_pylist(), key=lambda row: row["n"])


def same(table: Any, where: str = "text has 'user3'") -> amudai.Dataset:
    """Our rows are those of pyiceberg."""
    found = amudai.open_iceberg(table)
    expected = by_number(table.scan().to_arrow())
    assert by_number(found.read()) == expected
    assert by_number(found.read(where=where)) == [row for row in expected if "user3" in row["text"].split()]
    return found


@pytest.mark.slow
def test_an_index_is_found_by_a_property_of_the_snapshot(table: Any, catalog: Any, tmp_path: Path) -> None:
    assert len(same(table).shards) == 3
    found = amudai.attach_iceberg(table, tmp_path / "index", indexes=INDEXES)
    assert len(list((tmp_path / "index").iterdir())) == 3
    again = catalog.load_table("lake.logs")
    assert again.properties[f"amudai.index.{again.current_snapshot().snapshot_id}"] == f"file://{tmp_path}/index/"
    assert again.metadata.statistics == []
    assert found.count("text has 'user3'") == 21
    assert all(f"{tmp_path}/index/" in shard for shard in same(again).shards)
    again.append(rows(1_000, 20_000))
    scan = amudai.attach_iceberg(again, tmp_path / "index", indexes=INDEXES).scan(where="text has '5206'")
    assert scan.count() == 1
    # The values of small files are checked at once.
    assert (scan.explain().sure, scan.explain().doubtful) == (1, 150)


def test_files_that_come_and_go(table: Any, tmp_path: Path) -> None:
    amudai.attach_iceberg(table, tmp_path / "index", indexes=INDEXES)
    table.append(rows(300))
    assert len(same(table).shards) == 4
    table.delete("n >= 100 and n < 120")  # rewrites one file
    table.delete("n < 50")  # drops one
    for path in (tmp_path / "warehouse").rglob("*.parquet"):
        used = {task.file.file_path.removeprefix("file://") for task in table.scan().plan_files()}
        if str(path) not in used:
            path.unlink()
    assert same(table).num_rows == 130
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "index").iterdir()}
    amudai.attach_iceberg(table, tmp_path / "index", indexes=INDEXES)
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "index").iterdir()}
    assert before.items() <= after.items()
    assert len(after) == len(before) + 2
    same(table)


def test_an_older_snapshot(table: Any, tmp_path: Path) -> None:
    first = table.history()[0].snapshot_id
    assert amudai.open_iceberg(table, snapshot_id=first).num_rows == 50
    amudai.attach_iceberg(table, tmp_path / "index", indexes=INDEXES)
    assert amudai.open_iceberg(table, snapshot_id=first).count("text has 'user3'") == 7


def test_columns_that_changed(table: Any, tmp_path: Path) -> None:
    amudai.attach_iceberg(table, tmp_path / "index", indexes=INDEXES)
    with table.update_schema() as update:
        update.rename_column("text", "message")
    with table.update_schema() as update:
        update.add_column("text", _string())
    table.append(pa.table({"n": [900], "message": ["line by user3"], "text": ["other"]}))
    found = amudai.open_iceberg(table)
    assert by_number(found.read()) == by_number(table.scan().to_arrow())
    assert found.count("message has 'user3'") == 22
    assert found.count("text has 'user3'") == 0


def test_an_older_snapshot_has_the_columns_of_its_time(table: Any, tmp_path: Path) -> None:
    amudai.attach_iceberg(table, tmp_path / "index", indexes=INDEXES)
    first = table.history()[0].snapshot_id
    with table.update_schema() as update:
        update.rename_column("text", "message")
        update.add_column("more", _string())
    table.append(pa.table({"n": [900], "message": ["line by user3"], "more": ["other"]}))
    found = amudai.open_iceberg(table, snapshot_id=first)
    assert found.schema.names == ["n", "text"]
    assert by_number(found.read()) == by_number(table.scan(snapshot_id=first).to_arrow())
    assert all("/index/" in name for name in found.shards)  # those with the index
    with pytest.raises(amudai.InvalidArgument, match="snapshot_id: expected a snapshot of the table, found 5"):
        amudai.open_iceberg(table, snapshot_id=5)


def _string() -> Any:
    from pyiceberg.types import StringType

    return StringType()


def test_position_deletes(table: Any, tmp_path: Path) -> None:
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.table import DataScan, FileScanTask
    from pyiceberg.typedef import Record

    amudai.attach_iceberg(table, tmp_path / "index", indexes=INDEXES)
    table.append(rows(300))
    planned = list(table.scan().plan_files())
    named = [(task.file.file_path, position) for task in planned for position in (3, 17)]
    path = tmp_path / "deletes.parquet"
    pq.write_table(pa.table({"file_path": [each for each, _ in named], "pos": [at for _, at in named]}), path)
    deletes = DataFile.from_args(
        content=DataFileContent.POSITION_DELETES,
        file_path=f"file://{path}",
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=len(named),
        file_size_in_bytes=path.stat().st_size,
    )
    tasks = [FileScanTask(task.file, delete_files={deletes}) for task in planned]
    with patch.object(DataScan, "plan_files", lambda self: tasks):
        assert same(table).num_rows == 192


def test_equality_deletes_are_refused(table: Any) -> None:
    from pyiceberg.table import DataScan

    def refused(self: Any) -> Any:
        raise ValueError("PyIceberg does not yet support equality deletes: https://...")

    with (
        patch.object(DataScan, "plan_files", refused),
        pytest.raises(UnsupportedFeature, match="table: expected no equality deletes"),
    ):
        amudai.open_iceberg(table)


def test_an_empty_table(catalog: Any, tmp_path: Path) -> None:
    empty = catalog.create_table("lake.empty", schema=rows(0).schema)
    assert amudai.open_iceberg(empty).read().to_pydict() == {"n": [], "text": []}
    with pytest.raises(InvalidArgument, match="expected one with a snapshot"):
        amudai.attach_iceberg(empty, tmp_path / "index")
    with pytest.raises(InvalidArgument, match="expected a table of pyiceberg or its name, found int"):
        amudai.open_iceberg(7)
    with pytest.raises(InvalidArgument, match=r"expected catalog/namespace\.table"):
        amudai.open_iceberg("lake")


@pytest.mark.slow
def test_the_command_line(table: Any, catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyiceberg.utils.config import Config

    amudai.attach_iceberg(table, tmp_path / "index", indexes=INDEXES)
    monkeypatch.setenv("PYICEBERG_CATALOG__LOCAL__URI", f"sqlite:///{tmp_path}/catalog.db")
    monkeypatch.setenv("PYICEBERG_CATALOG__LOCAL__TYPE", "sql")
    with pytest.raises(InvalidArgument, match="expected a catalog that pyiceberg is configured for, found 'unknown'"):
        amudai.open_iceberg("unknown/lake.logs")
    monkeypatch.setattr("pyiceberg.catalog._ENV_CONFIG", Config())
    with pytest.raises(MissingFile, match="expected one in the catalog local, found none"):
        amudai.open_iceberg("local/lake.nothing")
    program = "from amudai.cli import main; main()"
    command = [sys.executable, "-c", program, "search", "user3", "iceberg://local/lake.logs", "--count"]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=dict(os.environ))
    assert run.stdout.split() == ["21"]
