"""The internal fields that a writer fills: when a row came in, and an identity of the row."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa

from amudai.api.moments import creation_time, require_zone
from amudai.arguments import shown
from amudai.arrow import to_storage
from amudai.errors import InvalidArgument
from amudai.shard import StoredArray
from amudai.types import INGESTION_TIMESTAMP, RECORD_IDENTITY, BasicType, SchemaNode

__all__ = ["InternalValues"]

# An identity consists of the identity of the shard, which is random, and the position of the row.
_SHARD_BYTES: Final = 10
_POSITION_BYTES: Final = 6
_IDENTITY_BYTES: Final = _SHARD_BYTES + _POSITION_BYTES


class InternalValues:
    """The internal fields of a shard that is being written.

    Parameters
    ----------
    ingestion_time
        True for the time at which rows are appended; or a time for all rows; False for no such field.
    record_id
        True for an identity of each row with random bytes for the shard; or these bytes; False for no such field.
    first_id
        The schema id of the first of these fields.

    Attributes
    ----------
    nodes
        The schema nodes of the fields.
    """

    def __init__(self, ingestion_time: bool | datetime, record_id: bool | bytes, first_id: int) -> None:
        made: list[SchemaNode] = []
        self._time = None if isinstance(ingestion_time, bool) else require_zone(ingestion_time, "ingestion_time")
        self._shard = secrets.token_bytes(_SHARD_BYTES) if isinstance(record_id, bool) else record_id
        if not isinstance(self._shard, bytes) or len(self._shard) != _SHARD_BYTES:
            raise InvalidArgument(f"record_id: expected True, False or {_SHARD_BYTES} bytes, found {shown(record_id)}")
        self._work: list[Callable[[SchemaNode, int, int], Callable[[], StoredArray]]] = []
        if ingestion_time is not False:
            made.append(
                SchemaNode(
                    schema_id=first_id,
                    name=INGESTION_TIMESTAMP,
                    basic_type=BasicType.DATETIME,
                    internal=INGESTION_TIMESTAMP,
                )
            )
            self._work.append(self._times)
        if record_id is not False:
            made.append(
                SchemaNode(
                    schema_id=first_id + len(made),
                    name=RECORD_IDENTITY,
                    basic_type=BasicType.FIXED_SIZE_BINARY,
                    fixed_size=_IDENTITY_BYTES,
                    internal=RECORD_IDENTITY,
                )
            )
            self._work.append(self._identities)
        self.nodes = tuple(made)

    def columns(
        self, first_row: int, rows: int, known: Mapping[str, pa.Array] | None = None
    ) -> list[Callable[[], StoredArray]]:
        """For each field a function that returns its values for rows that are appended now.

        `known` has the values of fields, by their role, if the rows come from another shard.
        """
        return [
            partial(to_storage, known[node.internal], node, node.name)
            if known is not None and node.internal is not None and node.internal in known
            else work(node, first_row, rows)
            for node, work in zip(self.nodes, self._work, strict=True)
        ]

    def _times(self, node: SchemaNode, _: int, rows: int) -> Callable[[], StoredArray]:
        when = self._time if self._time is not None else creation_time(None)
        return lambda: to_storage(pa.repeat(pa.scalar(when, pa.timestamp("us", "UTC")), rows), node, node.name)

    def _identities(self, node: SchemaNode, first_row: int, rows: int) -> Callable[[], StoredArray]:
        def identities() -> StoredArray:
            found = np.empty((rows, _IDENTITY_BYTES), np.uint8)
            found[:, :_SHARD_BYTES] = np.frombuffer(self._shard, np.uint8)
            places = np.arange(first_row, first_row + rows, dtype=">u8").view(np.uint8).reshape(rows, 8)
            found[:, _SHARD_BYTES:] = places[:, -_POSITION_BYTES:]
            array = pa.Array.from_buffers(pa.binary(_IDENTITY_BYTES), rows, [None, pa.py_buffer(found)])
            return to_storage(array, node, node.name)

        return identities
