"""Stored values without conversion to their Arrow type.

Building an index from the values of a shard needs them as they are stored: ticks, not timestamps. The values are read
as the Arrow type with the same layout, and then split into their buffers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.shard import Bits, StoredArray
from amudai.types import WIDTHS, BasicType, SchemaNode

__all__ = ["stored_array", "stored_form"]

_PLAIN: Final = {
    BasicType.BOOLEAN: pa.bool_(),
    BasicType.STRING: pa.large_string(),
    BasicType.BINARY: pa.large_binary(),
    BasicType.GUID: pa.binary(16),
    BasicType.UNIT: pa.null(),
}


def stored_form(node: SchemaNode) -> pa.DataType:
    """The Arrow type with the layout in which a field's values are stored.

    >>> stored_form(SchemaNode(schema_id=0, name="ts", basic_type=BasicType.DATETIME))
    DataType(uint64)
    """
    if node.basic_type in WIDTHS:
        return pa.from_numpy_dtype(np.dtype(node.dtype))
    match node.basic_type:
        case BasicType.FIXED_SIZE_BINARY:
            return pa.binary(node.fixed_size)
        case BasicType.STRUCT:
            return pa.struct([_field(child) for child in node.children])
        case BasicType.LIST:
            return pa.large_list(_field(node.children[0]))
        case BasicType.FIXED_SIZE_LIST:
            return pa.list_(_field(node.children[0]), node.fixed_size)
        case BasicType.MAP:
            return pa.map_(stored_form(node.children[0]), _field(node.children[1]))
        case BasicType.UNION:
            return pa.sparse_union([_field(child) for child in node.children])
    return _PLAIN[node.basic_type]


def _field(node: SchemaNode) -> pa.Field:
    return pa.field(node.name, stored_form(node))


def stored_array(array: pa.Array, node: SchemaNode) -> StoredArray:
    """An array of a field's stored form as a `StoredArray`, which builders take."""
    stored = StoredArray(node=node, length=len(array), null_count=array.null_count, validity=_validity(array))
    buffers, first, end = array.buffers(), array.offset, array.offset + len(array)
    match node.basic_type:
        case BasicType.UNIT:
            return stored
        case BasicType.BOOLEAN:
            return replace(stored, data=Bits.of(_mask(buffers[1], first, len(array))).data)
        case BasicType.STRING | BasicType.BINARY:
            offsets = np.frombuffer(buffers[1] or b"\0" * 8, np.int64)[first : end + 1]
            return replace(stored, offsets=offsets, data=np.frombuffer(buffers[2] or b"", np.uint8))
        case BasicType.FIXED_SIZE_BINARY | BasicType.GUID:
            size = array.type.byte_width
            return replace(stored, data=np.frombuffer(buffers[1] or b"", np.uint8)[first * size : end * size])
        case BasicType.STRUCT:
            children = [array.field(index) for index in range(array.type.num_fields)]
            return replace(stored, children=_children(children, node))
        case BasicType.FIXED_SIZE_LIST:
            items = array.values.slice(first * node.fixed_size, len(array) * node.fixed_size)
            return replace(stored, children=_children([items], node))
        case BasicType.LIST | BasicType.MAP:
            wanted = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
            start, stop = (int(wanted[0]), int(wanted[-1])) if len(wanted) else (0, 0)
            parts = [array.keys, array.items] if node.basic_type is BasicType.MAP else [array.values]
            items = [part.slice(start - part.offset, stop - start) for part in parts]
            return replace(stored, offsets=wanted - start, children=_children(items, node))
        case BasicType.UNION:
            # An array of a variant has a slot for each position of the union.
            variants = [array.field(index) for index in range(array.type.num_fields)]
            codes = np.frombuffer(buffers[1] or b"", np.uint8)[first:end]
            return replace(stored, data=codes, children=_children(variants, node))
    return replace(stored, data=np.frombuffer(buffers[1] or b"", node.dtype)[first:end])


def _children(arrays: list[pa.Array], node: SchemaNode) -> tuple[StoredArray, ...]:
    return tuple(stored_array(array, child) for array, child in zip(arrays, node.children, strict=True))


def _validity(array: pa.Array) -> Bits | None:
    if not array.null_count or pa.types.is_null(array.type):
        return None
    return Bits.of(_mask(array.buffers()[0], array.offset, len(array)))


def _mask(buffer: pa.Buffer, first: int, count: int) -> npt.NDArray[np.bool_]:
    bits: npt.NDArray[Any] = np.unpackbits(np.frombuffer(buffer or b"", np.uint8), bitorder="little")
    return bits[first : first + count].view(np.bool_)
