"""Ray Data reads and writes shards, with its own filters and projections."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai
from amudai.interop import read_ray, write_ray
from tests.interop import tables

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'amudai[ray]'")
pytest.importorskip("ray.data", reason="Ray Data is not installed: pip install 'amudai[ray]'")

from amudai.interop.ray_data import AmudaiDatasource  # noqa: E402 - after the checks


@pytest.fixture(scope="module")
def session() -> Iterator[None]:
    # The niceness is 15 otherwise: beside other tests, workers would hardly start.
    os.environ.update({"RAY_DATA_DISABLE_PROGRESS_BARS": "1", "RAY_worker_niceness": "0"})
    settings = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": 100 << 20, "log_to_driver": False}
    ray.init(logging_level="ERROR", configure_logging=False, **settings)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> amudai.Dataset:
    return tables.lake_of(tables.logs(), tmp_path_factory.mktemp("ray"))


def ids(source: AmudaiDatasource, tasks: int = 2) -> list[int]:
    """What the read tasks of a source return, called as Ray calls them, without a session."""
    blocks = (block for task in source.get_read_tasks(tasks) for block in task())
    return sorted(number for block in blocks for number in block["id"].to_pylist())


# ---- without a session ----


CONDITIONS = {
    "col('status') == 500": "status = 500",
    "(col('status') > 404) & (col('id') < 100)": "status > 404 and id < 100",
    "(col('status') == 500) | (col('level') == 'warn')": "status = 500 or level = 'warn'",
    "col('level').is_null()": "level is null",
    "col('status').is_in([500, 503])": "status in (500, 503)",
    "~(col('status') == 500)": "status != 500",
    "col('ms') > 1": "ms > 1",
    "(col('id') + 1 == 8) & (col('id') < 100)": "id = 7",
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_filters_of_ray_are_exact(condition: str, lake: amudai.Dataset) -> None:
    source = AmudaiDatasource(lake).apply_predicate(eval(condition, {"col": ray.data.expressions.col}))
    assert ids(source) == lake.read(["id"], CONDITIONS[condition])["id"].to_pylist()


def test_filters_and_columns_are_pushed_down(lake: amudai.Dataset) -> None:
    source = AmudaiDatasource(lake)
    asked = source.apply_predicate(ray.data.expressions.col("status") == 500).apply_projection({"id": "id"})
    tasks = asked.get_read_tasks(2)
    assert [task.read_fn for task in tasks] != []
    assert asked.get_read_tasks(2)[0].read_fn.args == tasks[0].read_fn.args  # planned once
    assert [scan.explain().where for scan in asked._rows.scans] == ['col("status") == 500']
    assert {name for task in tasks for block in task() for name in block.schema.names} == {"id"}


def test_ray_learns_how_large_rows_are(lake: amudai.Dataset) -> None:
    source = AmudaiDatasource(lake, ["id", "status"])
    size = lake.read(["id", "status"]).nbytes
    assert 0.9 * size < source.estimate_inmemory_data_size() < 1.1 * size  # type: ignore[operator]
    assert source._rows.scans == ()


def test_deleted_rows_stay_deleted(tmp_path: Path) -> None:
    whole = tables.shard_of(tables.logs(), tmp_path)
    left = amudai.delete(whole, where="status = 500", to=tmp_path / "left.amudai.shard")
    assert ids(AmudaiDatasource(left)) == left.read(["id"])["id"].to_pylist()


# ---- with a session, which takes some ten seconds to start ----


@pytest.mark.slow
def test_ray_reads_rows_and_columns(session: None, lake: amudai.Dataset) -> None:
    found = read_ray(lake, parallelism=3)
    assert found.schema().names == lake.schema.names
    assert found.count() == lake.num_rows
    where = "message has 'retry' and status = 503"
    few = read_ray(lake, ["level", "id"], where).filter(expr=ray.data.expressions.col("id") >= 30)
    assert few.take_all() == lake.read(["level", "id"], f"{where} and id >= 30").to_pylist()
    assert read_ray(lake, ["id"], "id < 0").count() == 0


@pytest.mark.slow
def test_ray_writes_appends_and_overwrites(session: None, tmp_path: Path) -> None:
    target = tmp_path / "lake"

    def stored() -> list[int]:
        return sorted(amudai.dataset(target).read(["id"])["id"].to_pylist())

    write_ray(ray.data.range(20, override_num_blocks=3), target, indexes=[amudai.HashIndex("id")])
    assert stored() == list(range(20))
    write_ray(ray.data.from_arrow(pa.table({"id": [99, 98]})), target)
    assert stored() == [*range(20), 98, 99]
    assert read_ray(target, where="id = 99").take_all() == [{"id": 99}]
    write_ray(ray.data.from_arrow(pa.table({"id": [7, 8]})), target, mode="overwrite")
    assert stored() == [7, 8]
    assert len([path for path in target.rglob("*") if path.is_file()]) == 2


@pytest.mark.slow
def test_a_failed_job_leaves_nothing_behind(session: None, tmp_path: Path) -> None:
    def fail(batch: Any) -> Any:
        raise ValueError("no")

    with pytest.raises(Exception, match="no"):
        write_ray(ray.data.range(20).map_batches(fail), tmp_path / "lake")
    assert not (tmp_path / "lake").exists() or list((tmp_path / "lake").rglob("*")) == []
