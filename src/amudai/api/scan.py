"""A scan: the rows of a shard or dataset that match a predicate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.api.frames import to_pandas, to_polars
from amudai.api.task import Task
from amudai.arguments import whole_number
from amudai.scan import Explanation, ScanRun

if TYPE_CHECKING:
    from amudai.datasets import DatasetRun

__all__ = ["Scan"]


class Scan:
    """Rows of a shard or dataset that match a predicate. Made by `scan` and `search`.

    Nothing is read until rows are asked for. Iterating gives record batches in the order of rows; only a few of them
    are in memory at a time.

    Examples
    --------
    >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
    >>> scan = shard.scan(columns=["level", "status"], where=amudai.col("status") >= 500, limit=2)
    >>> scan.to_table().to_pydict()
    {'level': ['ERROR', 'ERROR'], 'status': [500, 503]}
    >>> [batch.num_rows for batch in scan]
    [2]
    >>> shard.scan(where=amudai.col("status") >= 500).count()
    11
    """

    def __init__(self, run: ScanRun | DatasetRun, again: Callable[[], Scan]) -> None:
        self._run = run
        self._again = again

    @property
    def schema(self) -> pa.Schema:
        """The columns of the result and their Arrow types.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").scan(["level"]).schema.names
        ['level']
        """
        return self._run.schema

    def count(self) -> int:
        """Count the rows that match.

        Statistics and indexes answer where they can. Otherwise the columns of the predicate are read, and no others.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").scan(where="status = 503").count()
        4
        """
        return self._run.count()

    def positions(self) -> npt.NDArray[np.uint64] | pa.Table:
        """The positions of the rows that match, ascending, as `take` takes them.

        Positions of a dataset are pairs: a table with the name of the shard and the position in the shard.

        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> shard.scan(where=amudai.col("status") == 503, limit=3).positions().tolist()
        [50, 147, 244]
        """
        return self._run.positions()

    def to_table(self) -> pa.Table:
        """Read all rows that match into a table.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").scan(["status"], limit=2).to_table().to_pydict()
        {'status': [200, 200]}
        """
        return self._run.table()

    def to_reader(self) -> pa.RecordBatchReader:
        """Read the rows that match batch by batch: memory holds a few batches, however many rows match.

        >>> reader = amudai.open("tests/fixtures/sample.amudai.shard").scan(["status"], batch_rows=150).to_reader()
        >>> [batch.num_rows for batch in reader]
        [150, 150, 100]
        """
        return pa.RecordBatchReader.from_batches(self.schema, self._run.batches())

    def to_pandas(self, **options: Any) -> Any:
        """Read all rows that match into a pandas `DataFrame`. Needs pandas.

        `options` are those of `pyarrow.Table.to_pandas`, such as `types_mapper`.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").scan(["status"], limit=2).to_pandas().shape
        (2, 1)
        """
        return to_pandas(self.to_table(), options)

    def to_polars(self) -> Any:
        """Read all rows that match into a polars `DataFrame`. Needs polars.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").scan(["status"], limit=2).to_polars().shape
        (2, 1)
        """
        return to_polars(self.to_table())

    def tasks(self, count: int | None = None) -> tuple[Task, ...]:
        """Cut the scan into tasks that other processes can run.

        Evidence is asked here, and rows that it rules out are in no task. A task pickles to some hundred bytes besides
        the values of the predicate; the process that runs it opens the shard again. The tables of all tasks, one after
        the other, are the result of the scan. With a limit, each task keeps to the limit by itself.

        Parameters
        ----------
        count
            About how many tasks; None for one for each thread. There are fewer where a task would be too small to be
            worth the trip, and more where the shard has more stripes.

        Raises
        ------
        InvalidArgument
            If the shard cannot be opened elsewhere: its store holds explicit credentials, lives in this process's
            memory, or `allow` is a callable.

        Examples
        --------
        >>> import pickle
        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> tasks = shard.scan(["level"], where="status >= 500").tasks()
        >>> sum(pickle.loads(pickle.dumps(task)).to_table().num_rows for task in tasks)
        11
        """
        wanted = self._run.threads if count is None else whole_number(count, "count", 1)
        return tuple(Task(parts) for parts in self._run.tasks(wanted))

    def explain(self) -> Explanation:
        """What rules rows out, and how many; once the scan has run, also what it read and how long it took.

        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> shard.scan(where=amudai.col("status").is_null()).explain().ruled_out
        400
        """
        return self._run.explanation()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """The rows that match, in record batches."""
        return self._run.batches()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows that match, for any library that speaks the Arrow PyCapsule protocol.

        Columns are cast to the types of `requested_schema` as pyarrow casts them.
        """
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The schema, for any library that speaks the Arrow PyCapsule protocol."""
        return self.schema.__arrow_c_schema__()

    def __reduce__(self) -> tuple[Callable[[], Scan], tuple[()]]:
        """Another process opens the shard or dataset, and asks it the same. The pickle holds no secret."""
        return self._again, ()

    def __repr__(self) -> str:
        limit = self._run.limit
        shown = "" if limit is None else f", limit {limit:,}"
        return f"<amudai.Scan of {', '.join(self.schema.names)} where {self._run.where}{shown}>"

    def _repr_html_(self) -> str:
        return self.explain()._repr_html_()
