"""A reader of FlatBuffers tables that does not trust its input.

The stock reader does. This one checks that every table, vector and string lies inside the buffer before it touches it.
References must point forward, so they cannot form a cycle.
"""

from __future__ import annotations

from struct import Struct
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from amudai.errors import CorruptedData

__all__ = ["FlatTable", "FlatTables", "Span"]

_U32 = Struct("<I")
_I32 = Struct("<i")
_U64 = Struct("<Q")
_VTABLE = Struct("<HH")  # bytes of the vtable, bytes of the table
_SLOTS: Final = tuple(Struct(f"<{slots}H") for slots in range(16))  # the vtable's rest; more slots than any table has
_U16_ARRAY: Final = np.dtype("<u2")
_U32_ARRAY: Final = np.dtype("<u4")

Span = tuple[int, int]


class FlatTable:
    """One table: its fields by slot. An absent field has the given default, or is None."""

    __slots__ = ("_at", "_data", "_offsets", "_size")

    def __init__(self, data: memoryview, at: int) -> None:
        end = len(data)
        if at + 4 > end:
            raise CorruptedData(f"FlatBuffers table at {at}: expected it inside {end} bytes, found it beyond")
        vtable = at - _I32.unpack_from(data, at)[0]
        if not 0 <= vtable <= end - 4:
            raise CorruptedData(f"FlatBuffers table at {at}: expected its vtable within 0..{end - 4}, found {vtable}")
        vtable_size, size = _VTABLE.unpack_from(data, vtable)
        if vtable_size < 4 or vtable_size % 2 or vtable + vtable_size > end:
            limits = f"an even size within 4..{end - vtable}"
            raise CorruptedData(f"FlatBuffers vtable at {vtable}: expected {limits}, found {vtable_size}")
        if size < 4 or at + size > end:
            raise CorruptedData(f"FlatBuffers table at {at}: expected a size within 4..{end - at}, found {size}")
        self._data, self._at, self._size = data, at, size
        # Slots of later versions, after the known ones, are ignored.
        self._offsets = _SLOTS[min((vtable_size - 4) // 2, len(_SLOTS) - 1)].unpack_from(data, vtable + 4)

    @classmethod
    def root(cls, data: memoryview) -> Self:
        """The table that the first word of the buffer refers to."""
        return cls(data, _follow(data, 0))

    def unknown_slot(self, known: int) -> int | None:
        """The first slot that is set, from `known` on: a field of a later version; None if there is none."""
        vtable = self._at - _I32.unpack_from(self._data, self._at)[0]
        offsets = np.frombuffer(self._data, _U16_ARRAY, _VTABLE.unpack_from(self._data, vtable)[0] // 2, vtable)[2:]
        later = np.flatnonzero(offsets[known:])
        return known + int(later[0]) if len(later) else None

    def u8(self, slot: int, default: int = 0) -> int:
        """A byte."""
        at = self._field(slot, 1)
        return default if at is None else self._data[at]

    def u32(self, slot: int, default: int = 0) -> int:
        """An unsigned 32-bit number."""
        at = self._field(slot, 4)
        return default if at is None else int(_U32.unpack_from(self._data, at)[0])

    def u64(self, slot: int, default: int = 0) -> int:
        """An unsigned 64-bit number."""
        at = self._field(slot, 8)
        return default if at is None else int(_U64.unpack_from(self._data, at)[0])

    def boolean(self, slot: int, default: bool = False) -> bool:
        """A byte that is 0 or not."""
        at = self._field(slot, 1)
        return default if at is None else self._data[at] != 0

    def table(self, slot: int) -> FlatTable | None:
        """Another table."""
        at = self._field(slot, 4)
        return None if at is None else FlatTable(self._data, _follow(self._data, at))

    def text(self, slot: int) -> Span | None:
        """The range of the bytes of a string, not decoded yet."""
        at = self._field(slot, 4)
        return None if at is None else _vector(self._data, _follow(self._data, at), 1)

    def texts(self, slot: int) -> list[Span] | None:
        """The range of the bytes of each string in a vector."""
        at = self._field(slot, 4)
        if at is None:
            return None
        start, end = _vector(self._data, _follow(self._data, at), 4)
        return [_vector(self._data, _follow(self._data, entry), 1) for entry in range(start, end, 4)]

    def tables(self, slot: int) -> FlatTables | None:
        """A vector of tables."""
        at = self._field(slot, 4)
        return None if at is None else FlatTables(self._data, *_vector(self._data, _follow(self._data, at), 4))

    def u32s(self, slot: int) -> npt.NDArray[np.uint32] | None:
        """A vector of unsigned 32-bit numbers, as a view."""
        at = self._field(slot, 4)
        if at is None:
            return None
        start, end = _vector(self._data, _follow(self._data, at), 4)
        return np.frombuffer(self._data, _U32_ARRAY, (end - start) // 4, start)

    def _field(self, slot: int, width: int) -> int | None:
        offset: int = self._offsets[slot] if slot < len(self._offsets) else 0
        if offset == 0:
            return None
        if offset < 4 or offset + width > self._size:
            limits = f"4..{self._size - width}"
            raise CorruptedData(f"FlatBuffers table at {self._at}, slot {slot}: expected {limits}, found {offset}")
        return self._at + offset


class FlatTables:
    """A vector of tables. Each table is read when it is accessed."""

    __slots__ = ("_data", "_end", "_start")

    def __init__(self, data: memoryview, start: int, end: int) -> None:
        self._data, self._start, self._end = data, start, end

    def __len__(self) -> int:
        return (self._end - self._start) // 4

    @property
    def span(self) -> Span:
        """Where the references to the tables begin and end."""
        return self._start, self._end

    def __getitem__(self, index: int) -> FlatTable:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return FlatTable(self._data, _follow(self._data, self._start + 4 * index))


def _follow(data: memoryview, at: int) -> int:
    """Where the reference at `at` points."""
    room = len(data) - 4 - at
    if room < 0:
        raise CorruptedData(f"FlatBuffers reference at {at}: expected it inside {len(data)} bytes, found it beyond")
    distance: int = _U32.unpack_from(data, at)[0]
    if not 4 <= distance <= room:
        message = f"expected a distance within 4..{room}, found {distance}"
        raise CorruptedData(f"FlatBuffers reference at {at}: {message}")
    return at + distance


def _vector(data: memoryview, at: int, width: int) -> Span:
    """First byte and end of the elements of the vector at `at`, checked to lie inside the buffer."""
    count = int(_U32.unpack_from(data, at)[0])
    room = (len(data) - at - 4) // width
    if count > room:
        raise CorruptedData(f"FlatBuffers vector at {at}: expected at most {room} elements, found {count}")
    return at + 4, at + 4 + count * width
