"""A piece of a scan that any process can run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import pyarrow as pa

from amudai.arguments import names
from amudai.errors import InvalidArgument
from amudai.plan import ScanTask
from amudai.scan import run_task
from amudai.types import parse_path, quote_name

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

    __slots__ = ("_parts",)

    def __init__(self, parts: tuple[ScanTask, ...]) -> None:
        self._parts = parts

    @property
    def parts(self) -> tuple[tuple[str, range], ...]:
        """What the task looks at: the URLs of shards, and the range of positions in each.

        >>> [task] = amudai.open("tests/fixtures/sample.amudai.shard").scan().tasks()
        >>> [rows for _, rows in task.parts]
        [range(0, 400)]
        """
        return tuple((part.shard.url, range(part.start, part.end)) for part in self._parts)

    @property
    def rows(self) -> range:
        """The positions of the shard that the task looks at. A task of several shards has `parts` instead."""
        return self._only[1]

    @property
    def url(self) -> str:
        """Where the shard lies. A task of several shards has `parts` instead."""
        return self._only[0]

    @property
    def _only(self) -> tuple[str, range]:
        if len(self._parts) != 1:
            raise InvalidArgument(f"task: expected one shard, found {len(self._parts)}: use `parts`")
        return self.parts[0]

    def select(self, columns: Sequence[str]) -> Task:
        """The same rows with fewer columns, by their names, in this order.

        >>> [task] = amudai.open("tests/fixtures/sample.amudai.shard").scan(["ts", "status", "http.path"]).tasks()
        >>> task.select(["http", "status"]).to_table().slice(0, 1).to_pylist()
        [{'http': {'path': '/api/users'}, 'status': 200}]
        """
        return Task(tuple(_with_columns(part, names(columns, "columns")) for part in self._parts))

    def to_table(self, *, threads: int | None = 1) -> pa.Table:
        """Run the task: the columns of its rows that match, in memory."""
        schema, batches = self._run(threads)
        return pa.Table.from_batches(batches, schema)

    def to_reader(self, *, threads: int | None = 1) -> pa.RecordBatchReader:
        """Run the task batch by batch."""
        return pa.RecordBatchReader.from_batches(*self._run(threads))

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self._run(1)[1]

    def _run(self, threads: int | None) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        schema, first = run_task(self._parts[0], threads)
        others = (batch for part in self._parts[1:] for batch in run_task(part, threads)[1])
        return schema, chain(first, others)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows of the task, for any library that speaks the Arrow PyCapsule protocol."""
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        if len(self._parts) != 1:
            return f"<amudai.Task of {len(self._parts)} shards>"
        rows = self.rows
        return f"<amudai.Task of {self.url}: rows {rows.start:,}..{rows.stop:,}>"

    def __reduce__(self) -> tuple[type[Task], tuple[tuple[ScanTask, ...]]]:
        return Task, (self._parts,)


def _with_columns(part: ScanTask, columns: tuple[str, ...]) -> ScanTask:
    request, result = part.request, part.result
    if request.columns is None:
        wanted = tuple(quote_name(name) for name in columns)
    else:
        # Several paths may lead into one column. A shard of a dataset may lack columns.
        wanted = tuple(path for name in columns for path in request.columns if parse_path(path)[0] == name)
    if result is not None:
        result = pa.schema([result.field(name) for name in columns], metadata=result.metadata)
    return replace(part, request=replace(request, columns=wanted), result=result)
