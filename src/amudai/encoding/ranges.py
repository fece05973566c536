"""Which positions are wanted?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai import _kernels

__all__ = ["Ranges"]

U64 = npt.NDArray[np.uint64]


# Not frozen, though nobody changes one: a look-up makes dozens, and to freeze them takes longer than to fill them.
@dataclass(slots=True, eq=False)
class Ranges:
    """Positions as half-open ranges: ascending, none empty, none touching the next.

    `part_of` is a set that holds all of these, where one is known: they are not compared with it again.
    """

    starts: U64
    ends: U64
    part_of: Ranges | None = field(default=None, repr=False)
    _count: int = field(default=-1, repr=False)

    @classmethod
    def one(cls, start: int, end: int) -> Ranges:
        """The positions `start..end`."""
        if start >= end:
            return _NONE
        return cls(np.array([start], np.uint64), np.array([end], np.uint64))

    @classmethod
    def joined(cls, starts: U64, ends: U64) -> Ranges:
        """From ascending ranges that may be empty or touch each other."""
        filled = starts < ends
        if not filled.all():
            starts, ends = starts[filled], ends[filled]
        if len(starts) > 1:
            apart = starts[1:] != ends[:-1]
            if not apart.all():
                starts = starts[np.concatenate(([True], apart))]
                ends = ends[np.concatenate((apart, [True]))]
        return cls(starts, ends)

    @classmethod
    def of_positions(cls, positions: U64) -> Ranges:
        """From ascending positions."""
        return cls(*_kernels.ranges_of_positions(np.ascontiguousarray(positions)))

    @classmethod
    def from_mask(cls, mask: npt.NDArray[np.bool_] | pa.Buffer, base: int = 0, count: int | None = None) -> Ranges:
        """The positions at which a mask is true, or a bit of an Arrow bitmap set; the first one is position `base`.

        A bitmap does not know how many bits it has: `count` says it.
        """
        if isinstance(mask, np.ndarray):
            count, bits = len(mask), np.packbits(mask, bitorder="little")
        else:
            bits = np.frombuffer(mask, np.uint8)
            count = 8 * len(bits) if count is None else count
        return cls(*_kernels.ranges_of_bitmap(bits, 0, count, base))

    @classmethod
    def united(cls, parts: Sequence[Ranges]) -> Ranges:
        """The positions of any: two by two, so that many small ones take no longer than few large ones."""
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=False)
            parts = [*(one.unite(other) for one, other in pairs), *parts[len(parts) & ~1 :]]
        return parts[0] if parts else _NONE

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def count(self) -> int:
        """How many positions."""
        if self._count < 0:
            if len(self.starts) == 1:
                self._count = self.ends.item(0) - self.starts.item(0)
            else:
                # Sums that wrapped differ by the right number all the same.
                self._count = (int(np.add.reduce(self.ends)) - int(np.add.reduce(self.starts))) % (1 << 64)
        return self._count

    @property
    def end(self) -> int:
        """Where the last range ends; 0 where there is none."""
        return int(self.ends[-1]) if len(self.ends) else 0

    def within(self, start: int, end: int) -> Ranges:
        """Those of the positions that lie in `start..end`, counted from `start`."""
        if start == 0 and self.end <= end:
            return self  # as a rule: the first stripe is the only one
        if len(self.starts) == 1:
            return Ranges.one(max(int(self.starts[0]), start) - start, min(int(self.ends[0]), end) - start)
        if start >= end:
            return _NONE
        low, high = np.uint64(start), np.uint64(end)
        first = int(np.searchsorted(self.ends, low, "right"))
        last = int(np.searchsorted(self.starts, high, "left"))
        starts = np.maximum(self.starts[first:last], low) - low
        ends = np.minimum(self.ends[first:last], high) - low
        return Ranges(starts, ends)

    def shifted(self, by: int) -> Ranges:
        """Each position, `by` further on."""
        if by == 0 or not len(self.starts):
            return self
        if by < 0:
            back = np.uint64(-by)
            return Ranges(self.starts - back, self.ends - back)
        return Ranges(self.starts + np.uint64(by), self.ends + np.uint64(by))

    def unite(self, other: Ranges) -> Ranges:
        """The positions of either."""
        if not len(self.starts) or not len(other.starts):
            return self if len(self.starts) else other
        return Ranges(*_kernels.unite_ranges(*self.arrays, *other.arrays))

    def intersect(self, other: Ranges) -> Ranges:
        """The positions of both."""
        if not len(self.starts) or not len(other.starts):
            return _NONE
        # One range that holds all of the other's is common, and then nothing need be looked at.
        if other is self or other is self.part_of or other._holds(self):
            return self
        if self is other.part_of or self._holds(other):
            return other
        return Ranges(*_kernels.intersect_ranges(*self.arrays, *other.arrays))

    def subtract(self, other: Ranges) -> Ranges:
        """The positions that `other` has not."""
        if not len(self.starts) or not len(other.starts):
            return self
        if other is self or other._holds(self):
            return _NONE
        return Ranges(*_kernels.subtract_ranges(*self.arrays, *other.arrays))

    def outside(self, end: int) -> Ranges:
        """The positions below `end` that are not these."""
        return Ranges.one(0, end).subtract(self)

    def positions(self) -> U64:
        """Each position."""
        if self.count == len(self.starts):
            return self.starts
        return _kernels.positions_of_ranges(*self.arrays)

    def _holds(self, other: Ranges) -> bool:
        """Whether this is one range, with all positions of the other in it."""
        return bool(len(self.starts) == 1 and self.starts[0] <= other.starts[0] and self.ends[0] >= other.ends[-1])

    @property
    def arrays(self) -> tuple[U64, U64]:
        """Both arrays as kernels want them: slices with a step are not."""
        return np.ascontiguousarray(self.starts), np.ascontiguousarray(self.ends)

    def selected(self, mask: npt.NDArray[np.bool_]) -> Ranges:
        """Those of the positions for which the mask is true."""
        return self.chosen(np.packbits(mask, bitorder="little"))

    def chosen(self, bitmap: npt.NDArray[np.uint8]) -> Ranges:
        """Those of the positions whose bit is set, lowest first: bit i belongs to the i-th position."""
        return Ranges(*_kernels.select_ranges(*self.arrays, bitmap))

    def times(self, factor: int) -> Ranges:
        """Each position as `factor` positions."""
        return Ranges.joined(self.starts * np.uint64(factor), self.ends * np.uint64(factor))

    def parts(self, most: int) -> list[Ranges]:
        """The same positions, in their order, cut so that no part has more than `most`."""
        return list(self.each_part(most))

    def each_part(self, most: int) -> Iterator[Ranges]:
        """As `parts`, one by one: there may be more of them than a list can hold."""
        done, total = 0, self.count
        if total <= most:
            yield self
            return
        before = np.concatenate(([np.uint64(0)], np.cumsum(self.ends - self.starts)))
        while done < total:
            stop = min(done + most, total)
            first = int(np.searchsorted(before, np.uint64(done), "right")) - 1
            last = int(np.searchsorted(before, np.uint64(stop), "left"))
            starts, ends = self.starts[first:last].copy(), self.ends[first:last].copy()
            starts[0] += np.uint64(done) - before[first]
            ends[-1] -= before[last] - np.uint64(stop)
            yield Ranges(starts, ends)
            done = stop


_NONE = Ranges(np.empty(0, np.uint64), np.empty(0, np.uint64))
