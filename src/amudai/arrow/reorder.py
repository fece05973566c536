"""Rows of a table in another order, for types that Arrow cannot take from as well."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["reordered"]


def reordered(table: pa.Table, order: pa.Array) -> pa.Table:
    """The rows at the positions in `order`, which may repeat."""
    try:
        return table.take(order)
    except pa.ArrowNotImplementedError:
        return pa.Table.from_arrays([_picked(column, order) for column in table.columns], schema=table.schema)


def _picked(column: pa.ChunkedArray, order: pa.Array) -> pa.ChunkedArray:
    try:
        return column.take(order)
    except pa.ArrowNotImplementedError:
        # Arrow can take neither from views nor from run-end encoded values: rows are cut out one by one and joined.
        rows = [row for at in order.to_pylist() for row in column.slice(at, 1).chunks]
    try:
        return pa.chunked_array([pa.concat_arrays(rows)], column.type)
    except pa.ArrowNotImplementedError:
        return pa.chunked_array(rows, column.type)  # Arrow cannot join dictionaries of lists and structs
