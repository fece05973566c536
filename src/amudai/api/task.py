"""A piece of a scan that any process can run."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from amudai.plan import ScanTask
from amudai.scan import run_task

__all__ = ["Task"]


class Task:
    """Some rows of a scan, to be read by any process. Made by `scan.tasks()`.

    A task holds no open file and no secret. It pickles to some hundred bytes besides the values of the predicate.

    Examples
    --------
    >>> scan = amudai.open("tests/fixtures/sample.amudai.shard").scan(["status"], where="status = 503")
    >>> pa.concat_tables(task.to_table() for task in scan.tasks()).to_pydict()
    {'status': [503, 503, 503, 503]}
    """

    __slots__ = ("_planned",)

    def __init__(self, planned: ScanTask) -> None:
        self._planned = planned

    @property
    def rows(self) -> range:
        """The positions of the shard that the task looks at."""
        return range(self._planned.start, self._planned.end)

    @property
    def url(self) -> str:
        """Where the shard lies."""
        return self._planned.shard.url

    def to_table(self, *, threads: int | None = 1) -> pa.Table:
        """Run the task: the columns of its rows that match, in memory."""
        schema, batches = run_task(self._planned, threads)
        return pa.Table.from_batches(batches, schema)

    def to_reader(self, *, threads: int | None = 1) -> pa.RecordBatchReader:
        """Run the task batch by batch."""
        return pa.RecordBatchReader.from_batches(*run_task(self._planned, threads))

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return run_task(self._planned, 1)[1]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows of the task, for any library that speaks the Arrow PyCapsule protocol."""
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        rows = self.rows
        return f"<amudai.Task of {self.url}: rows {rows.start:,}..{rows.stop:,}>"

    def __reduce__(self) -> tuple[type[Task], tuple[ScanTask]]:
        return Task, (self._planned,)
