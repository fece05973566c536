"""A piece of a scan that any process can run."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from amudai.plan.request import ScanRequest
from amudai.shard import PortableShard

__all__ = ["Task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Some rows of a shard, to be scanned wherever the task is sent.

    A task is small and holds no open file and no secret. The process that runs it opens the shard, binds the predicate
    and asks the evidence again for its rows. Without a limit, the results of all tasks of a scan, one after the other,
    are the result of the scan; each task keeps to the limit by itself.

    Attributes
    ----------
    shard
        Where the shard lies, and how it is opened.
    types
        Arrow types that the caller asked for instead of those that the shard suggests, by column.
    start, end
        The rows, counted from the shard's first.
    """

    shard: PortableShard
    request: ScanRequest
    start: int
    end: int
    types: tuple[tuple[str, pa.DataType], ...] = ()
