"""Shards and datasets as a data source of Spark 4: `spark.read.format("amudai")`, `df.write.format("amudai")`.

Reading is cut into tasks, one for each partition of Spark. Filters are not pushed down by Spark: its Python sources
keep the filter of an earlier query when a DataFrame is used again (pyspark 4.3). Pass `where` as an option instead.

Writing stages one shard for each task of Spark in a hidden folder. The commit publishes one new root that refers to
these shards, so rows appear together or not at all.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa

from amudai.api import Predicate, Tabular, Task, merge, new_shard_name, write
from amudai.datasets import SHARD_SUFFIX, find_shards
from amudai.errors import InvalidArgument, MissingFile, UnsupportedFeature
from amudai.interop.packages import required
from amudai.interop.pandas_frames import opened
from amudai.types import quote_name

try:
    from pyspark.sql.datasource import (
        DataSource,
        DataSourceArrowWriter,
        DataSourceReader,
        InputPartition,
        WriterCommitMessage,
    )
except ImportError:  # `spark_register` says what to install
    DataSource = DataSourceArrowWriter = DataSourceReader = InputPartition = WriterCommitMessage = object

__all__ = ["AmudaiSource", "spark_read", "spark_register"]

_LEAST: Final = (4, 0)
# Options of the source that are passed on to `amudai.write`.
_WRITING: Final = ("profile",)
_SIGNED: Final = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20),
}


def spark_register(spark: Any) -> None:
    """Make `amudai` a format of a Spark session, for reading and writing. Needs `pip install amudai[spark]`.

    After this, `spark.read.format("amudai").load(path)` reads a shard or a folder of shards, and
    `df.write.format("amudai").mode("append").save(path)` writes one.
    """
    required("pyspark", "spark", extra="spark", least=_LEAST)
    spark.dataSource.register(AmudaiSource)


def spark_read(
    spark: Any,
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    where: Predicate | str | None = None,
    *,
    tasks: int | None = None,
) -> Any:
    """Read a shard or a folder of shards as a Spark DataFrame, with only these columns and rows.

    Statistics and indexes rule rows out before Spark sees them: Spark cannot do this by itself, because it does not
    tell Python sources about columns, and what it tells them about filters is not safe.

    Parameters
    ----------
    columns
        Names of columns; None for all.
    where
        A predicate made with `amudai.col`, or a condition in text.
    tasks
        About how many partitions; None to let Spark's default parallelism decide.
    """
    spark_register(spark)
    options: dict[str, str] = {"tasks": str(tasks or spark.sparkContext.defaultParallelism)}
    if columns is not None:
        options["columns"] = json.dumps(list(columns))
    if where is not None:
        options["where"] = base64.b64encode(pickle.dumps(where)).decode()
        options["pickled"] = "true"
    return spark.read.format("amudai").options(**options).load(os.fsdecode(path))


class AmudaiSource(DataSource):  # type: ignore[misc]
    """The data source `amudai`. Options for reading: `where` (text), `columns` (a JSON list), `tasks` (a number)."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "amudai"

    def schema(self) -> Any:
        """The columns, as types of Spark."""
        from pyspark.sql.pandas.types import from_arrow_schema

        table = opened(_path(self.options))
        wanted = _columns(self.options, table)
        fields = [table.schema.field(name) for name in wanted]
        return from_arrow_schema(pa.schema([field.with_type(spark_type(field.type, field.name)) for field in fields]))

    def reader(self, schema: Any) -> AmudaiReader:
        """Reads the columns of `schema`, which may be fewer than all: `.schema("a long")` reads one column."""
        return AmudaiReader(dict(self.options), schema.names)

    def writer(self, schema: Any, overwrite: bool) -> AmudaiWriter:
        """Writes shards."""
        from pyspark.sql.pandas.types import to_arrow_schema

        return AmudaiWriter(dict(self.options), to_arrow_schema(schema), overwrite)


class AmudaiReader(DataSourceReader):  # type: ignore[misc]
    """Reads a shard or a dataset, one task for each partition."""

    def __init__(self, options: Mapping[str, str], names: Sequence[str]) -> None:
        self._options = dict(options)
        self._names = list(names)

    def partitions(self) -> list[Any]:
        """The tasks of the scan. Rows that statistics and indexes rule out are in none of them."""
        table = opened(_path(self._options))
        missing = [name for name in self._names if name not in table.schema.names]
        if missing:
            raise InvalidArgument(f"schema: expected columns of the shard, found {', '.join(missing)}")
        scan = table.scan([quote_name(name) for name in self._names], _where(self._options))
        tasks = scan.tasks(int(self._options.get("tasks", "8")))
        return [InputPartition(task) for task in tasks] or [InputPartition(None)]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """The rows of a task."""
        task: Task | None = partition.value
        for batch in task if task is not None else ():
            arrays = [
                column if column.type.equals(kind := spark_type(column.type, name)) else column.cast(kind)
                for name, column in zip(batch.schema.names, batch.columns, strict=True)
            ]
            if batch.num_rows:
                yield pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


