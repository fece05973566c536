"""A part of a scan that any process can run."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from amudai.plan.request import ScanRequest
from amudai.shard import PortableShard

__all__ = ["ScanTask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanTask:
    """A range of rows of a shard to scan, in this process or another.

    A task is small and holds no open file and no secret. The process that runs it opens the shard, binds the predicate
    and asks the evidence again for its rows. Without a limit, the concatenated results of all tasks of a scan are the
    result of the scan. A limit applies to each task on its own.

    Attributes
    ----------
    shard
        The URL of the shard, and how to open it.
    types
        The Arrow types that the caller asked for, by column. Other columns have the type that the shard suggests. Or
        the schema that the caller asked for, with all columns.
    start, end
        The range of rows, counted from the start of the shard.
    result
        The columns of the result, if the shard is part of a dataset: columns of the shard are converted to these types,
        and columns that the shard lacks are null. None for the columns that the shard gives.
    constants
        Columns of `result` that have one value in all rows of the shard, by name.
    """

    shard: PortableShard
    request: ScanRequest
    start: int
    end: int
    types: tuple[tuple[str, pa.DataType], ...] | pa.Schema = ()
    result: pa.Schema | None = None
    constants: tuple[tuple[str, pa.Scalar], ...] = ()
