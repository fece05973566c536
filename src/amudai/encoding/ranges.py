"""Which positions are wanted?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

__all__ = ["Ranges"]

U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Ranges:
    """Positions as half-open ranges: ascending, none empty, none touching the next."""

    starts: U64
    ends: U64

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
        """From ascending positions without repetition."""
        return cls.joined(positions, positions + np.uint64(1))

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def count(self) -> int:
        """How many positions."""
        if len(self.starts) == 1:
            return int(self.ends[0]) - int(self.starts[0])
        return int((self.ends - self.starts).sum())

    @cached_property
    def end(self) -> int:
        """Where the last range ends; 0 where there is none."""
        return int(self.ends[-1]) if len(self.ends) else 0

    def within(self, start: int, end: int) -> Ranges:
        """Those of the positions that lie in `start..end`, counted from `start`."""
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

    def unite(self, other: Ranges) -> Ranges:
        """The positions of either."""
        if not len(self.starts) or not len(other.starts):
            return self if len(self.starts) else other
        return _covered(self, other, 1)

    def intersect(self, other: Ranges) -> Ranges:
        """The positions of both."""
        if not len(self.starts) or not len(other.starts):
            return _NONE
        return _covered(self, other, 2)

    def subtract(self, other: Ranges) -> Ranges:
        """The positions that `other` has not."""
        if not len(self.starts) or not len(other.starts):
            return self
        return self.intersect(other.outside(self.end))

    def outside(self, end: int) -> Ranges:
        """The positions below `end` that are not these."""
        starts = np.concatenate(([np.uint64(0)], self.ends))
        ends = np.concatenate((self.starts, [np.uint64(end)]))
        return Ranges.joined(starts, np.minimum(ends, np.uint64(end)))

    def positions(self) -> U64:
        """Each position."""
        sizes = self.ends - self.starts
        if (sizes == 1).all():
            return self.starts
        first = np.cumsum(sizes) - sizes
        return np.repeat(self.starts - first, sizes.astype(np.int64)) + np.arange(self.count, dtype=np.uint64)

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


def _covered(a: Ranges, b: Ranges, depth: int) -> Ranges:
    """The positions that at least `depth` of the two hold."""
    edges = np.concatenate((a.ends, b.ends, a.starts, b.starts))
    steps = np.repeat(np.array([-1, 1], np.int64), len(a) + len(b))
    order = np.argsort(edges, kind="stable")
    edges = edges[order]
    inside = np.cumsum(steps[order]) >= depth
    # Of the edges at one place only the last tells what follows.
    last = np.append(edges[1:] != edges[:-1], True)
    edges, inside = edges[last], inside[last]
    turns = np.flatnonzero(np.diff(inside, prepend=False))
    return Ranges(edges[turns[::2]], edges[turns[1::2]])


_NONE = Ranges(np.empty(0, np.uint64), np.empty(0, np.uint64))
