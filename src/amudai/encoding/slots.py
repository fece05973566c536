"""Strings and other bytes to be encoded into a dictionary or into blocks.

They come as plain values (`ValueSlots`), or as codes of a dictionary of the caller (`CodedSlots`). Both give the same
values, so that the bytes of a shard do not depend on the form of its input.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.binary.choice import BytesBlock
from amudai.encoding.bytes import cut

__all__ = ["CodedSlots", "Slots", "ValueSlots", "gathered"]

Bools = npt.NDArray[np.bool_]
U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]


class Slots(Protocol):
    """A run of values, some of which may be null."""

    @property
    def count(self) -> int:
        """How many slots."""

    def part(self, start: int, end: int) -> BytesBlock:
        """The values of some slots."""

    def cuts(self, most_slots: int, most_bytes: int) -> Iterator[tuple[int, int]]:
        """Where to cut, as `cut` says."""

    def codes(self, dictionary: _kernels.Dictionary, start: int, end: int) -> U32:
        """The codes of some slots in a dictionary, which takes in what is new to it."""


@dataclass(frozen=True, slots=True, eq=False)
class ValueSlots:
    """Plain values: `offsets` into `data`, or values of a fixed size. Nulls are empty, or zeros."""

    offsets: npt.NDArray[Any] | None
    data: U8
    count: int
    valid: Bools | None
    fixed_size: int | None

    def part(self, start: int, end: int) -> BytesBlock:
        """The values of some slots."""
        valid = None if self.valid is None else self.valid[start:end]
        if self.offsets is None:
            size = self.fixed_size or 0
            return BytesBlock(None, self.data[start * size : end * size], end - start, valid)
        return BytesBlock(self.offsets[start : end + 1], self.data, end - start, valid)

    def cuts(self, most_slots: int, most_bytes: int) -> Iterator[tuple[int, int]]:
        """Where to cut, as `cut` says."""
        return cut(self.part(0, self.count), self.fixed_size, most_slots, most_bytes)

    def codes(self, dictionary: _kernels.Dictionary, start: int, end: int) -> U32:
        """The codes of some slots in a dictionary, which takes in what is new to it."""
        part = self.part(start, end)
        return dictionary.encode(part.offsets, part.data, _packed(part.valid), 0, part.count)


@dataclass(frozen=True, slots=True, eq=False)
class CodedSlots:
    """Codes of a dictionary: slot i holds entry `slot_codes[i]` of `entries`. Null slots have code 0."""

    slot_codes: U32
    entries: ValueSlots
    valid: Bools | None

    @property
    def count(self) -> int:
        """How many slots."""
        return len(self.slot_codes)

    def part(self, start: int, end: int) -> BytesBlock:
        """The values of some slots."""
        codes, entries = self.slot_codes[start:end], self.entries
        offsets, data, valid = entries.offsets, entries.data, None
        if self.valid is not None:
            # One more entry for null, which is empty, or zeros.
            valid = self.valid[start:end]
            codes = np.where(valid, codes, np.uint32(entries.count))
            if offsets is None:
                data = np.append(data, np.zeros(entries.fixed_size or 0, np.uint8))
            else:
                offsets = np.append(offsets, offsets[-1])
        ends, values = gathered(codes, offsets, data, entries.fixed_size)
        return BytesBlock(ends, values, end - start, valid)

    def cuts(self, most_slots: int, most_bytes: int) -> Iterator[tuple[int, int]]:
        """Where to cut, as `cut` says."""
        empty = np.empty(0, np.uint8)
        if self.entries.offsets is None:
            return cut(BytesBlock(None, empty, self.count, None), self.entries.fixed_size, most_slots, most_bytes)
        lengths = np.diff(self.entries.offsets)
        if not len(lengths) or int(lengths.max()) * min(self.count, most_slots) <= most_bytes:
            return cut(BytesBlock(None, empty, self.count, None), None, most_slots, most_bytes)
        ends = np.zeros(self.count + 1, np.int64)
        sizes = lengths[self.slot_codes]
        np.cumsum(sizes if self.valid is None else np.where(self.valid, sizes, 0), out=ends[1:])
        return cut(BytesBlock(ends, empty, self.count, None), None, most_slots, most_bytes)

    def codes(self, dictionary: _kernels.Dictionary, start: int, end: int) -> U32:
        """The codes of some slots in a dictionary, which takes in what is new to it."""
        entries = self.entries
        valid = None if self.valid is None else _packed(self.valid[start:end])
        return dictionary.recode(entries.offsets, entries.data, entries.count, self.slot_codes[start:end], valid, 0)


def gathered(
    codes: U32, offsets: npt.NDArray[Any] | None, data: U8, fixed_size: int | None
) -> tuple[npt.NDArray[np.int64] | None, U8]:
    """The offsets and bytes of the entries at `codes`. Values of a fixed size have no offsets."""
    bitmap = np.empty(len(codes) // 8 + 1, np.uint8)  # not used: no code means null here
    if offsets is None:
        values = np.empty(len(codes) * (fixed_size or 0), np.uint8)
        _kernels.gather_fixed(codes, data, fixed_size or 0, None, values, bitmap)
        return None, values
    entries = offsets.astype(np.uint64, copy=False)
    ends = np.zeros(len(codes) + 1, np.int64)
    _kernels.gather_offsets(codes, entries, None, ends, bitmap)
    values = np.empty(int(ends[-1]) + 64, np.uint8)  # the kernel may write after the last value
    _kernels.gather_bytes(codes, data, entries, values)
    return ends, values[: int(ends[-1])]


def _packed(valid: Bools | None) -> U8 | None:
    return None if valid is None else np.packbits(valid, bitorder="little")
