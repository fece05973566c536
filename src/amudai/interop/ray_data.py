"""Shards and datasets as a source and a sink of Ray Data."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, Literal

import pyarrow as pa

from amudai.api import ArrowDataset, ArrowTask, Tabular, Where, predicate_of
from amudai.interop.opening import opened
from amudai.interop.packages import required
from amudai.interop.staged_parts import StagedParts
from amudai.types import quote_name

try:
    from ray.data.datasource import Datasink, Datasource
except ImportError:  # `read_ray` and `write_ray` say what to install
    Datasink = Datasource = object

__all__ = ["AmudaiDatasink", "AmudaiDatasource", "read_ray", "write_ray"]

# So many rows say how large a row is.
_SAMPLED: Final = 1000
# By this column Ray counts the rows of a block without columns.
_NO_COLUMNS: Final = "__bsp_stub"


def read_ray(
    source: Tabular | str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    where: Where | None = None,
    *,
    parallelism: int = -1,
) -> Any:
    """Read a shard or a folder of shards as a Ray `Dataset`. Needs `pip install amudai[ray]`.

    Each read task of Ray is a task of a scan. `select_columns` and `filter(expr=...)` of Ray reach the shards, where
    statistics and indexes rule rows out. Questions about words are asked by `where`.

    Parameters
    ----------
    source
        A shard, a dataset, or the path or URL of one. All nodes of the cluster must see the files.
    columns
        Names of columns; None for all.
    where
        As for `Shard.scan`.
    parallelism
        About how many read tasks; -1 to let Ray decide.
    """
    data = required("ray.data", "read_ray")
    found = AmudaiDatasource(opened(source), columns, where)
    return data.read_datasource(found, override_num_blocks=None if parallelism < 0 else parallelism)


def write_ray(
    dataset: Any, path: str | os.PathLike[str], *, mode: Literal["append", "overwrite"] = "append", **options: Any
) -> None:
    """Write a Ray `Dataset` as shards. Needs `pip install amudai[ray]`.

    Each write task writes a shard in a hidden folder. At the end one root that refers to them is published, so rows
    appear together or not at all. A job that fails leaves nothing behind.

    Parameters
    ----------
    path
        A folder of shards, which gets one more, or the path of one shard. All nodes of the cluster must see it.
    mode
        Whether rows are added, or take the place of those that are there.
    options
        Options of `amudai.write`, such as `indexes` and `profile`.
    """
    required("ray.data", "write_ray")
    dataset.write_datasink(AmudaiDatasink(path, overwrite=mode == "overwrite", **options))


class AmudaiDatasource(Datasource):  # type: ignore[misc]
    """Rows of a shard or dataset, for `ray.data.read_datasource`. Filters of Ray are exact, as Ray expects."""

    def __init__(self, source: Tabular, columns: Sequence[str] | None = None, where: Where | None = None) -> None:
        super().__init__()
        self._projection_map: dict[str, str] | None = None
        self._source = source
        self._rows = ArrowDataset(source, None if where is None else predicate_of(where))
        self._columns = self._rows.schema.names if columns is None else list(columns)
        self._planned: dict[int, list[ArrowTask]] = {}
        self._size: int | None = None
        _ = [self._rows.schema.field(name) for name in self._columns]

    def supports_projection_pushdown(self) -> bool:
        """Yes: only the columns that Ray needs are read."""
        return True

    def supports_predicate_pushdown(self) -> bool:
        """Yes: Ray then applies the filter no more."""
        return True

    def apply_projection(self, projection_map: dict[str, str] | None) -> AmudaiDatasource:
        """The same rows with fewer columns."""
        found: AmudaiDatasource = super().apply_projection(projection_map)
        found._planned = {}
        return found

    def apply_predicate(self, predicate_expr: Any) -> AmudaiDatasource:
        """The rows that match an expression of Ray."""
        found: AmudaiDatasource = super().apply_predicate(predicate_expr)
        found._planned = {}
        return found

    def estimate_inmemory_data_size(self) -> int | None:
        """The size of all rows in memory, if the others are like the first ones.

        By it Ray decides about the number of blocks. If it does not know, it makes 200, however few rows there are.
        """
        if self._size is None:
            first = self._source.head(_SAMPLED, [quote_name(name) for name in self._columns])
            self._size = first.nbytes * self._source.num_rows // max(1, first.num_rows)
        return self._size

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[Any]:
        """The tasks of the scan. Ray asks several times, so they are planned once."""
        from ray.data.block import BlockMetadata
        from ray.data.datasource import ReadTask

        del data_context
        unknown = BlockMetadata(num_rows=None, size_bytes=None, input_files=None, exec_stats=None)
        schema = pa.schema([self._rows.schema.field(name) for name in self._wanted])
        return [
            ReadTask(partial(_blocks, task), unknown, schema=schema, per_task_row_limit=per_task_row_limit)
            for task in self._tasks(parallelism)
        ]

    @property
    def _wanted(self) -> list[str]:
        asked = self.get_projection_map()
        return self._columns if asked is None else list(asked)

    def _tasks(self, count: int) -> list[ArrowTask]:
        if count not in self._planned:
            asked = self.get_current_predicate()
            expression = None if asked is None else asked.to_pyarrow()
            self._planned[count] = self._rows.tasks(self._wanted, expression, max(1, count))
        return self._planned[count]


def _blocks(task: ArrowTask) -> Iterator[pa.Table]:
    for batch in task:
        if task.columns:
            yield pa.Table.from_batches([batch])
        else:
            yield pa.table({_NO_COLUMNS: pa.nulls(batch.num_rows)})


class AmudaiDatasink(Datasink):  # type: ignore[misc]
    """Writes shards, for `Dataset.write_datasink`."""

    def __init__(self, path: str | os.PathLike[str], *, overwrite: bool = False, **options: Any) -> None:
        self._parts = StagedParts(os.fsdecode(path), overwrite=overwrite, **options)
        self._schema: pa.Schema | None = None

    def on_write_start(self, schema: pa.Schema | None = None) -> None:
        """Make the folder of the job."""
        self._schema = schema
        self._parts.begin()

    def write(self, blocks: Iterable[Any], ctx: Any) -> str | None:  # noqa: ARG002 - Ray's interface
        """Write the rows of one task, and return the name of its shard; None if it has no rows."""
        from ray.data.block import BlockAccessor

        tables = (BlockAccessor.for_block(block).to_arrow() for block in blocks)
        return self._parts.write(batch for table in tables for batch in table.to_batches())

    def on_write_complete(self, write_result: Any) -> None:
        """Publish the shards of all tasks."""
        self._parts.commit(write_result.write_returns, self._schema)

    def on_write_failed(self, error: Exception) -> None:  # noqa: ARG002 - Ray's interface
        """Remove everything that the job staged."""
        self._parts.abort()
