"""Many FlatBuffers tables at once, for schemas with thousands of fields.

The checks are those of `flat.py`, but without a reason: an `UnusualTable` is read again table by table, which either
succeeds, as for buffers that are not aligned, or says what is wrong.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["TableArray", "UnusualTable"]

I64 = npt.NDArray[np.int64]

_WORD: Final = 4
_HEAD: Final = 4  # bytes of a vtable before its slots


class UnusualTable(Exception):
    """Some table or reference is not what this reader expects."""


class TableArray:
    """Tables of the same type: the fields of all of them by slot."""

    __slots__ = ("_at", "_data", "_size", "_vtable", "_vtable_size")

    def __init__(self, data: bytes, at: I64) -> None:
        self._data, self._at = data, at
        self._vtable = at - self._words(at).astype(np.uint32).view(np.int32)
        self._vtable_size = self._halves(self._vtable)
        self._size = self._halves(self._vtable + 2)
        _require(self._vtable_size >= _HEAD, self._vtable + self._vtable_size <= len(data))
        _require(self._size >= _WORD, at + self._size <= len(data))

    @classmethod
    def of_vector(cls, data: bytes, start: int, end: int) -> TableArray:
        """The tables of a vector of references, which lies at `start..end`."""
        places = np.arange(start, end, _WORD, dtype=np.int64)
        return cls(data, cls._followed(data, places))

    def has(self, slot: int) -> npt.NDArray[np.bool_]:
        """Whether each table has the field."""
        found: npt.NDArray[np.bool_] = self._offsets(slot) != 0
        return found

    def numbers(self, slot: int, width: int) -> I64:
        """The unsigned number of `width` bytes, below 2^63, in a field of each table; 0 for a table that lacks it."""
        offsets = self._offsets(slot)
        is_set = offsets != 0
        _require(offsets[is_set] >= _WORD, offsets[is_set] + width <= self._size[is_set])
        found = np.zeros(len(offsets), np.int64)
        found[is_set] = _loaded(self._data, self._at[is_set] + offsets[is_set], width, f"<u{width}")
        _require(found >= 0)
        return found

    def lengths(self, slot: int) -> I64:
        """The number of references in the vector of a field, which no table may lack."""
        begins = self._followed(self._data, self._references(slot))
        found = self._words(begins)
        _require(begins + _WORD + _WORD * found <= len(self._data))
        return found

    def tables(self, slot: int) -> TableArray:
        """The tables that a field refers to, which no table may lack."""
        return TableArray(self._data, self._followed(self._data, self._references(slot)))

    def spans(self, slot: int) -> tuple[I64, I64]:
        """Where the bytes of the strings begin and end that a field refers to, which no table may lack."""
        begins = self._followed(self._data, self._references(slot))
        ends = begins + _WORD + self._words(begins)
        _require(ends <= len(self._data))
        return begins + _WORD, ends

    def _references(self, slot: int) -> I64:
        offsets = self._offsets(slot)
        _require(offsets >= _WORD, offsets + _WORD <= self._size)
        return self._at + offsets

    def _offsets(self, slot: int) -> I64:
        """Where the field is in each table; 0 if the table lacks it."""
        at = _HEAD + 2 * slot
        is_set = self._vtable_size >= at + 2
        found = np.zeros(len(self._at), np.int64)
        found[is_set] = self._halves(self._vtable[is_set] + at)
        return found

    def _words(self, at: I64) -> I64:
        return _loaded(self._data, at, _WORD, "<u4")

    def _halves(self, at: I64) -> I64:
        return _loaded(self._data, at, 2, "<u2")

    @staticmethod
    def _followed(data: bytes, at: I64) -> I64:
        distances = _loaded(data, at, _WORD, "<u4")
        _require(distances >= _WORD)
        found: I64 = at + distances
        return found


def _loaded(data: bytes, at: I64, width: int, dtype: str) -> I64:
    """The number at each place."""
    _require(at >= 0, at + width <= len(data), at % width == 0)
    return np.frombuffer(data, dtype, len(data) // width)[at // width].astype(np.int64)


def _require(*conditions: npt.NDArray[np.bool_]) -> None:
    if not all(condition.all() for condition in conditions):
        raise UnusualTable
