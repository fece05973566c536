"""Tasks: parts of a scan that other processes run."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai
from amudai import col
from amudai.plan import shard_plan
from amudai.storage import MemoryStore
from tests.fixtures.make_sample import SAMPLE

ROWS = 5000


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of few rows pay here."""
    monkeypatch.setattr(shard_plan, "_LEAST_TASK_ROWS", 64)


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Two processes that begin with nothing, as those of a cluster do."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return pa.table(
        {
            "n": pa.array([None if n % 11 == 0 else n for n in range(ROWS)], pa.int64()),
            "text": [f"row {n} {'slow' if n % 7 == 0 else 'fast'} {n % 100:02d}" for n in range(ROWS)],
            "tags": [[f"t{n % 3}"] * (n % 4) for n in range(ROWS)],
            "when": pa.array([n * 1000 for n in range(ROWS)], pa.timestamp("us", "UTC")),
            "inner": [{"a": n % 5, "b": str(n)} for n in range(ROWS)],
        }
    )


@pytest.fixture(scope="module", params=["single", "two-level"])
def shard(request: pytest.FixtureRequest, table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard:
    place = tmp_path_factory.mktemp("tasks") / "x.amudai.shard"
    indexes = [amudai.TermIndex("text", level="stripe"), amudai.HashIndex("n")]
    return amudai.write(table, place, layout=request.param, stripe_rows=1700, indexes=indexes)


def table_of(task: amudai.Task) -> pa.Table:
    return task.to_table()


SCANS: list[dict[str, Any]] = [
    {},
    {"columns": ["text", "inner.a"], "where": col("text").has("slow")},
    {"where": (col("n") > 100) & (col("n") < 3000) & ~col("text").has("fast")},
    {"columns": ["n"], "where": "tags = 't1' or n is null"},
    {"columns": ["when"], "rows": slice(1000, 4000)},
    {"where": col("n") == 4242},
    {"where": col("n") > 10**9},
    {"columns": ["text"], "where": col("text").matches("^row 1.* slow")},
]


@pytest.mark.slow
@pytest.mark.parametrize("asked", SCANS, ids=str)
def test_the_results_of_tasks_in_other_processes_make_the_scan(
    shard: amudai.Shard, processes: ProcessPoolExecutor, asked: dict[str, Any]
) -> None:
    scan = shard.scan(**asked)
    expected = scan.to_table()
    for count in (1, 7):
        tasks = scan.tasks(count)
        found = [scan.schema.empty_table(), *processes.map(table_of, tasks)]
        assert pa.concat_tables(found).equals(expected)
        assert all(before.rows.stop <= after.rows.start for before, after in pairwise(tasks))


def test_rows_that_evidence_rules_out_are_in_no_task(shard: amudai.Shard) -> None:
    assert shard.scan(where=col("n") > 10**9).tasks() == ()
    (task,) = shard.scan(where=col("n") == 4242).tasks(8)
    assert 4242 in task.rows
    assert len(task.rows) < 300


def test_a_limit_holds_for_each_task(shard: amudai.Shard) -> None:
    tasks = shard.scan(["n"], where=col("text").has("slow"), limit=5).tasks(4)
    assert all(task.to_table().num_rows <= 5 for task in tasks)
    first = pa.concat_tables(task.to_table() for task in tasks).slice(0, 5)
    assert first.equals(shard.scan(["n"], where=col("text").has("slow"), limit=5).to_table())


def test_a_task_is_small(shard: amudai.Shard) -> None:
    url = len(shard.url)
    (task, *_) = shard.scan().tasks(1)
    assert len(pickle.dumps(task)) < 600 + url
    (task, *_) = shard.scan(["text", "n"], where=(col("n") > 5) & col("text").has("slow")).tasks(1)
    assert len(pickle.dumps(task)) < 900 + url
    literal = "x" * 10_000
    (task, *_) = shard.scan(where=col("text") != literal).tasks(1)
    assert 10_000 < len(pickle.dumps(task)) < 10_900 + url


def test_a_task_carries_types_and_prefixes(table: pa.Table, tmp_path: Path, processes: ProcessPoolExecutor) -> None:
    place = amudai.write(table, tmp_path / "x.amudai.shard").url
    shard = amudai.open(place, schema={"text": pa.large_string()}, allow=["file:///elsewhere/"], verify=False)
    (task,) = shard.scan(["text"]).tasks(1)
    (found,) = processes.map(table_of, [task])
    assert found.schema.field("text").type == pa.large_string()
    assert task._parts[0].shard.allow.prefixes == (("file:///elsewhere/", None),)
    assert not task._parts[0].shard.verify


def test_batches_of_a_task_keep_to_their_size(shard: amudai.Shard) -> None:
    (task, *_) = shard.scan(["n"], batch_rows=100).tasks(1)
    assert max(batch.num_rows for batch in task) == 100
    assert sum(batch.num_rows for batch in task.to_reader(threads=2)) == len(task.rows)
    assert repr(task) == f"<amudai.Task of {shard.url}: rows 0..1,700>"


def test_what_lives_in_this_process_alone_is_refused() -> None:
    store = MemoryStore()
    store.put_if_absent("x.amudai.shard", [Path(SAMPLE).read_bytes()])
    with pytest.raises(amudai.InvalidArgument, match="another process"):
        amudai.open("x.amudai.shard", store=store).scan().tasks()
    with pytest.raises(amudai.InvalidArgument, match="callable"):
        amudai.open(SAMPLE, allow=lambda _: True).scan().tasks()


@pytest.mark.slow
def test_a_url_with_a_secret_is_refused_and_not_repeated() -> None:
    store = MemoryStore()
    url = "https://user:geheim@example.org/x.amudai.shard"
    store.put_if_absent(url, [Path(SAMPLE).read_bytes()])
    with pytest.raises(amudai.InvalidArgument, match="without credentials") as caught:
        amudai.open(url, store=store).scan().tasks()
    assert "geheim" not in caught.value.message


def test_at_least_one_task_is_asked_for(shard: amudai.Shard) -> None:
    with pytest.raises(amudai.InvalidArgument, match="count: expected at least 1, found 0"):
        shard.scan().tasks(0)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_a_shard_that_was_overwritten_is_not_read_in_place_of_the_one_that_was_meant(
    layout: Any, tmp_path: Path
) -> None:
    place = tmp_path / "x.amudai.shard"
    (task,) = amudai.write({"n": [1, 2, 3]}, place, layout=layout).scan().tasks(1)
    assert pickle.loads(pickle.dumps(task)).to_table()["n"].to_pylist() == [1, 2, 3]
    amudai.write({"n": [4, 5, 6]}, place, layout=layout, overwrite=True)
    with pytest.raises(amudai.StorageError, match="it was overwritten") as caught:
        task.to_table()
    assert "x.amudai.shard" in str(caught.value)
    place.unlink()
    with pytest.raises(FileNotFoundError):
        task.to_table()
