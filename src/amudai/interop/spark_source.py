"""Shards and datasets as a data source of Spark 4: `spark.read.format("amudai")`, `df.write.format("amudai")`.

Reading is cut into tasks, one for each partition of Spark. Filters are not pushed down by Spark: its Python sources
keep the filter of an earlier query when a DataFrame is used again (pyspark 4.3). Pass `where` as an option instead.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from amudai.api import Predicate, Tabular, Task
from amudai.arrow import conformed
from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.interop.opening import opened
from amudai.interop.packages import required
from amudai.types import quote_name

if TYPE_CHECKING:
    from amudai.interop.spark_writer import AmudaiWriter

try:
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
except ImportError:  # `spark_register` says what to install
    DataSource = DataSourceReader = InputPartition = object

__all__ = ["AmudaiSource", "spark_read", "spark_register"]

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
    required("pyspark", "spark")
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
        types = {name: table.schema.field(name).type for name in wanted}
        # All may have nulls, as with Spark's own sources: Spark compares this with the batches, which do not say.
        return from_arrow_schema(pa.schema([(name, spark_type(kind, name)) for name, kind in types.items()]))

    def reader(self, schema: Any) -> AmudaiReader:
        """Reads the columns of `schema`, which may be fewer than all: `.schema("a long")` reads one column."""
        return AmudaiReader(dict(self.options), schema.names)

    def writer(self, schema: Any, overwrite: bool) -> AmudaiWriter:
        """Writes shards."""
        from pyspark.sql.pandas.types import to_arrow_schema

        from amudai.interop.spark_writer import AmudaiWriter

        return AmudaiWriter(_path(self.options), self.options, to_arrow_schema(schema), overwrite)


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
                conformed(column, spark_type(column.type, name))
                for name, column in zip(batch.schema.names, batch.columns, strict=True)
            ]
            if batch.num_rows:
                yield pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


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
