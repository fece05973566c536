"""The internal fields that store what ticks of 100 ns leave of nanoseconds.

A top-level column of nanoseconds is stored as ticks, rounded down. If some of its values are not multiples of 100 ns,
the shard has another field with the role `NANOSECONDS`. It says for each row by how many nanoseconds, 0 to 99, the time
is after its tick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from amudai.arrow.natural import value_type
from amudai.arrow.storing import to_storage
from amudai.errors import InvalidSchema
from amudai.shard import StoredArray
from amudai.types import NANOSECONDS, BasicType, SchemaNode, nanoseconds_name, nodes_below, quote_name

__all__ = ["nanosecond_nodes", "stored_columns", "to_nanoseconds"]


def nanosecond_nodes(fields: Iterable[pa.Field], columns: Sequence[SchemaNode]) -> tuple[SchemaNode | None, ...]:
    """For each column the internal field that stores the nanoseconds after its ticks; None if it needs none.

    Parameters
    ----------
    columns
        The result of `schema_nodes` for the fields. The ids of the internal fields follow theirs.

    Examples
    --------
    >>> from amudai.arrow import schema_nodes
    >>> fields = [pa.field("at", pa.timestamp("ns")), pa.field("day", pa.date32())]
    >>> node, nothing = nanosecond_nodes(fields, schema_nodes(fields))
    >>> node.name, str(node), node.schema_id, nothing
    ('at:nanoseconds', 'uint8', 2, None)
    """
    names = {node.name for node in columns}
    next_id = sum(1 for _ in nodes_below(columns))
    found: list[SchemaNode | None] = []
    for field, column in zip(fields, columns, strict=True):
        if not (column.is_ticks and _is_nanoseconds(field.type)):
            found.append(None)
            continue
        name = nanoseconds_name(column.name)
        if name in names:
            reserved = f"which shards use for the nanoseconds of {column.name!r}"
            raise InvalidSchema(f"columns: expected no column {name!r}, {reserved}, found one")
        found.append(SchemaNode(schema_id=next_id, name=name, basic_type=BasicType.INT8, internal=NANOSECONDS))
        next_id += 1
    return tuple(found)


def stored_columns(
    batch: pa.RecordBatch, columns: Sequence[SchemaNode], nanoseconds: Sequence[SchemaNode | None]
) -> list[Callable[[], StoredArray]]:
    """For each field of a stripe a function that returns its values: first the columns, then their nanoseconds.

    Parameters
    ----------
    columns, nanoseconds
        For each column of the batch its node, and the result of `nanosecond_nodes`.
    """
    fields = list(zip(batch.columns, columns, nanoseconds, strict=True))
    work: list[Callable[[], StoredArray]] = [
        partial(to_storage, array, node, quote_name(node.name), rounded=after is not None)
        for array, node, after in fields
    ]
    work += [
        partial(to_nanoseconds, array, after, quote_name(node.name))
        for array, node, after in fields
        if after is not None
    ]
    return work


def to_nanoseconds(array: pa.Array, node: SchemaNode, path: str) -> StoredArray:
    """The nanoseconds, 0 to 99, by which the times of an array are after their ticks; 0 for a null.

    Parameters
    ----------
    node
        The internal field, from `nanosecond_nodes`.
    path
        The name of the column, for errors.

    Examples
    --------
    >>> field = pa.field("at", pa.timestamp("ns"))
    >>> from amudai.arrow import schema_nodes
    >>> (node,) = nanosecond_nodes([field], schema_nodes([field]))
    >>> to_nanoseconds(pa.array([1_700_000_000_123_456_789, None, -1], field.type), node, "at").data
    array([89,  0, 99], dtype=uint8)
    """
    found = to_storage(array, node, path)
    valid = found.valid()
    if valid is None or found.data is None:
        return found
    return replace(found, null_count=0, validity=None, data=np.where(valid, found.data, np.uint8(0)))


def _is_nanoseconds(kind: pa.DataType) -> bool:
    kind = value_type(kind)
    return bool(pa.types.is_timestamp(kind) or pa.types.is_duration(kind)) and kind.unit == "ns"
