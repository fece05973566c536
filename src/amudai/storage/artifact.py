"""One file of a shard, read in few requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from amudai.errors import AmudaiError, CorruptedData, InvalidArgument, StorageError, located
from amudai.storage.contract import MERGE_GAP, Store

__all__ = ["MAX_READ", "Artifact", "FetchedRanges"]

# Reads are not merged past this size: several reads can run in parallel, and two ranges do not hold a whole file.
MAX_READ: Final = 8 * 1024 * 1024

Offsets = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class FetchedRanges:
    """Ranges that were read: range `i` begins at `starts[i]` of `buffers[which[i]]`."""

    buffers: list[memoryview]
    which: NDArray[np.uint32]
    starts: Offsets


class Artifact:
    """One file of a shard, opened for reading.

    A range outside the file raises `CorruptedData`: ranges come from the shard, and valid ones lie inside the file.

    Parameters
    ----------
    tail
        The last bytes of the file if they were read already, and where they start. Ranges inside need no request.
    tag
        What tells the file from another that takes its place: then `ReplacedFile` is raised by the next read.
    """

    __slots__ = ("_ahead", "_mappable", "_pieces", "_tail", "_tail_end", "_tail_start", "size", "store", "tag", "url")

    def __init__(
        self,
        store: Store,
        url: str,
        size: int,
        tail: tuple[int, memoryview] | None = None,
        tag: str | None = None,
    ) -> None:
        self.url = url
        self.size = size
        self.store = store
        self.tag = tag
        self._mappable = store.capabilities.mappable
        self._ahead = store.capabilities.read_ahead
        self._pieces: dict[int, memoryview] = {}  # that were read ahead, by number: `_ahead` bytes each
        # Without a tail no range starts at or after `_tail_start`, not even an empty one.
        self._tail_start, self._tail = tail if tail is not None else (size + 1, _NOTHING)
        self._tail_end = self._tail_start + len(self._tail)

    @classmethod
    def open(cls, store: Store, url: str, tail: int = 0) -> Self:
        """Open a file: get its size and read its last `tail` bytes, or all bytes of a smaller file."""
        if not tail:
            file = store.identify(url)
            return cls(store, url, file.size, tag=file.tag)
        file, found = store.read_tail(url, tail)
        return cls(store, url, file.size, (file.size - len(found), found) if found else None, file.tag)

    def __repr__(self) -> str:
        return f"Artifact({self.url!r}, {self.size} bytes)"

    def require(self, start: int, end: int) -> None:
        """Raise `CorruptedData` if a range lies outside the file."""
        if not 0 <= start <= end <= self.size:
            raise self._outside(start, end)

    def read(self, start: int, end: int) -> memoryview:
        """The bytes of one half-open range."""
        if not 0 <= start <= end <= self.size:
            raise self._outside(start, end)
        if self._tail_start <= start and end <= self._tail_end:
            return self._tail[start - self._tail_start : end - self._tail_start]
        if start == end:
            return _NOTHING
        try:
            if end - start < self._ahead:
                return self._near(start, end)
            return self.store.read_range(self.url, start, end, self.tag)
        except AmudaiError as error:
            error.locate(url=self.url, range=f"{start}..{end}")
            raise

    def confirm(self) -> None:
        """Raise `ReplacedFile` if bytes that were read before may have changed: they may be views of a mapped file."""
        if self._mappable and self.tag is not None:
            self.store.confirm(self.url, self.tag)

    def read_many(self, starts: Offsets, ends: Offsets, *, anew: bool = False) -> FetchedRanges:
        """Read many half-open ranges in few requests. Ranges in the order of the file are cheapest.

        Ranges up to `StoreCapabilities.merge_gap` bytes apart are read together, up to `MAX_READ` bytes at once. Only a
        single range, or ranges that overlap, can be larger. No byte is read twice. A mapped file is one buffer, and
        nothing is read. With `anew`, the store is asked for all ranges, even for those that were read before.
        """
        starts, ends = np.asarray(starts, np.uint64), np.asarray(ends, np.uint64)
        if starts.shape != ends.shape or starts.ndim != 1:
            raise InvalidArgument(f"ranges: expected as many starts as ends, found {starts.shape} and {ends.shape}")
        if len(starts) == 1 and not anew:
            return self._one(int(starts[0]), int(ends[0]))
        outside = (ends < starts) | (ends > np.uint64(self.size))
        if outside.any():
            first = int(outside.argmax())
            raise self._outside(int(starts[first]), int(ends[first]))

        known = (starts >= np.uint64(self._tail_start)) & (ends <= np.uint64(self._tail_end))
        if anew:
            known[:] = False
        wanted = (starts < ends) & ~known
        which, begins = np.zeros(len(starts), np.uint32), np.zeros(len(starts), np.uint64)
        buffers: list[memoryview] = []
        if wanted.any():
            everything = bool(wanted.all())
            asked = (starts, ends) if everything else (starts[wanted], ends[wanted])
            heads, lasts, member = merge(*asked, gap=self.store.capabilities.merge_gap)
            with located(url=self.url, range=f"{heads[0]}..{lasts[-1]}"):
                if self._mappable:
                    size = int(np.add.reduce(lasts - heads))
                    whole = self.store.mapped(self.url, len(heads), size, self.tag)
                    return FetchedRanges([self._as_large(whole)], which, starts)
                ranges = list(zip(heads.tolist(), lasts.tolist(), strict=True))
                buffers = list(self.store.read_ranges(self.url, ranges, self.tag))
            if everything:
                return FetchedRanges(buffers, member, starts - heads[member])
            which[wanted], begins[wanted] = member, asked[0] - heads[member]
        if known.any() or not buffers:
            which[known], begins[known] = len(buffers), starts[known] - np.uint64(self._tail_start)
            buffers.append(self._tail)
        return FetchedRanges(buffers, which, begins)

    def _near(self, start: int, end: int) -> memoryview:
        """The bytes of a small range, from pieces that are kept for the next one."""
        step = self._ahead
        first, last = start // step, (end - 1) // step
        found = [self._pieces.get(number) for number in range(first, last + 1)]
        # Without a tag, pieces that were read at different times may be of different files.
        if None in found or (self.tag is None and first < last):
            begin = first * step
            whole = self.store.read_range(self.url, begin, min(self.size, (last + 1) * step), self.tag)
            for number in range(first, last + 1):
                self._pieces[number] = whole[number * step - begin : (number + 1) * step - begin]
            while len(self._pieces) > _MOST_PIECES:
                self._pieces.pop(next(iter(self._pieces)), None)
            return whole[start - begin : end - begin]
        parts = [piece for piece in found if piece is not None]
        whole = parts[0] if len(parts) == 1 else memoryview(b"".join(parts))
        return whole[start - first * step : end - first * step]

    def _one(self, start: int, end: int) -> FetchedRanges:
        return FetchedRanges([self.read(start, end)], np.zeros(1, np.uint32), np.zeros(1, np.uint64))

    def _as_large(self, whole: memoryview) -> memoryview:
        if len(whole) != self.size:
            raise StorageError(f"expected a file of {self.size} bytes, found {len(whole)}: it was replaced")
        return whole

    def _outside(self, start: int, end: int) -> CorruptedData:
        message = f"range: expected start <= end <= {self.size}, found {start}..{end}"
        return CorruptedData(message, url=self.url, range=f"{start}..{end}")


def merge(starts: Offsets, ends: Offsets, gap: int = MERGE_GAP) -> tuple[Offsets, Offsets, NDArray[np.uint32]]:
    """The starts and ends of the reads that cover these ranges, and the read of each range. No range is empty.

    Ranges up to `gap` bytes apart are read as one.
    """
    order = None
    if (starts[1:] < starts[:-1]).any():
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], ends[order]
    reach = np.maximum.accumulate(ends)  # the largest end so far: ranges may overlap
    # np.uint64 around constants: numpy 1 turns the sum of an unsigned and a Python integer into a float.
    first = np.flatnonzero(starts[1:] > reach[:-1] + np.uint64(gap)) + 1
    first = np.concatenate(([0], first))
    final = np.append(first[1:], len(starts)) - 1
    if (reach[final] - starts[first] > np.uint64(MAX_READ)).any():
        first = _split(starts, reach, first, final)
        final = np.append(first[1:], len(starts)) - 1
    member = np.repeat(np.arange(len(first), dtype=np.uint32), final - first + 1)
    if order is not None:
        shuffled = np.empty_like(member)
        shuffled[order] = member
        member = shuffled
    return starts[first], reach[final], member


def _split(starts: Offsets, reach: Offsets, first: NDArray[np.intp], final: NDArray[np.intp]) -> NDArray[np.intp]:
    """The first range of each read, after splitting reads longer than `MAX_READ` between ranges."""
    borders = np.flatnonzero(starts[1:] >= reach[:-1]) + 1
    heads: list[int] = []
    for low, high in zip(first.tolist(), final.tolist(), strict=True):
        if reach[high] - starts[low] <= np.uint64(MAX_READ):
            heads.append(low)
            continue
        inside = borders[np.searchsorted(borders, low, "right") : np.searchsorted(borders, high, "right")]
        marks = np.concatenate(([low], inside))
        stops = reach[np.append(inside, high + 1) - 1]
        at = 0
        while at < len(marks):
            heads.append(int(marks[at]))
            fitting = int(np.searchsorted(stops, starts[marks[at]] + np.uint64(MAX_READ), "right"))
            at = max(at + 1, fitting)
    return np.array(heads, np.intp)


_NOTHING = memoryview(b"")
_MOST_PIECES: Final = 16
