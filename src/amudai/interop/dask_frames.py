"""Shards and datasets as frames of Dask."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from amudai.api import Tabular, Task, Where
from amudai.interop.opening import opened
from amudai.interop.packages import required

__all__ = ["read_dask"]


def read_dask(
    source: Tabular | str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    where: Where | None = None,
    *,
    tasks: int | None = None,
) -> Any:
    """Read a shard or a folder of shards as a Dask `DataFrame`. Needs `pip install amudai[dask]`.

    Each partition is a task of a scan. Dask asks for the columns that it needs, but tells nobody about filters: pass
    `where`.

    Parameters
    ----------
    source
        A shard, a dataset, or the path or URL of one.
    columns, where
        As for `Shard.scan`.
    tasks
        About how many partitions; None for one for each thread.
    """
    frames = required("dask.dataframe", "read_dask")
    scan = opened(source).scan(columns, where)
    found = scan.tasks(tasks)
    empty = scan.schema.empty_table().to_pandas()
    if not found:
        return frames.from_pandas(empty, npartitions=1)
    return frames.from_map(_read, found, meta=empty)


def _read(task: Task, columns: Sequence[str] | None = None) -> Any:
    """The rows of a task. Dask passes the columns that it needs."""
    return (task if columns is None else task.select(columns)).to_table().to_pandas()
