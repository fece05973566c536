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

pytestmark = pytest.mark.slow  # a session takes some ten seconds to start


@pytest.fixture(scope="module", autouse=True)
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    os.environ["RAY_DATA_DISABLE_PROGRESS_BARS"] = "1"
    settings = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": 100 << 20, "log_to_driver": False}
    ray.init(logging_level="ERROR", configure_logging=False, **settings)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> amudai.Dataset:
    return tables.lake_of(tables.logs(), tmp_path_factory.mktemp("ray"))


def ids(dataset: Any) -> list[int]:
    return sorted(row["id"] for row in dataset.select_columns(["id"]).take_all())


def test_ray_reads_rows_and_columns(lake: amudai.Dataset) -> None:
    found = read_ray(lake, parallelism=3)
    assert found.schema().names == lake.schema.names
    assert found.count() == lake.num_rows
    assert ids(found) == lake.read(["id"])["id"].to_pylist()
    few = read_ray(lake, ["level", "id"], "message has 'retry' and status = 503")
    assert few.schema().names == ["level", "id"]
    assert ids(few) == lake.read(["id"], "message has 'retry' and status = 503")["id"].to_pylist()
    assert read_ray(lake, ["id"], "id < 0").count() == 0


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
    found = read_ray(lake).filter(expr=eval(condition, {"col": ray.data.expressions.col}))
    assert ids(found) == lake.read(["id"], CONDITIONS[condition])["id"].to_pylist()
    assert found.count() == lake.count(CONDITIONS[condition])


def test_filters_and_columns_are_pushed_down(lake: amudai.Dataset) -> None:
    from amudai.interop.ray_data import AmudaiDatasource

    source = AmudaiDatasource(lake)
    asked = source.apply_predicate(ray.data.expressions.col("status") == 500).apply_projection({"id": "id"})
    tasks = asked.get_read_tasks(2)
    assert [task.read_fn for task in tasks] != []
    assert asked.get_read_tasks(2)[0].read_fn.args == tasks[0].read_fn.args  # planned once
    assert [scan.explain().where for scan in asked._rows.scans] == ['col("status") == 500']
    assert {name for task in tasks for block in task() for name in block.schema.names} == {"id"}


@pytest.mark.parametrize("name", ["folder", "one.amudai.shard"])
def test_ray_writes_appends_and_overwrites(name: str, tmp_path: Path) -> None:
    target = tmp_path / "out" / name

    def stored() -> list[int]:
        found = amudai.dataset(target) if name == "folder" else amudai.open(target)
        return sorted(found.read(["id"])["id"].to_pylist())

    write_ray(ray.data.range(20, override_num_blocks=3), target, indexes=[amudai.HashIndex("id")])
    assert stored() == list(range(20))
    write_ray(ray.data.from_arrow(pa.table({"id": [99, 98]})), target)
    assert stored() == [*range(20), 98, 99]
    assert read_ray(target, where="id = 99").take_all() == [{"id": 99}]
    write_ray(ray.data.from_arrow(pa.table({"id": [7, 8]})), target, mode="overwrite")
    assert stored() == [7, 8]
    assert len([path for path in (tmp_path / "out").rglob("*") if path.is_file()]) == 2


def test_a_failed_job_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(batch: Any) -> Any:
        raise ValueError("no")

    with pytest.raises(Exception, match="no"):
        write_ray(ray.data.range(20).map_batches(fail), tmp_path / "lake")
    assert not (tmp_path / "lake").exists() or list((tmp_path / "lake").rglob("*")) == []


def test_deleted_rows_stay_deleted(tmp_path: Path) -> None:
    whole = tables.shard_of(tables.logs(), tmp_path)
    left = amudai.delete(whole, where="status = 500", to=tmp_path / "left.amudai.shard")
    assert ids(read_ray(left)) == left.read(["id"])["id"].to_pylist()
