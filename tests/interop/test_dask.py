"""Dask reads shards, task by task."""

from __future__ import annotations

from pathlib import Path

import pytest

import amudai
from amudai.interop import read_dask
from tests.interop import tables

pytest.importorskip("dask.dataframe", reason="Dask is not installed: pip install 'amudai[dask]'")


def test_dask_reads_rows_and_columns(tmp_path: Path) -> None:
    lake = tables.lake_of(tables.logs(), tmp_path)
    frame = read_dask(tmp_path / "lake", where="status = 503", tasks=3)
    found = frame[["level", "id"]].compute(scheduler="synchronous")
    assert list(found.columns) == ["level", "id"]
    assert found["id"].tolist() == lake.read(["id"], "status = 503")["id"].to_pylist()
    assert len(read_dask(lake, ["id"], "id < 0")) == 0
    shard = tables.shard_of(tables.logs(), tmp_path)
    assert int(read_dask(shard)["id"].sum().compute(scheduler="synchronous")) == sum(range(300))


def test_a_task_with_fewer_columns_reads_only_those(tmp_path: Path) -> None:
    lake = tables.lake_of(tables.logs(), tmp_path)
    for source in (lake, tables.shard_of(tables.logs(), tmp_path)):
        tasks = source.scan(where=amudai.col("status") == 500).tasks(2)
        found = [row for task in tasks for row in task.select(["level", "id"]).to_table().to_pylist()]
        assert found == source.read(["level", "id"], "status = 500").to_pylist()
