"""Shards that are changed while other processes read them, and several writers of one name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from multiprocessing.pool import Pool
from pathlib import Path

import pytest

import amudai
from tests.concurrency.workers import PATIENCE, ROWS, SERVED, SPAWN, is_one_version, readers, version, write_at_once
from tests.effort import scaled

pytestmark = pytest.mark.slow
INDEXES = [amudai.TermIndex("text")]


@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_overwriting_under_readers(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "a.amudai.shard"
    options = {"layout": layout, "indexes": INDEXES, "stripe_rows": 100}
    amudai.write(version(0), path, **options).close()  # type: ignore[arg-type]
    with readers(path) as one_more_read:
        for number in range(1, scaled(100)):
            amudai.write(version(number), path, overwrite=True, **options).close()  # type: ignore[arg-type]
            amudai.gc(tmp_path, dry_run=False)
            if number % 5 == 0:
                one_more_read()
    assert is_one_version(amudai.open(path).read())


def test_merging_compacting_and_collecting_garbage_under_readers(tmp_path: Path) -> None:
    """The target of each operation is overwritten by the next one, which has other files."""
    halves = [tmp_path / f"half{at}.amudai.shard" for at in range(2)]
    whole = version(0)
    for at, half in enumerate(halves):
        amudai.write(whole.slice(at * ROWS // 2, ROWS // 2), half, layout="two-level", indexes=INDEXES).close()
    target = tmp_path / "a.amudai.shard"
    amudai.merge(halves, to=target).close()
    with readers(target) as one_more_read:
        for _ in range(4):
            amudai.compact(halves, to=target, overwrite=True, indexes=INDEXES).close()
            amudai.gc(tmp_path, dry_run=False)
            amudai.merge(halves, to=target, overwrite=True).close()
            amudai.gc(tmp_path, dry_run=False)
            one_more_read()
    assert amudai.open(target).verify().ok


@pytest.mark.parametrize("overwrite", [False, True])
def test_several_writers_of_one_name(tmp_path: Path, overwrite: bool) -> None:
    path, count = tmp_path / "a.amudai.shard", 4
    start, results = SERVED.Barrier(count), SERVED.Queue()
    arguments = [(str(path), number, start, overwrite, results) for number in range(count)]
    writers = [SERVED.Process(target=write_at_once, args=each) for each in arguments]
    for writer in writers:
        writer.start()
    found = [results.get(timeout=PATIENCE) for _ in writers]
    for writer in writers:
        writer.join()
    won = [each for each in found if isinstance(each, int)]
    table = amudai.open(path).read()
    assert is_one_version(table)
    assert table["n"][0].as_py() in won
    if not overwrite:
        assert len(won) == 1
        assert sorted(each for each in found if isinstance(each, str)) == ["ExistingFile"] * (count - 1)
    amudai.gc(tmp_path, dry_run=False, older_than=timedelta(0))
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def _rows_of(asked: amudai.Shard | amudai.Dataset | amudai.Scan | amudai.Task) -> list[int]:
    table = asked.to_table()
    return table["row"].to_pylist()  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def spawned() -> Iterator[Pool]:
    """A new process, to which everything travels as a pickle."""
    with SPAWN.Pool(1) as pool:
        yield pool


@pytest.mark.parametrize("kind", ["shard", "dataset", "scan", "scan of a dataset", "task"])
def test_handles_travel_to_spawned_processes(tmp_path: Path, spawned: Pool, kind: str) -> None:
    path = tmp_path / "a.amudai.shard"
    shard = amudai.write(version(3), path, indexes=INDEXES)
    where = amudai.col("text").has_any(["row3", "row9"])
    asked: amudai.Shard | amudai.Dataset | amudai.Scan | amudai.Task = shard
    expected = list(range(ROWS))
    if kind == "dataset":
        asked = amudai.dataset(tmp_path)
    elif kind == "scan":
        asked, expected = shard.scan(["row"], where, slice(2, 90), limit=1), [3]
    elif kind == "scan of a dataset":
        asked, expected = amudai.dataset(tmp_path).scan(["row"], where, range(5, 90), threads=2), [9]
    elif kind == "task":
        (asked,) = shard.scan(where=where).tasks()
        expected = [3, 9]
    assert spawned.apply(_rows_of, (asked,)) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_open_shard_is_read_by_a_forked_process(tmp_path: Path) -> None:
    path = tmp_path / "a.amudai.shard"
    amudai.write(version(1), path, indexes=INDEXES, stripe_rows=50)
    shard = amudai.open(path, threads=3)
    assert is_one_version(shard.read())
    child = os.fork()
    if child == 0:
        found = shard.scan(where=amudai.col("text").has("row7")).to_table()["row"].to_pylist()
        os._exit(0 if is_one_version(shard.read()) and found == [7] else 1)
    assert is_one_version(shard.read())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
