"""What other processes do while a test changes shards: functions of a module, so that they can be spawned."""

from __future__ import annotations

import multiprocessing as mp
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import pyarrow as pa

import amudai

SPAWN = mp.get_context("spawn")
ROWS = 400


def version(number: int, rows: int = ROWS) -> pa.Table:
    """A table that tells everywhere which version it is."""
    texts = [f"version{number} row{row}" for row in range(rows)]
    return pa.table({"n": [number] * rows, "row": range(rows), "text": texts})


def is_one_version(table: pa.Table) -> bool:
    """Whether all rows are of the same version, and none is missing."""
    (number,) = set(table["n"].to_pylist())
    return table.equals(version(number))


def read_until(path: str, done: Event, results: Any) -> None:
    """Open and read a shard again and again. Puts the number of reads, or what was wrong."""
    reads = 0
    try:
        while not done.is_set():
            with amudai.open(path) as shard:
                table = shard.read()
                found = shard.scan(where=amudai.col("text").has("row7")).to_table()
            assert is_one_version(table), "rows of several versions"
            assert found["row"].to_pylist() == [7], found.to_pydict()
            reads += 1
        results.put(reads)
    except BaseException as error:
        results.put(f"{type(error).__name__}: {error}")
        raise


def write_at_once(path: str, number: int, start: Event, overwrite: bool, results: Any) -> None:
    """Write a version when told. Puts the version, or the name of the error."""
    table = version(number)
    start.wait()
    try:
        amudai.write(table, path, overwrite=overwrite, indexes=[amudai.TermIndex("text")]).close()
        results.put(number)
    except amudai.AmudaiError as error:
        results.put(type(error).__name__)


@contextmanager
def readers(path: Path, count: int = 2) -> Iterator[None]:
    """Processes that read the shard while the block runs. An error if one of them found anything wrong."""
    done, results = SPAWN.Event(), SPAWN.Queue()
    started = [SPAWN.Process(target=read_until, args=(str(path), done, results)) for _ in range(count)]
    for process in started:
        process.start()
    try:
        yield
    finally:
        done.set()
        found = [results.get(timeout=60) for _ in started]
        for process in started:
            process.join()
    assert all(isinstance(each, int) for each in found), found


def run_spawned(function: Callable[..., object], *arguments: object) -> object:
    """The result of a call in a new process, to which everything travels as a pickle."""
    with SPAWN.Pool(1) as pool:
        return pool.apply(function, arguments)
