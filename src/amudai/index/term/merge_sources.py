"""The sources of a merge of term indexes: each gives the terms and lists of one index, some at a time.

Lists have the numbers of the new shard. A list stays a list: each belongs to one stripe, and stripes of different
shards stay different stripes. Blocks of long lists hold a first row and differences, so they are copied with another
first row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.edit import IndexPart
from amudai.encoding import BlockBuffer
from amudai.errors import CorruptedData, UnsupportedFeature, located
from amudai.index.term.artifact_columns import U64
from amudai.index.term.positions_writer import LEAST_LONG, SpooledBlocks
from amudai.index.term.reader import TermReader, open_term_index
from amudai.index.term.tree import Leaves, PositionLists
from amudai.rows import Rows
from amudai.storage import Spool

__all__ = ["FedMerge", "IndexSource"]

U32 = npt.NDArray[np.uint32]
Number = TypeVar("Number", np.uint8, np.uint16, np.uint32, np.uint64)

_MAX_STRIPE: Final = 0xFFFF
# Memory of a source, from which follow the leaves and the integers of lists that it reads at a time.
_LEAST_MEMORY: Final = 64 * 1024
_MOST_MEMORY: Final = 2 * 1024 * 1024  # what is read at a time should fit into the cache of a processor
_LEAF_MEMORY: Final = 128 * 1024
_INTEGER_MEMORY: Final = 16
_COPIED_BYTES: Final = 8 * 1024 * 1024  # bytes of blocks that are copied at a time
_NOTHING: Final = np.empty(0, np.uint64)


class TermBatch(NamedTuple):
    """Some terms of an index and their lists, as `TermListMerge.feed` takes them."""

    offsets: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]
    bounds: U64 | None
    stripes: npt.NDArray[np.uint16]
    fields: U32
    forms: npt.NDArray[np.uint8]
    shifts: U64
    counts: U64
    long_lists: U64
    copied: U64
    tickets: U64
    integers: U64

    def with_integers(self, integers: U64) -> TermBatch:
        """The same terms with these integers."""
        return TermBatch(*self[:-1], integers)

    def part(self, entry: int, last: int, low: int, high: int) -> TermBatch:
        """Terms `entry .. last`, which have the lists `low .. high`."""
        lists = slice(low, high)
        first, behind = np.searchsorted(self.long_lists, np.array([low, high], np.uint64)).tolist()
        return TermBatch(
            self.offsets[entry : last + 1],
            self.data,
            None if self.bounds is None else self.bounds[entry : last + 1] - np.uint64(low),
            _part(self.stripes, lists),
            _part(self.fields, lists),
            _part(self.forms, lists),
            _part(self.shifts, lists),
            self.counts[lists],
            self.long_lists[first:behind] - np.uint64(low),
            self.copied[first:behind],
            self.tickets[first:behind],
            self.integers,
        )


class FedMerge:
    """A merge that asks its sources for more terms when it needs them."""

    def __init__(self, sources: Sequence[IndexSource]) -> None:
        self._merge = _kernels.TermListMerge(len(sources))
        self._sources = [source.batches() for source in sources]

    @property
    def done(self) -> bool:
        """Whether nothing is left to merge."""
        self._feed()
        return self._merge.done

    def next(self, terms: int, integers: int) -> _kernels.TermSlice:
        """The next slice. It begins at most `terms` terms, and ends soon after it has `integers` integers."""
        self._feed()
        return self._merge.next(terms, integers)

    def _feed(self) -> None:
        while hungry := self._merge.hungry:
            for source in hungry:
                batch = next(self._sources[source], None)
                if batch is None:
                    self._merge.end(source)
                elif isinstance(batch, TermBatch):
                    self._merge.feed(source, *batch)
                else:
                    self._merge.feed_integers(source, batch)


class IndexSource:
    """The terms and lists of one index.

    Parameters
    ----------
    shifts
        What is added to the positions of each field, by its new schema id.
    spool, blocks
        Where blocks are copied to, and the list of these blocks.
    memory
        Bytes that the source may use for what it reads at a time.
    """

    def __init__(
        self, part: IndexPart, shifts: Mapping[int, int], spool: Spool, blocks: SpooledBlocks, memory: int
    ) -> None:
        self._part = part
        self._spool = spool
        self._blocks = blocks
        memory = max(_LEAST_MEMORY, min(memory, _MOST_MEMORY))
        self._leaves = max(1, memory // _LEAF_MEMORY)
        self._at_once = memory // _INTEGER_MEMORY
        stored = sorted(part.ids)
        self._stored = np.array(stored, np.uint32)
        self._ids = np.array([part.ids[each] for each in stored], np.uint32)
        self._shifts = np.array([shifts[part.ids[each]] for each in stored], np.uint64)

    def batches(self) -> Iterator[TermBatch | U64]:
        """All terms in order. If the lists of a term have too many integers, these follow, list by list."""
        part = self._part
        with located(url=part.shard.url, index=part.descriptor.index_type):
            reader = open_term_index(part.descriptor, part.shard, part.anchor)
            for leaves in reader.tree.all(self._leaves):
                yield from self._of(reader, leaves)

    def _of(self, reader: TermReader, leaves: Leaves) -> Iterator[TermBatch | U64]:
        bounds, stripes, lists = reader.tree.all_lists(leaves)
        if not len(lists.ends) or (bounds[1:] <= bounds[:-1]).any():
            raise CorruptedData("terms: expected position lists for each, found one without any")
        first_stripe = self._part.first_stripe
        if int(stripes.max()) + first_stripe > _MAX_STRIPE:
            raise UnsupportedFeature(f"term index: expected at most {_MAX_STRIPE + 1} stripes, found more")
        ids, shifts = self._numbers(lists.fields)
        counts = lists.ends - lists.starts
        long_lists, copied, tickets = self._copied(reader.blocks, lists, counts, shifts)
        starts = lists.starts.copy()
        starts[long_lists.astype(np.int64)] += copied
        terms = leaves.terms
        batch = TermBatch(
            terms.offsets,
            terms.data,
            None if len(counts) == len(terms) else bounds,
            _same(stripes + np.uint16(first_stripe)),
            ids,
            _same(lists.forms),
            shifts,
            counts,
            long_lists,
            copied,
            tickets,
            _NOTHING,
        )
        # How many integers that are not copied there are up to the end of each entry.
        read = np.cumsum(lists.ends - starts)[bounds[1:].astype(np.int64) - 1]
        entry = done = 0
        while entry < len(terms):
            last = max(entry + 1, int(np.searchsorted(read, np.uint64(done + self._at_once), "right")))
            low, high = int(bounds[entry]), int(bounds[last])
            part = batch if last - entry == len(terms) else batch.part(entry, last, low, high)
            if int(read[last - 1]) - done > self._at_once:
                yield part
                yield from self._long(reader, starts[low:high], lists.ends[low:high])
            else:
                yield part.with_integers(reader.integers(Rows.joined(starts[low:high], lists.ends[low:high])))
            entry, done = last, int(read[last - 1])

    def _numbers(self, stored: U32) -> tuple[U32, U64]:
        """The new schema ids of lists that have these, and what is added to their positions: for each, or for all."""
        stored = _same(stored)
        places = np.searchsorted(self._stored, stored)
        if (places == len(self._stored)).any() or (self._stored[places] != stored).any():
            raise CorruptedData("field_schema_id: expected indexed fields, found others")
        return self._ids[places], self._shifts[places]

    def _long(self, reader: TermReader, starts: U64, ends: U64) -> Iterator[U64]:
        """The integers of a term that has more of them than may be read at a time."""
        most = max(self._at_once, LEAST_LONG)  # only long lists may be cut
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            for first in range(start, end, most):
                yield reader.integers(Rows.one(first, min(first + most, end)))

    def _copied(
        self, blocks: BlockBuffer | None, lists: PositionLists, counts: U64, shifts: U64
    ) -> tuple[U64, U64, U64]:
        """The lists of which blocks are copied, how many integers these hold, and the number of the first block."""
        # Short lists are read: they have no blocks of their own.
        chosen = np.flatnonzero(counts >= np.uint64(LEAST_LONG))
        if blocks is None or not len(chosen):
            return _NOTHING, _NOTHING, _NOTHING
        low, high = blocks.whole_blocks(lists.starts[chosen], lists.ends[chosen])
        held = (high - low).astype(np.int64)
        borders = np.concatenate(([0], np.cumsum(held)))  # where the blocks of each list begin among all of them
        if not borders[-1]:
            return _NOTHING, _NOTHING, _NOTHING
        ordinals = np.arange(borders[-1], dtype=np.uint64) + np.repeat(low - borders[:-1].astype(np.uint64), held)
        of_lists = np.broadcast_to(shifts, len(counts))[chosen]
        first, integers, moved = self._shifted(blocks, ordinals, np.repeat(of_lists, held))
        # A block that cannot be shifted is read, and so are the blocks behind it.
        fixed = np.concatenate(([0], np.cumsum(~moved)))
        is_kept = fixed[1:] == np.repeat(fixed[borders[:-1]], held)
        before = np.concatenate(([0], np.cumsum(np.where(is_kept, integers, 0))))
        copied = before[borders[1:]] - before[borders[:-1]]
        tickets = first + borders[:-1]
        found = copied > 0
        return chosen[found].astype(np.uint64), copied[found].astype(np.uint64), tickets[found].astype(np.uint64)

    def _shifted(
        self, blocks: BlockBuffer, ordinals: U64, shifts: U64
    ) -> tuple[int, npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Append blocks with other integers to the spool, some megabytes at a time.

        Returns the number of the first, the integers of each, and which were shifted.
        """
        ends = np.cumsum(blocks.block_sizes(ordinals))
        parts, low, first = [], 0, len(self._blocks)
        while low < len(ends):
            done = ends.item(low - 1) if low else 0
            high = max(low + 1, int(np.searchsorted(ends, np.uint64(done + _COPIED_BYTES), "right")))
            part = blocks.shifted_blocks(ordinals[low:high], shifts[low:high])
            self._blocks.add(self._spool.append(part.data), part.counts, part.sizes)
            parts.append(part)
            low = high
        counts = np.concatenate([part.counts for part in parts]).astype(np.int64)
        return first, counts, np.concatenate([part.moved for part in parts])


def _part(column: npt.NDArray[Number], lists: slice) -> npt.NDArray[Number]:
    """The numbers of some lists, of a column that `_same` made."""
    return column if len(column) == 1 else column[lists]


def _same(numbers: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """The numbers, or only one of them if all are the same."""
    return numbers[:1] if (numbers == numbers[0]).all() else numbers
