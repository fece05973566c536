"""What other processes do while a test changes shards: functions of a module, so that they can be spawned."""

from __future__ import annotations

import multiprocessing as mp
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from typing import Any

import pyarrow as pa

import amudai

SPAWN = mp.get_context("spawn")
# Processes without anything of this one, as spawned ones are. They begin at once: a server has imported this module.
SERVED = mp.get_context("forkserver")
SERVED.set_forkserver_preload([__name__])
PATIENCE = 120  # seconds that a busy machine may take for what is a moment on a quiet one
ROWS = 400


def version(number: int, rows: int = ROWS) -> pa.Table:
    """A table that tells everywhere which version it is."""
    texts = [f"version{number} row{row}" for row in range(rows)]
    return pa.table({"n": [number] * rows, "row": range(rows), "text": texts})


def is_one_version(table: pa.Table) -> bool:
    """Whether all rows are of the same version, and none is missing."""
    (number,) = set(table["n"].to_pylist())
    return table.equals(version(number))


def read_until(path: str, done: Event, reads: Any, results: Any) -> None:
    """Open and read a shard again and again, and count the reads. Puts None, or what was wrong."""
    try:
        while not done.is_set():
            with amudai.open(path) as shard:
                table = shard.read()
                found = shard.scan(where=amudai.col("text").has("row7")).to_table()
            assert is_one_version(table), "rows of several versions"
            assert found["row"].to_pylist() == [7], found.to_pydict()
            reads.value += 1
        results.put(None)
    except BaseException as error:
        results.put(f"{type(error).__name__}: {error}")
        raise


def write_at_once(path: str, number: int, start: Barrier, overwrite: bool, results: Any) -> None:
    """Write a version when all writers are there. Puts the version, or the name of the error."""
    table = version(number)
    start.wait(PATIENCE)
    try:
        amudai.write(table, path, overwrite=overwrite, indexes=[amudai.TermIndex("text")]).close()
        results.put(number)
    except amudai.AmudaiError as error:
        results.put(type(error).__name__)


@contextmanager
def readers(path: Path, count: int = 2) -> Iterator[Callable[[], None]]:
    """Processes that read the shard while the block runs. An error if one of them found anything wrong.

    The block gets a function that waits until each of them has begun to read once more and has ended.
    """
    done, results = SERVED.Event(), SERVED.Queue()
    reads = [SERVED.Value("q", 0, lock=False) for _ in range(count)]
    started = [SERVED.Process(target=read_until, args=(str(path), done, each, results)) for each in reads]

    def one_more_read() -> None:
        # The read that runs now may have begun before the last change.
        wanted, ends = [each.value + 2 for each in reads], time.monotonic() + PATIENCE
        while any(each.value < least for each, least in zip(reads, wanted, strict=True)) and results.empty():
            assert time.monotonic() < ends, "the readers do not read"
            time.sleep(0.001)

    for process in started:
        process.start()
    try:
        one_more_read()
        yield one_more_read
    finally:
        done.set()
        found = [results.get(timeout=PATIENCE) for _ in started]
        for process in started:
            process.join()
    assert found == [None] * count
