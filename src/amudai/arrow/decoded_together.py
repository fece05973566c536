"""Columns that were decoded together as Arrow arrays.

Memory that holds the buffers of a record batch becomes the batch by a description in front of it: a message of Arrow's
IPC format. Arrow makes thousands of arrays of it faster than Python makes some hundred.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from struct import Struct
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arrow.arrays import to_array
from amudai.column import Projection, StoredValues
from amudai.encoding import SmallColumns
from amudai.errors import AmudaiError
from amudai.types import BasicType

__all__ = ["small_arrays"]

# Types whose arrays have the buffers of the stored values.
_SIMPLE: Final = frozenset(
    {
        *(pa.lib.Type_INT8, pa.lib.Type_INT16, pa.lib.Type_INT32, pa.lib.Type_INT64),
        *(pa.lib.Type_UINT8, pa.lib.Type_UINT16, pa.lib.Type_UINT32, pa.lib.Type_UINT64),
        *(pa.lib.Type_FLOAT, pa.lib.Type_DOUBLE, pa.lib.Type_STRING, pa.lib.Type_BINARY),
    }
)

# The description, by its offsets: 0 continuation and size, 8 reference to the message, 12 its vtable, 24 the vtable of
# the record batch, 40 the message (version, type of its header, header, bytes of the body), 64 the record batch (nodes,
# rows, buffers), 84 the number of nodes.
_HEAD: Final = Struct("<Ii I 6H 5H6x iHBxI4xq iIqI I")
_FOLLOWS: Final = -1 & 0xFFFFFFFF
_PREFIX: Final = 8
_VERSION: Final = 4  # of the metadata: V5
_RECORD_BATCH: Final = 3
_NODE: Final = 16  # bytes of the description of a column, and of a buffer
_BUFFERS_AT: Final = 80  # where the reference to the buffers is


def small_arrays(decoded: SmallColumns, columns: Sequence[tuple[pa.Field, Projection]]) -> list[pa.Array | None]:
    """Decoded columns as arrays of the types of their fields.

    None for a column that is not decoded, or cannot be converted: reading it alone says why.
    """
    is_read = decoded.is_read
    found: list[pa.Array | None] = [None] * len(columns)
    together: list[int] = []
    for at, (field, projection) in enumerate(columns):
        if not is_read[at]:
            continue
        node = projection.node
        if field.type.id in _SIMPLE and not node.extension and node.basic_type is not BasicType.DATETIME:
            together.append(at)
            continue
        with suppress(AmudaiError, MemoryError, OverflowError, pa.ArrowException):
            found[at] = to_array(StoredValues(decoded.column(at)), projection, field.type)
    if together:
        batch = _batch(decoded, np.array(together), pa.schema([columns[at][0] for at in together]))
        for at, array in zip(together, batch.columns, strict=True):
            found[at] = array
    return found


def _batch(decoded: SmallColumns, chosen: npt.NDArray[np.int64], schema: pa.Schema) -> pa.RecordBatch:
    """Some of the columns as a record batch. Writes its description into the room before the values."""
    memory, head = decoded.memory, decoded.room
    room = len(head)
    nulls = decoded.nulls[chosen].astype(np.int64)
    nodes = np.empty((len(chosen), 2), "<i8")
    nodes[:, 0], nodes[:, 1] = decoded.length, nulls
    # For each column: validity, values or offsets, and bytes of strings, which numbers lack.
    buffers = np.empty((len(chosen), 3, 2), "<i8")
    places = decoded.validity, decoded.values, decoded.texts
    for at, place in enumerate(places):
        buffers[:, at, 0] = place[chosen] - room
    buffers[:, 0, 1] = np.where(nulls > 0, (decoded.length + 7) // 8, 0)
    buffers[:, 1:, 1] = decoded.sizes[chosen]
    exists = np.ones((len(chosen), 3), np.bool_)
    exists[:, 2] = decoded.is_text[chosen]
    listed = buffers[exists]
    nodes_end = _HEAD.size + _NODE * len(nodes)
    head[: _HEAD.size] = np.frombuffer(
        _HEAD.pack(
            *(_FOLLOWS, room - _PREFIX, 32),
            *(12, 24, 4, 6, 8, 16),
            *(10, 20, 8, 4, 16),
            *(28, _VERSION, _RECORD_BATCH, 16, memory.size - room),
            *(40, 16, decoded.length, nodes_end + 4 - _BUFFERS_AT),
            len(nodes),
        ),
        np.uint8,
    )
    head[_HEAD.size : nodes_end] = nodes.reshape(-1).view(np.uint8)
    head[nodes_end : nodes_end + 8] = np.array([0, len(listed)], "<u4").view(np.uint8)
    head[nodes_end + 8 : nodes_end + 8 + _NODE * len(listed)] = listed.reshape(-1).view(np.uint8)
    return pa.ipc.read_record_batch(pa.ipc.read_message(memory), schema)
