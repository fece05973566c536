"""Rows without columns, of which only the number is known."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

__all__ = ["concatenated", "rows_without_columns", "table_without_columns"]


def rows_without_columns(count: int) -> pa.RecordBatch:
    """A batch of `count` rows that has no columns.

    >>> rows_without_columns(3).num_rows
    3
    """
    empty = pa.StructArray.from_buffers(pa.struct([]), count, [None])
    return pa.RecordBatch.from_struct_array(empty)


def table_without_columns(count: int, schema: pa.Schema) -> pa.Table:
    """A table of `count` rows with `schema`, which has no columns. `pa.Table.from_arrays` would have no rows.

    >>> table_without_columns(3, pa.schema([])).num_rows
    3
    """
    return pa.Table.from_batches([rows_without_columns(count)], schema)


def concatenated(tables: Sequence[pa.Table]) -> pa.Table:
    """One or more tables of the same columns, one below the other. Arrow's own function loses rows without columns.

    >>> concatenated([table_without_columns(count, pa.schema([])) for count in (3, 1)]).num_rows
    4
    """
    if tables[0].num_columns:
        return pa.concat_tables(tables)
    return table_without_columns(sum(table.num_rows for table in tables), tables[0].schema)
