"""Arrow arrays that another format gave: their values in another Arrow type, or as they would be stored."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arrow.natural import value_type
from amudai.arrow.stored_forms import stored_form
from amudai.arrow.storing import to_storage
from amudai.column import AbsentValues, ColumnValues, Projection, StoredValues
from amudai.encoding import Values
from amudai.errors import InvalidArgument
from amudai.shard import StoredArray
from amudai.types import BasicType, SchemaNode

__all__ = ["as_stored", "converted", "stored_values"]


def converted(array: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """The array as `kind` if that needs no look at the schema of the shard; None if it does.

    Times of any unit stay whole: what is finer than a tick would be lost on the way through their stored form.
    """
    if array.type.equals(kind):
        return array
    if isinstance(array, pa.ExtensionArray) and array.type.storage_type.equals(kind):
        return array.storage
    if not (_is_time(array.type) and _is_time(kind)):
        return None
    try:
        return array.cast(kind)
    except pa.ArrowInvalid as error:
        raise InvalidArgument(f"type: expected one that can hold the values of {array.type}, found {kind}") from error


def as_stored(array: pa.Array, projection: Projection) -> ColumnValues:
    """The values in the form in which blocks would hold them. `array` has the members that `projection` names."""
    node = _projected(projection)
    if _is_number(array.type) and not array.type.equals(form := stored_form(node)):
        array = array.cast(form)  # files of one shard may differ in the width of their numbers
    return stored_values(to_storage(_plain(array), node, node.name, rounded=True), projection)


def _projected(projection: Projection) -> SchemaNode:
    """The node, with only those children that are projected."""
    return replace(projection.node, children=tuple(map(_projected, projection.children)))


def _plain(array: pa.Array) -> pa.Array:
    """A dictionary or an extension as its values."""
    while True:
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        elif isinstance(array, pa.DictionaryArray):
            array = array.dictionary_decode()
        else:
            return array


def stored_values(stored: StoredArray, projection: Projection) -> ColumnValues:
    """Values that are to be stored, in the form in which a reader would find them."""
    if stored.node.basic_type is BasicType.UNIT:
        return AbsentValues(stored.length)
    validity = None if stored.validity is None else pa.py_buffer(stored.validity.packed())
    children = tuple(
        stored_values(child, wanted) for child, wanted in zip(stored.children, projection.children, strict=True)
    )
    data, offsets = stored.data, stored.offsets
    if stored.dictionary is not None:
        data, offsets = _expanded(stored)
    if offsets is not None:
        if data is not None and stored.node.basic_type in (BasicType.STRING, BasicType.BINARY):
            data = data[int(offsets[0]) : int(offsets[-1])]
        offsets = _rebased(offsets, projection.wide)
    return StoredValues(
        Values(
            stored.length,
            stored.null_count,
            validity,
            None if data is None else pa.py_buffer(np.ascontiguousarray(data)),
            None if offsets is None else pa.py_buffer(offsets),
        ),
        children,
    )


def _expanded(stored: StoredArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64] | None]:
    """The data and offsets of values that are given by a dictionary, below a column."""
    assert stored.dictionary is not None
    entries, codes = stored.dictionary.values, stored.dictionary.codes.astype(np.int64)
    if entries.offsets is None:
        assert entries.data is not None
        size = stored.node.fixed_size
        return entries.data.reshape(entries.length, size)[codes].reshape(-1), None
    spans = [None, pa.py_buffer(entries.offsets.astype(np.int64)), pa.py_buffer(np.ascontiguousarray(entries.data))]
    known = pa.Array.from_buffers(pa.large_binary(), entries.length, spans)
    valid = stored.valid()
    taken = known.take(pa.array(codes, mask=None if valid is None else ~valid)).fill_null(b"")
    buffers = taken.buffers()
    return np.frombuffer(buffers[2] or b"", np.uint8), np.frombuffer(buffers[1], np.int64, len(taken) + 1)


def _rebased(offsets: npt.NDArray[np.generic], wide: bool) -> npt.NDArray[np.generic]:
    """Arrow's offsets, from 0 on."""
    moved = offsets - offsets[0] if len(offsets) else offsets
    if not wide and len(moved) and int(moved[-1]) > np.iinfo(np.int32).max:
        raise OverflowError("more bytes or items than the offsets of this Arrow type can count")
    return moved.astype(np.int64 if wide else np.int32)


def _is_time(kind: pa.DataType) -> bool:
    kind = value_type(kind)
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_duration(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind))
