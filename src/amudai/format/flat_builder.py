"""A writer of FlatBuffers buffers.

A buffer is written from its end to its beginning, so that everything a table refers to is written before it. Equal
strings and equal vtables are stored once. Order, sharing and padding are those of the reference implementation, so the
same content gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["FlatBuilder", "Place", "TableShape"]

# The start of an object, in bytes from the end of the buffer, because the beginning is not known yet.
Place = int

_U32: Final = Struct("<I")
_I32: Final = Struct("<i")
_REFERENCE: Final = 4
_NOTHING: Final = bytes(_REFERENCE)  # a vector of no elements
_CODES: Final = {1: "B", 4: "I", 8: "Q"}


@dataclass(frozen=True, slots=True)
class _TableLayout:
    """The layout of a table in which certain fields are present: its bytes, and its vtable."""

    fields: Struct
    references: tuple[tuple[int, int], ...]  # number of the value, bytes from the start of the table
    align: int
    vtable: bytes


class TableShape:
    """The fields of one kind of table, by slot: the size of each in bytes, and which of them are references."""

    __slots__ = ("_layouts", "_order", "_references", "_widths")

    def __init__(self, widths: Sequence[int], references: Sequence[int]) -> None:
        self._widths = tuple(widths)
        self._references = frozenset(references)
        # The widest first: then no field needs padding.
        self._order = sorted(range(len(widths)), key=lambda slot: -widths[slot])
        self._layouts: dict[tuple[bool, ...], _TableLayout] = {}

    def layout(self, present: tuple[bool, ...]) -> _TableLayout:
        """The layout of a table in which the slots of `present` are set."""
        found = self._layouts.get(present)
        return found if found is not None else self._layouts.setdefault(present, self._lay_out(present))

    def pick(self, values: Sequence[int]) -> tuple[tuple[bool, ...], list[int]]:
        """Which slots have a value to store, and these values in the order of the table."""
        return tuple(map(bool, values)), [value for value in map(values.__getitem__, self._order) if value]

    def _lay_out(self, present: tuple[bool, ...]) -> _TableLayout:
        slots = [slot for slot in self._order if present[slot]]
        offsets, at = [0] * len(present), _REFERENCE
        references = []
        for number, slot in enumerate(slots):
            offsets[slot] = at
            if slot in self._references:
                references.append((number, at))
            at += self._widths[slot]
        while offsets and offsets[-1] == 0:
            offsets.pop()
        return _TableLayout(
            fields=Struct("<" + "".join(_CODES[self._widths[slot]] for slot in slots)),
            references=tuple(references),
            align=max([_REFERENCE, *(self._widths[slot] for slot in slots)]),
            vtable=Struct(f"<{2 + len(offsets)}H").pack(4 + 2 * len(offsets), at, *offsets),
        )


class FlatBuilder:
    """Collects strings, vectors and tables, the last of the buffer first. Each call returns the place of its object."""

    __slots__ = ("_known", "_mask", "_phase", "_pieces", "_size", "_strings")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        # The address of the last object, modulo the largest alignment required so far.
        self._phase = self._mask = 0
        self._strings: dict[str, Place] = {}
        self._known: dict[bytes, Place] = {}

    def text(self, text: str) -> Place:
        """A string. Raises UnicodeEncodeError for a lone surrogate."""
        known = self._strings.get(text)
        if known is None:
            content = text.encode()
            known = self._strings[text] = self._put(b"%b%b\0" % (_U32.pack(len(content)), content), _REFERENCE)
        return known

    def references(self, places: Sequence[Place]) -> Place:
        """A vector of references to objects that were written before."""
        if not places:
            return self._put(_NOTHING, _REFERENCE)
        size = _REFERENCE * (1 + len(places))
        start = self._align(size, _REFERENCE)
        distances = start - np.array(places, np.int64) - np.arange(_REFERENCE, size, _REFERENCE)
        return self._append(_U32.pack(len(places)) + distances.astype("<u4").tobytes())

    def numbers(self, numbers: npt.NDArray[np.uint32]) -> Place:
        """A vector of unsigned 32-bit numbers."""
        return self._put(_U32.pack(len(numbers)) + numbers.astype("<u4").tobytes(), _REFERENCE)

    def octets(self, data: bytes) -> Place:
        """A vector of bytes."""
        return self._put(_U32.pack(len(data)) + data, _REFERENCE)

    def table(self, shape: TableShape, *values: int) -> Place:
        """A table with these values by slot: numbers and places. Zeros are left out: no object has place 0."""
        present, stored = shape.pick(values)
        layout = shape.layout(present)
        vtable = self._known.get(layout.vtable)
        if vtable is None:
            vtable = self._known[layout.vtable] = self._put(layout.vtable, 2)
        start = self._align(layout.fields.size, layout.align) + _REFERENCE
        for number, at in layout.references:
            stored[number] = start - at - stored[number]
        self._append(layout.fields.pack(*stored))
        return self._put(_I32.pack(vtable - start), _REFERENCE)

    def finish(self, root: Place) -> bytes:
        """The buffer whose root is the table at `root`."""
        start = self._align(_REFERENCE, max(self._mask + 1, _REFERENCE))
        self._append(_U32.pack(start - root))
        return b"".join(reversed(self._pieces))

    def _put(self, piece: bytes, align: int) -> Place:
        self._align(len(piece), align)
        return self._append(piece)

    def _append(self, piece: bytes) -> Place:
        self._pieces.append(piece)
        self._size += len(piece)
        return self._size

    def _align(self, size: int, align: int) -> Place:
        """Pad so that an object of `size` bytes begins at a multiple of `align`; return its place.

        Addresses are fixed by the first object that requires an alignment: it needs no padding.
        """
        phase = self._phase - size
        padding = phase & self._mask & (align - 1)
        if padding:
            self._append(bytes(padding))
        self._phase = (phase - padding) & self._mask
        self._mask |= align - 1
        return self._size + size
