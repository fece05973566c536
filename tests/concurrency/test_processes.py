"""Shards that are changed while other processes read them, and several writers of one name."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest

import amudai
from tests.concurrency.workers import ROWS, SPAWN, is_one_version, readers, run_spawned, version, write_at_once

pytestmark = pytest.mark.slow
INDEXES = [amudai.TermIndex("text")]


@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_overwriting_under_readers(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "a.amudai.shard"
    options = {"layout": layout, "indexes": INDEXES, "stripe_rows": 100}
    amudai.write(version(0), path, **options).close()  # type: ignore[arg-type]
    with readers(path):
        ends, number = time.monotonic() + 2.5, 0
        while time.monotonic() < ends:
            number += 1
            amudai.write(version(number), path, overwrite=True, **options).close()  # type: ignore[arg-type]
            amudai.gc(tmp_path, dry_run=False)
    assert number > 3
    assert is_one_version(amudai.open(path).read())


def test_merging_compacting_and_collecting_garbage_under_readers(tmp_path: Path) -> None:
    """The target of each operation is overwritten by the next one, which has other files."""
    halves = [tmp_path / f"half{at}.amudai.shard" for at in range(2)]
    whole = version(0)
    for at, half in enumerate(halves):
        amudai.write(whole.slice(at * ROWS // 2, ROWS // 2), half, layout="two-level", indexes=INDEXES).close()
    target = tmp_path / "a.amudai.shard"
    amudai.merge(halves, to=target).close()
    with readers(target):
        for _ in range(4):
            amudai.compact(halves, to=target, overwrite=True, indexes=INDEXES).close()
            amudai.gc(tmp_path, dry_run=False)
            amudai.merge(halves, to=target, overwrite=True).close()
            amudai.gc(tmp_path, dry_run=False)
    assert amudai.open(target).verify().ok


@pytest.mark.parametrize("overwrite", [False, True])
def test_several_writers_of_one_name(tmp_path: Path, overwrite: bool) -> None:
    path, count = tmp_path / "a.amudai.shard", 4
    start, results = SPAWN.Event(), SPAWN.Queue()
    arguments = [(str(path), number, start, overwrite, results) for number in range(count)]
    writers = [SPAWN.Process(target=write_at_once, args=each) for each in arguments]
    for writer in writers:
        writer.start()
    start.set()
    found = [results.get(timeout=60) for _ in writers]
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


def _rows_of(asked: amudai.Shard | amudai.Dataset | amudai.Task) -> list[int]:
    table = asked.to_table()
    return table["row"].to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", ["shard", "dataset", "task"])
def test_handles_travel_to_spawned_processes(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.amudai.shard"
    shard = amudai.write(version(3), path, indexes=INDEXES)
    where = amudai.col("text").has_any(["row3", "row9"])
    asked: amudai.Shard | amudai.Dataset | amudai.Task = shard
    expected = list(range(ROWS))
    if kind == "dataset":
        asked = amudai.dataset(tmp_path)
    elif kind == "task":
        (asked,) = shard.scan(where=where).tasks()
        expected = [3, 9]
    assert run_spawned(_rows_of, asked) == expected


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
