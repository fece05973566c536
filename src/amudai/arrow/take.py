"""Reordering stored values.

Dictionaries, runs, list views and null lists with items need this when they are written. It works on stored arrays, so
that it supports every type that can be stored, and values are converted before they are repeated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.shard import Bits, StoredArray, StoredDictionary
from amudai.types import BasicType

__all__ = ["MISSING", "Places", "spans", "take"]

Places = npt.NDArray[np.int64]

# The place of a position that becomes null.
MISSING: Final = -1

_MOST_BYTES: Final = np.iinfo(np.int32).max


def spans(starts: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> Places:
    """All places of the spans, one span after the other.

    >>> spans(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(lengths, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    places: Places = np.repeat(starts.astype(np.int64) - (ends - lengths), lengths)
    places += np.arange(total)
    return places


def take(stored: StoredArray, places: Places) -> StoredArray:
    """The values at `places`, in that order; null if a place is `MISSING`. Places are not checked."""
    if stored.node.basic_type is BasicType.UNIT:
        return replace(stored, length=len(places), null_count=len(places))
    if stored.node.basic_type is BasicType.UNION:
        return _union(stored, places)
    present = places != MISSING
    valid = None if present.all() else present
    known = stored.valid()
    if known is not None:
        valid = _gathered(known, places)
        # A null position has no items and no bytes.
        places = np.where(valid, places, MISSING)
    nulls = 0 if valid is None else len(valid) - int(np.count_nonzero(valid))
    taken = _moved(stored, places)
    validity = Bits.of(valid) if nulls and valid is not None else None
    return replace(taken, length=len(places), null_count=nulls, validity=validity)


def _moved(stored: StoredArray, places: Places) -> StoredArray:
    """The values at `places`, without their validity."""
    node = stored.node
    if stored.dictionary is not None:
        codes = _gathered(stored.dictionary.codes, places)
        return replace(stored, dictionary=StoredDictionary(codes, stored.dictionary.values))
    match node.basic_type:
        case BasicType.BOOLEAN:
            assert stored.data is not None
            bits = Bits(stored.data, 0, stored.length).mask()
            return replace(stored, data=Bits.of(_gathered(bits, places)).data)
        case BasicType.STRING | BasicType.BINARY:
            return _variable(stored, places)
        case BasicType.FIXED_SIZE_BINARY | BasicType.GUID:
            assert stored.data is not None
            rows = stored.data.reshape(stored.length, node.fixed_size)
            return replace(stored, data=_gathered(rows, places).reshape(-1))
        case BasicType.STRUCT:
            return replace(stored, children=tuple(take(child, places) for child in stored.children))
        case BasicType.FIXED_SIZE_LIST:
            items = places[:, None] * node.fixed_size + np.arange(node.fixed_size)
            items[places == MISSING] = MISSING
            return replace(stored, children=(take(stored.children[0], items.reshape(-1)),))
        case BasicType.LIST | BasicType.MAP:
            return _lists(stored, places)
        case _:
            assert stored.data is not None
            return replace(stored, data=_gathered(stored.data, places))


def _gathered(values: npt.NDArray[Any], places: Places) -> npt.NDArray[Any]:
    """The values at `places`; 0 for a missing place."""
    if not len(values):
        return np.zeros((len(places), *values.shape[1:]), values.dtype)
    gathered = np.take(values, places, axis=0, mode="clip")
    gone = places == MISSING
    if gone.any():
        gathered[gone] = 0
    return gathered


def _variable(stored: StoredArray, places: Places) -> StoredArray:
    offsets, data = stored.offsets, stored.data
    assert offsets is not None
    assert data is not None
    lengths = _gathered(np.diff(offsets), places)
    if int(lengths.sum(dtype=np.int64)) > _MOST_BYTES and offsets.dtype != np.int64:
        offsets = offsets.astype(np.int64)
    kind = pa.large_binary() if offsets.dtype == np.int64 else pa.binary()
    values = pa.Array.from_buffers(kind, stored.length, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    _, moved, content = values.take(pa.array(places, mask=places == MISSING)).buffers()
    return replace(
        stored,
        offsets=np.frombuffer(moved, offsets.dtype, len(places) + 1),
        data=np.frombuffer(content or b"", np.uint8),
    )


def _lists(stored: StoredArray, places: Places) -> StoredArray:
    assert stored.offsets is not None
    lengths = _gathered(np.diff(stored.offsets), places)
    offsets = np.zeros(len(places) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    items = spans(_gathered(stored.offsets[:-1], places), lengths)
    return replace(stored, offsets=offsets, children=tuple(take(child, items) for child in stored.children))


def _union(stored: StoredArray, places: Places) -> StoredArray:
    """The values of a union at `places`. A union has no validity: for a missing place its first variant is null."""
    assert stored.data is not None
    codes = _gathered(stored.data, places)
    if stored.offsets is None:
        children = tuple(take(child, places) for child in stored.children)
        return replace(stored, length=len(places), data=codes, children=children)
    items = _gathered(stored.offsets, places).astype(np.int64)
    items[places == MISSING] = MISSING
    offsets = np.zeros(len(places), np.uint64)
    taken = []
    for number, child in enumerate(stored.children):
        mine = codes == number
        taken.append(take(child, items[mine]))
        offsets[mine] = np.arange(taken[-1].length)
    return replace(stored, length=len(places), data=codes, offsets=offsets, children=tuple(taken))
