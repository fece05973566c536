"""Measured times, and the check that answers are right."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa

import amudai
from examples.demo.tasks import Answer, Task

__all__ = ["Result", "measure"]

# The median of up to _RUNS runs; no further run is started after _SECONDS seconds.
_RUNS, _SECONDS = 5, 1.0


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a task.

    Attributes
    ----------
    rows
        How many rows were found; None if the answer is yes or no.
    right
        Whether all answers are equal.
    why
        Where the task is a search: what ruled rows out.
    """

    task: Task
    shard_seconds: float
    parquet_seconds: float
    rows: int | None
    right: bool
    why: amudai.Explanation | None

    @property
    def ratio(self) -> float:
        """How many times faster than Parquet."""
        return self.parquet_seconds / self.shard_seconds


def measure(task: Task, shard: Path, parquet: Path) -> Result:
    """Do a task on both sides, each time with a file opened anew, and compare the answers with the truth."""
    truth = task.truth()
    ours, shard_seconds = _timed(lambda: task.shard(shard))
    theirs = [_timed(lambda way=way: way(parquet)) for way in task.parquet]
    parquet_seconds = min(seconds for _, seconds in theirs)
    right = _same(ours, truth) and all(_same(answer, truth) for answer, _ in theirs)
    why = None
    if task.where is not None and task.positions is not None:
        scan = amudai.open(shard).scan(where=task.where)
        right = right and np.array_equal(scan.positions(), task.positions())
        why = scan.explain()
    return Result(task, shard_seconds, parquet_seconds, _rows(truth), right, why)


def _timed(work: Callable[[], Answer]) -> tuple[Answer, float]:
    taken: list[float] = []
    while True:
        start = perf_counter()
        answer = work()
        taken.append(perf_counter() - start)
        if len(taken) == _RUNS or sum(taken) > _SECONDS:
            return answer, statistics.median(taken)


def _same(found: Answer, truth: Answer) -> bool:
    return found.equals(truth) if isinstance(found, pa.Table) and isinstance(truth, pa.Table) else found == truth


def _rows(truth: Answer) -> int | None:
    if isinstance(truth, bool):
        return None
    return truth if isinstance(truth, int) else truth.num_rows
