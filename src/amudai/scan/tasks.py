"""Tasks: parts of a scan that other processes can run."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from amudai.arrow import ArrowFields
from amudai.plan import ScanTask, ShardPlan
from amudai.rows import Rows
from amudai.scan.result import ResultColumns
from amudai.scan.run import ScanRun
from amudai.shard import ShardReader
from amudai.threads import thread_count

__all__ = ["run_task"]


def run_task(task: ScanTask, threads: int | None = None) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Open the shard of a task and scan the task's rows."""
    shard = ShardReader.of_portable(task.shard)
    fields = ArrowFields(shard, task.types if isinstance(task.types, pa.Schema) else dict(task.types))
    plan = ShardPlan(shard, fields, task.request, Rows.one(task.start, task.end, shard.origin))
    run = ScanRun(plan, thread_count(threads))
    if task.result is None:
        return run.schema, run.batches()
    return task.result, ResultColumns(task.result, dict(task.constants)).batches(run)
