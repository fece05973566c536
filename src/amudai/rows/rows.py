"""A set of positions with its origin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.rows.origin import SLOTS, Origin

__all__ = ["Rows"]

U64 = npt.NDArray[np.uint64]
U8 = npt.NDArray[np.uint8]

_NOTHING: Final = np.empty(0, np.uint64)
_WORD: Final = 64
# A bitmap takes one bit a position, a range 128. A few ranges stay ranges: combining them is faster than a bitmap.
_BITS_PER_RANGE: Final = 128
_MANY_RANGES: Final = 1024
# If a set has at least one in this many positions of its hull, a bitmap over the hull is faster than single positions.
_DENSE_SHARE: Final = 32
# Gaps of at most this many positions, such as deleted rows leave, are not worth skipping.
_SHORT_GAP: Final = 16


class Rows:
    """Ascending positions, each once, counted from `origin`.

    They are held as half-open ranges that are not empty and do not touch, or as a bitmap if there would be many ranges.
    `starts` and `ends` give the ranges either way. Combining sets of different origins raises TypeError.

    Parameters
    ----------
    part_of
        A set that contains all of these positions, if one is known: `intersect` need not compare the two then. Parts,
        windows, chosen positions and what `subtract` leaves know their set.

    Examples
    --------
    >>> shard = Origin("shard", "a", 100)
    >>> rows = Rows.one(10, 20, shard).subtract(Rows.one(12, 15, shard))
    >>> rows.starts.tolist(), rows.ends.tolist(), rows.count
    ([10, 15], [12, 20], 7)
    >>> rows.intersect(Rows.one(0, 3))
    Traceback (most recent call last):
    TypeError: rows of shard a cannot be combined with rows of slots
    """

    __slots__ = ("_base", "_count", "_ends", "_starts", "_words", "origin", "part_of")

    def __init__(self, starts: U64, ends: U64, origin: Origin = SLOTS, part_of: Rows | None = None) -> None:
        self._starts: U64 | None = starts
        self._ends: U64 = ends
        self._words: U64 | None = None
        self._base = 0  # the position of the bitmap's first bit, a multiple of 64
        self._count = -1
        self.origin = origin
        self.part_of = part_of

    # ---- making sets ----

    @classmethod
    def none(cls, origin: Origin = SLOTS) -> Rows:
        """No position."""
        return cls(_NOTHING, _NOTHING, origin)

    @classmethod
    def one(cls, start: int, end: int, origin: Origin = SLOTS) -> Rows:
        """The positions `start..end`."""
        if start >= end:
            return cls(_NOTHING, _NOTHING, origin)
        return cls(np.array([start], np.uint64), np.array([end], np.uint64), origin)

    @classmethod
    def all(cls, origin: Origin) -> Rows:
        """Every position of `origin`."""
        return cls.one(0, origin.size, origin)

    @classmethod
    def extent(cls, part: Origin) -> Rows:
        """The positions that a part covers, counted from its parent."""
        assert part.parent is not None
        return cls.one(part.first, part.first + part.size, part.parent)

    @classmethod
    def joined(cls, starts: U64, ends: U64, origin: Origin = SLOTS) -> Rows:
        """The positions of ascending ranges, which may be empty or touch each other."""
        filled = starts < ends
        if not filled.all():
            starts, ends = starts[filled], ends[filled]
        if len(starts) > 1:
            apart = starts[1:] != ends[:-1]
            if not apart.all():
                starts = starts[np.concatenate(([True], apart))]
                ends = ends[np.concatenate((apart, [True]))]
        return cls(starts, ends, origin)

    @classmethod
    def of_positions(cls, positions: U64, origin: Origin = SLOTS) -> Rows:
        """The given positions, which ascend."""
        return cls(*_kernels.ranges_of_positions(np.ascontiguousarray(positions)), origin)

    @classmethod
    def of_bits(cls, bits: U8, start: int, count: int, origin: Origin = SLOTS) -> Rows:
        """The positions whose bit is set: bit `i` of the first `count` belongs to position `start + i`."""
        few = _kernels.few_ranges_of_bitmap(bits, count, start, cls.most_ranges(count))
        if few is not None:
            return cls(*few, origin)
        return cls._of_words(_kernels.align_bits(bits, count, start % _WORD), start - start % _WORD, origin)

    @staticmethod
    def most_ranges(span: int) -> int:
        """How many ranges among so many positions are still better held as ranges than as a bitmap."""
        return max(_MANY_RANGES, span // _BITS_PER_RANGE)

    @classmethod
    def of_mask(cls, mask: npt.NDArray[np.bool_], start: int = 0, origin: Origin = SLOTS) -> Rows:
        """The positions at which a mask is true; its first element belongs to position `start`."""
        return cls.of_bits(np.packbits(mask, bitorder="little"), start, len(mask), origin)

    @classmethod
    def united(cls, parts: Sequence[Rows], origin: Origin = SLOTS) -> Rows:
        """The positions of any of `parts`."""
        # Two by two, so that many small sets take no longer than a few large ones.
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=False)
            parts = [*(one.unite(other) for one, other in pairs), *parts[len(parts) & ~1 :]]
        return parts[0] if parts else cls.none(origin)

    @classmethod
    def concatenated(cls, parts: Sequence[Rows], origin: Origin = SLOTS) -> Rows:
        """The positions of `parts`. Each part begins after the end of the part before it."""
        filled = [part for part in parts if part]
        if len(filled) < 2:
            return filled[0] if filled else cls.none(origin)
        starts = np.concatenate([part.starts for part in filled])
        return cls.joined(starts, np.concatenate([part.ends for part in filled]), filled[0].origin)

    @classmethod
    def _of_words(cls, words: U64, base: int, origin: Origin, part_of: Rows | None = None) -> Rows:
        made = cls(_NOTHING, _NOTHING, origin, part_of)
        made._starts, made._words, made._base = None, words, base
        return made

    # ---- contents ----

    @property
    def starts(self) -> U64:
        """Where each range starts."""
        if self._starts is None:
            self._starts, self._ends = self._ranges()
        return self._starts

    @property
    def ends(self) -> U64:
        """Where each range ends."""
        if self._starts is None:
            self._starts, self._ends = self._ranges()
        return self._ends

    @property
    def arrays(self) -> tuple[U64, U64]:
        """`starts` and `ends`, contiguous as kernels need them."""
        return np.ascontiguousarray(self.starts), np.ascontiguousarray(self.ends)

    @property
    def is_bitmap(self) -> bool:
        """Whether the set is held as a bitmap."""
        return self._words is not None

    @property
    def num_ranges(self) -> int:
        """The number of ranges."""
        return len(self.starts)

    @property
    def count(self) -> int:
        """The number of positions."""
        if self._count < 0:
            if self._words is not None:
                self._count = _kernels.count_bits(self._words)
            elif len(self._ends) == 1:
                self._count = self._ends.item(0) - self.starts.item(0)
            elif not len(self._ends):
                self._count = 0
            else:
                # The difference is right even if the sums wrap around.
                self._count = (int(np.add.reduce(self._ends)) - int(np.add.reduce(self.starts))) % (1 << 64)
        return self._count

    def __bool__(self) -> bool:
        """Whether there is any position."""
        return len(self._ends) > 0 if self._words is None else self.count > 0

    @property
    def end(self) -> int:
        """The end of the last range; 0 if there is none."""
        ends = self.ends
        return int(ends[-1]) if len(ends) else 0

    @property
    def is_dense(self) -> bool:
        """Whether the positions are many and close together, so that asking about their hull is cheaper."""
        if self._words is not None:
            return self.count * _DENSE_SHARE >= _WORD * len(self._words)
        return len(self._ends) > 1 and int((self.starts[1:] - self._ends[:-1]).max()) <= _SHORT_GAP

    @property
    def hull(self) -> Rows:
        """The one range from the first position to the last."""
        if not self:
            return self
        if self._starts is not None or self._words is None:
            return Rows.one(self.starts.item(0), self.ends.item(-1), self.origin)
        filled = self._words != 0
        first, last = int(filled.argmax()), len(filled) - 1 - int(filled[::-1].argmax())
        lowest, highest = self._words.item(first), self._words.item(last)
        start = self._base + _WORD * first + (lowest & -lowest).bit_length() - 1
        return Rows.one(start, self._base + _WORD * last + highest.bit_length(), self.origin)

    def positions(self) -> U64:
        """Each position."""
        if self.count == self.num_ranges:
            return self.starts
        return _kernels.positions_of_ranges(*self.arrays)

    def bits(self, start: int, end: int) -> U8:
        """A bitmap of `start..end`: a bit is set for each position in the set. `start` is a multiple of 64.

        >>> Rows.one(65, 68).bits(64, 72).tolist()
        [14]
        """
        if start % _WORD:
            raise ValueError(f"start: expected a multiple of {_WORD}, found {start}")
        window = self.clip(start, end)
        words = window._window(start, -(-(end - start) // _WORD)) if window else np.zeros(0, np.uint64)
        bitmap = np.zeros((end - start + 7) // 8, np.uint8)
        found = words.view(np.uint8)[: len(bitmap)]
        bitmap[: len(found)] = found
        return bitmap

    def _ranges(self) -> tuple[U64, U64]:
        assert self._words is not None
        bits = self._words.view(np.uint8)
        return _kernels.ranges_of_bitmap(bits, 0, 8 * len(bits), self._base)

    # ---- counted from elsewhere ----

    def inward(self, part: Origin) -> Rows:
        """The positions that lie in `part`, counted from the first row of `part`."""
        if part.parent is not self.origin and part.parent != self.origin:
            raise TypeError(f"rows of {self.origin} cannot be looked for in {part}")
        start, end = part.first, part.first + part.size
        if start == 0 and self._words is None and self.end <= end:
            # Most shards have one stripe: the positions stay the same.
            return self._moved(self, 0, part)
        return self._moved(self.clip(start, end), -start, part)

    def outward(self) -> Rows:
        """The same rows, counted from the parent of their origin."""
        origin = self.origin
        if origin.parent is None:
            raise TypeError(f"rows of {origin}: not a part of anything")
        return self._moved(self, origin.first, origin.parent)

    def counted_from(self, origin: Origin) -> Rows:
        """The same numbers as positions of `origin`. For fields with one value a row, whose slots are rows."""
        return self._moved(self, 0, origin)

    def shifted(self, by: int) -> Rows:
        """The slots, each moved by `by`."""
        if self.origin is not SLOTS:
            raise TypeError(f"rows of {self.origin} cannot be shifted: use inward or outward")
        return self._moved(self, by, SLOTS)

    @staticmethod
    def _moved(rows: Rows, by: int, origin: Origin) -> Rows:
        if rows._words is not None and by % _WORD == 0:
            made = Rows._of_words(rows._words, rows._base + by, origin)
        else:
            starts, ends = rows.starts, rows.ends
            if by > 0:
                starts, ends = starts + np.uint64(by), ends + np.uint64(by)
            elif by < 0:
                starts, ends = starts - np.uint64(-by), ends - np.uint64(-by)
            made = Rows(starts, ends, origin)
        made._count = rows._count
        return made

    # ---- sets ----

    def unite(self, other: Rows) -> Rows:
        """The positions of either."""
        if self.origin is not other.origin:
            self._require_same(other)
        if not self:
            return other
        if not other:
            return self
        if self._words is None and other._words is None:
            return Rows(*_kernels.unite_ranges(*self.arrays, *other.arrays), self.origin)
        low = min(self._low, other._low)
        high = max(self._high, other._high)
        if high - low > _BITS_PER_RANGE * (self._weight + other._weight):
            return Rows(*_kernels.unite_ranges(*self.arrays, *other.arrays), self.origin)
        base = low - low % _WORD
        count = -(-(high - base) // _WORD)
        return Rows._of_words(self._window(base, count) | other._window(base, count), base, self.origin)

    def intersect(self, other: Rows) -> Rows:
        """The positions of both."""
        if other is self:
            return self
        if self.origin is not other.origin:
            self._require_same(other)
        if not self or not other:
            return Rows.none(self.origin)
        # One set is often a part of the other, or the other a single range: nothing to compare.
        if (self.part_of is not None and self._is_part_of(other)) or other._holds(self):
            return self
        if (other.part_of is not None and other._is_part_of(self)) or self._holds(other):
            return other
        if self._words is None and other._words is None:
            return Rows(*_kernels.intersect_ranges(*self.arrays, *other.arrays), self.origin)
        base, count = self._common(other)
        return Rows._of_words(self._window(base, count) & other._window(base, count), base, self.origin)

    def subtract(self, other: Rows) -> Rows:
        """The positions that are not in `other`."""
        if other is self:
            return Rows.none(self.origin)
        self._require_same(other)
        if not self or not other:
            return self
        if other._holds(self):
            return Rows.none(self.origin)
        # Not `self` if that is a part itself: sets from which much is subtracted in turn would all be kept.
        whole = self if self.part_of is None else self.part_of
        if self._words is None and (other._words is None or not _prefers_bits(self.num_ranges, self._span)):
            return Rows(*_kernels.subtract_ranges(*self.arrays, *other.arrays), self.origin, whole)
        if self._words is not None and other._words is None:
            words = _kernels.clear_ranges(self._words, self._base, *other.arrays)
            return Rows._of_words(words, self._base, self.origin, whole)
        base = self._low - self._low % _WORD
        count = -(-(self._high - base) // _WORD)
        return Rows._of_words(self._window(base, count) & ~other._window(base, count), base, self.origin, whole)

    def count_common(self, other: Rows) -> int:
        """How many positions are in both.

        >>> Rows.one(0, 10).count_common(Rows.one(8, 20))
        2
        """
        self._require_same(other)
        if self._words is None and other._words is None:
            return _kernels.count_common(*self.arrays, *other.arrays)
        bitmap, ranges = (other, self) if self._words is None else (self, other)
        if bitmap._words is None or ranges._words is not None:
            return self.intersect(other).count
        return _kernels.count_ranges(bitmap._words, bitmap._base, *ranges.arrays)

    def clip(self, start: int, end: int) -> Rows:
        """The positions in `start..end`."""
        if self._words is not None:
            return self.intersect(Rows.one(start, end, self.origin))
        if not self or (start <= self._low and self._high <= end):
            return self
        if start >= end:
            return Rows.none(self.origin)
        starts, ends = self.starts, self._ends
        if len(ends) == 1:
            return Rows.one(max(starts.item(0), start), min(ends.item(0), end), self.origin)
        low, high = np.uint64(start), np.uint64(end)
        first = int(np.searchsorted(ends, low, "right"))
        last = int(np.searchsorted(starts, high, "left"))
        return Rows(np.maximum(starts[first:last], low), np.minimum(ends[first:last], high), self.origin)

    def chosen(self, bits: U8) -> Rows:
        """The positions whose bit is set: bit `i` belongs to the `i`-th position of this set."""
        if self._words is None and len(self._ends) == 1:
            return Rows.of_bits(bits, self._low, self.count, self.origin)
        return Rows(*_kernels.select_ranges(*self.arrays, bits), self.origin, self)

    def selected(self, mask: npt.NDArray[np.bool_]) -> Rows:
        """The positions for which `mask`, with one element a position, is true."""
        return self.chosen(np.packbits(mask, bitorder="little"))

    def times(self, factor: int) -> Rows:
        """The slots of the items, `factor` items for each position."""
        return Rows.joined(self.starts * np.uint64(factor), self.ends * np.uint64(factor))

    def first(self, count: int) -> Rows:
        """The first `count` positions."""
        if self.count <= count:
            return self
        return next(self.each_part(count)) if count else Rows.none(self.origin)

    def parts(self, most: int) -> list[Rows]:
        """The same positions, in their order, in parts of at most `most` positions."""
        return list(self.each_part(most))

    def each_part(self, most: int) -> Iterator[Rows]:
        """Like `parts`, one at a time: there may be more parts than a list can hold."""
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
            part = Rows(starts, ends, self.origin, self)
            part._count = stop - done
            yield part
            done = stop

    def __repr__(self) -> str:
        return f"<Rows of {self.origin}: {self.count} in {self.num_ranges} ranges>"

    # ---- ranges and bitmaps ----

    def _require_same(self, other: Rows) -> None:
        if self.origin != other.origin:
            raise TypeError(f"rows of {self.origin} cannot be combined with rows of {other.origin}")

    def _is_part_of(self, other: Rows) -> bool:
        """Whether `other` is known to contain this set."""
        whole = self.part_of
        while whole is not None and whole is not other:
            whole = whole.part_of
        return whole is not None

    def _holds(self, other: Rows) -> bool:
        """Whether this set is a single range that contains `other`."""
        if self._words is not None or len(self._ends) != 1:
            return False
        return self.starts.item(0) <= other._low and self._ends.item(0) >= other._high

    @property
    def _low(self) -> int:
        """A lower bound of the positions."""
        return self._base if self._words is not None else self.starts.item(0)

    @property
    def _high(self) -> int:
        """An upper bound of the positions, exclusive."""
        return self._base + _WORD * len(self._words) if self._words is not None else self._ends.item(-1)

    @property
    def _span(self) -> int:
        return self._high - self._low

    @property
    def _weight(self) -> int:
        """The number of ranges; of a bitmap, an estimate."""
        return self.count if self._words is not None else len(self._ends)

    def _common(self, other: Rows) -> tuple[int, int]:
        """The bitmap words in which both sets may have positions: the position of the first word, and their number."""
        low, high = max(self._low, other._low), min(self._high, other._high)
        base = low - low % _WORD
        return base, max(0, -(-(high - base) // _WORD))

    def _window(self, base: int, count: int) -> U64:
        """The positions from `base` on, as a bitmap of `count` words."""
        if self._words is None:
            return _kernels.bits_of_ranges(*self.arrays, base, count)
        first = (base - self._base) // _WORD
        if first >= 0 and first + count <= len(self._words):
            return self._words[first : first + count]
        words = np.zeros(count, np.uint64)
        low, high = max(0, -first), min(count, len(self._words) - first)
        if low < high:
            words[low:high] = self._words[first + low : first + high]
        return words


def _prefers_bits(ranges: int, span: int) -> bool:
    return ranges > _MANY_RANGES and span < _BITS_PER_RANGE * ranges