class AmudaiWriter(DataSourceArrowWriter):  # type: ignore[misc]
    """Writes one shard for each task of Spark, and publishes all of them at once."""

    def __init__(self, options: Mapping[str, str], schema: pa.Schema, overwrite: bool) -> None:
        self._target = _local(_path(options))
        self._schema = schema
        self._overwrite = overwrite
        self._options: dict[str, Any] = {name: options[name] for name in _WRITING if name in options}
        is_shard = self._target.endswith(SHARD_SUFFIX)
        folder, name = os.path.split(self._target) if is_shard else (self._target, "")
        # Hidden from datasets of the folder, and below it, so that references stay relative.
        self._folder = folder
        self._staging = os.path.join(folder, f"_{name.removesuffix(SHARD_SUFFIX) or 'spark'}-{uuid4().hex}")

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Any:
        """Write the rows of one attempt of one task. A failed attempt leaves a file that the commit removes."""
        os.makedirs(self._staging, exist_ok=True)
        path = os.path.join(self._staging, f"{uuid4().hex}{SHARD_SUFFIX}")
        batches = iter(iterator)
        first = next((batch for batch in batches if batch.num_rows), None)
        if first is None:
            return AmudaiMessage(None, 0)

        def rows() -> Iterator[pa.RecordBatch]:
            yield first
            yield from (batch for batch in batches if batch.num_rows)

        shard = write(pa.RecordBatchReader.from_batches(first.schema, rows()), path, **self._options)
        return AmudaiMessage(path, shard.num_rows)

    def commit(self, messages: Sequence[Any]) -> None:
        """Publish the shards of all tasks as one, and remove what lost attempts left."""
        parts = [message.path for message in messages if message is not None and message.path is not None]
        os.makedirs(self._staging, exist_ok=True)
        for name in os.listdir(self._staging):
            if os.path.join(self._staging, name) not in parts:
                os.unlink(os.path.join(self._staging, name))
        if not parts:
            parts = [os.path.join(self._staging, f"{uuid4().hex}{SHARD_SUFFIX}")]
            write(self._schema.empty_table(), parts[0], **self._options)
        if self._target.endswith(SHARD_SUFFIX):
            self._publish_root(parts)
        else:
            self._publish_in_folder(parts)

    def _publish_root(self, parts: list[str]) -> None:
        exists = os.path.exists(self._target)
        if exists and not self._overwrite:
            kept = os.path.join(self._folder, f"_{os.path.basename(self._target)}.{uuid4().hex}{SHARD_SUFFIX}")
            os.link(self._target, kept)
            parts = [kept, *parts]
        merge(parts, to=self._target, overwrite=exists, indexes="keep")

    def _publish_in_folder(self, parts: list[str]) -> None:
        try:
            old = [shard.name for shard in find_shards(f"{self._folder}/").shards] if self._overwrite else []
        except MissingFile:
            old = []
        merge(parts, to=os.path.join(self._folder, new_shard_name()), indexes="keep")
        for name in old:
            os.unlink(os.path.join(self._folder, name))

    def abort(self, messages: Sequence[Any]) -> None:  # noqa: ARG002 - failed attempts have no message
        """Remove everything that the job staged."""
        shutil.rmtree(self._staging, ignore_errors=True)


class AmudaiMessage(WriterCommitMessage):  # type: ignore[misc]
    """What a task of Spark has written: the path of its shard, and the number of rows."""

    def __init__(self, path: str | None, rows: int) -> None:
        self.path = path
        self.rows = rows


def spark_type(kind: pa.DataType, name: str) -> pa.DataType:
    """The Arrow type in which Spark gets the values of a column. No value changes.

    >>> spark_type(pa.uint32(), "n"), spark_type(pa.timestamp("ns"), "t")
    (DataType(int64), TimestampType(timestamp[us]))
    """
    types = pa.types
    if kind in _SIGNED:
        return _SIGNED[kind]
    if types.is_dictionary(kind):
        return spark_type(kind.value_type, name)
    if types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if types.is_duration(kind):
        return pa.duration("us")
    if types.is_large_string(kind) or types.is_string_view(kind):
        return pa.string()
    if types.is_large_binary(kind) or types.is_binary_view(kind) or types.is_fixed_size_binary(kind):
        return pa.binary()
    if types.is_date64(kind):
        return pa.date32()
    if types.is_struct(kind):
        return pa.struct([field.with_type(spark_type(field.type, f"{name}.{field.name}")) for field in kind])
    if types.is_map(kind):
        return pa.map_(spark_type(kind.key_type, name), spark_type(kind.item_type, name))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_list_view(kind) or types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(spark_type(kind.value_type, name)))
    known = types.is_integer(kind) or types.is_string(kind) or types.is_binary(kind) or types.is_boolean(kind)
    if known or types.is_float32(kind) or types.is_float64(kind) or types.is_decimal128(kind) or types.is_date32(kind):
        return kind
    raise UnsupportedFeature(f"column {name!r}: expected a type that Spark has, found {kind}: leave it out of columns=")


def _path(options: Mapping[str, str]) -> str:
    found = options.get("path")
    if not found:
        raise InvalidArgument("path: expected the path of a shard or a folder, as in load(path), found none")
    return found


def _local(path: str) -> str:
    text = path.removeprefix("file://")
    if "://" in text:
        raise UnsupportedFeature(f"path: expected a folder that all executors share, found {path}")
    return os.path.abspath(text)


def _columns(options: Mapping[str, str], table: Tabular) -> list[str]:
    if "columns" not in options:
        return list(table.schema.names)
    wanted: list[str] = json.loads(options["columns"])
    return list(table.scan(wanted).schema.names)


def _where(options: Mapping[str, str]) -> Any:
    stated = options.get("where")
    if stated is None or options.get("pickled") != "true":
        return stated
    return pickle.loads(base64.b64decode(stated))
