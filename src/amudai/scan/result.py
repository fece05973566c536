"""The rows of one shard as rows of a dataset: the same columns and types for all shards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from amudai.arrow import conformed, nulls, rows_without_columns, united_arrow_schema
from amudai.errors import CorruptedData, InvalidArgument, InvalidSchema
from amudai.scan.run import PART_ROWS, ScanRun

__all__ = ["ResultColumns"]


class ResultColumns:
    """Turns the batches of a shard into batches of a dataset.

    Parameters
    ----------
    schema
        The columns of the result. A column that the shard does not give and that is no constant is null.
    constants
        Columns that have one value in all rows of the shard.
    """

    def __init__(self, schema: pa.Schema, constants: Mapping[str, pa.Scalar]) -> None:
        self._schema = schema
        self._constants = {name: value for name, value in constants.items() if name in schema.names}

    def batches(self, run: ScanRun) -> Iterator[pa.RecordBatch]:
        """The rows of the run."""
        if run.schema.names:
            for batch in run.batches():
                yield self.batch(batch)
            return
        # A batch without columns does not know how many rows it has.
        left, size = run.count(), run.plan.request.batch_rows or PART_ROWS
        while left:
            yield self._built(None, min(left, size))
            left -= min(left, size)

    def batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of a batch of the shard, which has at least one column."""
        if batch.schema.equals(self._schema, check_metadata=True):
            return batch
        return self._built(batch, batch.num_rows)

    def table(self, run: ScanRun) -> pa.Table:
        """All rows of the run."""
        if not run.schema.names:
            return pa.Table.from_batches(self.batches(run), self._schema)
        return self.of_table(run.table())

    def of_table(self, table: pa.Table) -> pa.Table:
        """The rows of a table of the shard."""
        if not table.schema.names:
            return pa.Table.from_batches([self._built(None, table.num_rows)] if table.num_rows else [], self._schema)
        if table.schema.equals(self._schema, check_metadata=True):
            return table
        return pa.Table.from_batches([self.batch(batch) for batch in table.to_batches()], self._schema)

    def _built(self, batch: pa.RecordBatch | None, rows: int) -> pa.RecordBatch:
        if not self._schema.names:
            return rows_without_columns(rows)
        given = {} if batch is None else {name: index for index, name in enumerate(batch.schema.names)}
        columns = []
        for field in self._schema:
            if field.name in self._constants:
                columns.append(pa.repeat(self._constants[field.name], rows))
            elif batch is not None and field.name in given:
                columns.append(_conformed(batch.column(given[field.name]), field))
            else:
                columns.append(nulls(field.type, rows))
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _conformed(values: pa.Array, field: pa.Field) -> pa.Array:
    """The values of a shard as the column of the dataset, whose type is wide enough for all shards."""
    try:
        return conformed(values, field.type)
    except pa.ArrowException as error:
        expected = f"column {field.name!r}: expected values of type {field.type} in the shard"
        if isinstance(error, pa.ArrowInvalid) and _is_wider(field, values.type):
            # Nanoseconds do not reach all years, and codes of a dictionary not all its entries.
            hint = "read this shard alone, or write the shards with one type"
            raise InvalidArgument(f"{expected}, as another has, found {values.type} out of range; {hint}") from error
        # Only if somebody else said which columns the shard has: a catalog that lies, or the maker of a task.
        raise CorruptedData(f"{expected}, found {values.type}") from error


def _is_wider(field: pa.Field, kind: pa.DataType) -> bool:
    """Whether shards with columns of both types are one dataset, in which the column has the type of the field."""
    both = [("", pa.schema([field])), ("", pa.schema([field.with_type(kind)]))]
    try:
        return bool(united_arrow_schema([field.name], both, widen=True).field(0).type.equals(field.type))
    except InvalidSchema:
        return False
