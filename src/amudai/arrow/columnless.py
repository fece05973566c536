"""Rows without columns, of which only the number is known."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["rows_without_columns"]


def rows_without_columns(count: int) -> pa.RecordBatch:
    """A batch of `count` rows that has no columns.

    >>> rows_without_columns(3).num_rows
    3
    """
    empty = pa.StructArray.from_buffers(pa.struct([]), count, [None])
    return pa.RecordBatch.from_struct_array(empty)
