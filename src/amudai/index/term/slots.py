"""The map from the slots of a field to the rows of the shard.

A slot is the place of a value in its field. If there are lists above the field, their offsets say which list holds the
slot, level by level up to the row. Slots are numbered through all stripes of the shard.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai.column import ColumnSource
from amudai.encoding import BlockBuffer, decode_few, decode_numbers
from amudai.errors import CorruptedData, UnsupportedFeature, located
from amudai.lazy import lazy
from amudai.rows import Rows
from amudai.shard import ShardReader, StripeReader
from amudai.types import BasicType, NodePath

__all__ = ["SlotMap"]

U64 = npt.NDArray[np.uint64]

# Offsets of up to this many bytes are read in one go: a binary search would take longer.
_SMALL: Final = 64 * 1024


class SlotMap:
    """The slots of one field. It reads only the offsets of lists, and only those that a question needs."""

    def __init__(self, shard: ShardReader, path: NodePath) -> None:
        self._shard = shard
        self._path = path

    @lazy
    def _ends(self) -> U64:
        """The number of the slot at which each stripe ends."""
        counts = [self._count(stripe) for stripe in self._shard.stripes]
        return np.cumsum(np.array(counts, np.uint64), dtype=np.uint64)

    def before(self, stripe: int) -> int:
        """How many slots the stripes before `stripe` have."""
        if stripe < 0:
            raise UnsupportedFeature("slots of a moved index: expected those of stripes before it, found them gone")
        return int(self._ends[stripe - 1]) if stripe else 0

    @property
    def count(self) -> int:
        """How many slots the field has in the shard."""
        return self.before(len(self._shard.stripes))

    def rows(self, slots: Rows) -> Rows:
        """The rows of the shard that hold these slots."""
        found = []
        for stripe in self._shard.stripes:
            before = self.before(stripe.ordinal)
            mine = slots.clip(before, self.before(stripe.ordinal + 1)).shifted(-before)
            if mine:
                with located(url=self._shard.url, stripe=stripe.ordinal):
                    found.append(self._rows(stripe, mine).counted_from(stripe.origin).outward())
        return Rows.united(found, self._shard.origin)

    def _columns(self, stripe: StripeReader) -> list[ColumnSource]:
        """The columns of the path, from the top-level column down."""
        stripe.prepare(self._path)
        columns = [stripe.column(self._path[0])]
        for node in self._path[1:]:
            columns.append(columns[-1].child_of(node))
        return columns

    def _count(self, stripe: StripeReader) -> int:
        count = stripe.num_positions
        for column, below in pairwise(self._columns(stripe)):
            match column.node.basic_type:
                case BasicType.FIXED_SIZE_LIST:
                    count *= column.node.fixed_size
                case BasicType.LIST | BasicType.MAP:
                    if column.is_absent:
                        return 0  # all lists are null
                    if not below.is_absent:
                        count = below.position_count
                    else:
                        end = column.position_count
                        count = int(decode_few(_offsets(column), end, end + 1, "u8")[0])
        return count

    def _rows(self, stripe: StripeReader, slots: Rows) -> Rows:
        for column in reversed(self._columns(stripe)[:-1]):
            match column.node.basic_type:
                case BasicType.FIXED_SIZE_LIST:
                    size = np.uint64(column.node.fixed_size)
                    slots = _united(slots.starts // size, (slots.ends - np.uint64(1)) // size + np.uint64(1))
                case BasicType.LIST | BasicType.MAP:
                    slots = _owners(column, slots)
        return slots


def _offsets(column: ColumnSource) -> BlockBuffer:
    found = column.offsets()
    if found is None:
        raise CorruptedData("lists: expected offsets, found none", field=column.path)
    return found


def _owners(column: ColumnSource, items: Rows) -> Rows:
    """The lists that hold these items."""
    with located(field=column.path):
        found = []
        before = np.concatenate((np.zeros(1, np.uint64), np.cumsum(items.ends - items.starts)))
        for first, fences in _fences(_offsets(column), items):
            if (fences[1:] < fences[:-1]).any():
                raise CorruptedData("list offsets: expected an ascending sequence")
            # `count` is how many items are before each fence. A list holds items if `count` is larger at its end.
            behind = np.searchsorted(items.starts, fences, "left")
            count = before[behind]
            inside = behind > 0
            ends = items.ends[behind[inside] - 1]
            count[inside] -= np.maximum(ends, fences[inside]) - fences[inside]
            found.append(Rows.of_mask(count[1:] > count[:-1], first))
        owners = Rows.united(found)
        if not owners:
            raise CorruptedData(f"list offsets: expected lists that hold items {items.starts[0]}..{items.end}")
        return owners


def _fences(offsets: BlockBuffer, items: Rows) -> Iterator[tuple[int, U64]]:
    """The offsets (fences) of the lists that may hold the items, in parts: number of the first list, and fences."""
    values = offsets.block_map.values
    last = offsets.block_map.block_count
    if offsets.size <= _SMALL or 4 * items.num_ranges >= last:
        yield 0, decode_numbers(offsets, Rows.one(0, int(values[-1])), "u8", nullable=False).numbers("u8")
        return
    # A binary search over blocks by the first fence of each. Blocks low..high hold the lists of the items `mine`.
    waiting = [(0, last, items, _NO_FENCES)]
    while waiting:
        low, high, mine, end = waiting.pop()
        if not mine:
            continue
        if high - low > 1:
            middle = (low + high) // 2
            fence = decode_few(offsets, int(values[middle]), int(values[middle]) + 1, "u8")
            cut = int(fence[0])
            waiting.append((middle, high, mine.clip(cut, max(cut, mine.end)), end))
            waiting.append((low, middle, mine.clip(0, cut), fence))
        else:
            first, stop = int(values[low]), int(values[high])
            fences = decode_numbers(offsets, Rows.one(first, stop), "u8", nullable=False).numbers("u8")
            yield first, np.concatenate((fences, end))


def _united(starts: U64, ends: U64) -> Rows:
    """The union of ranges that may overlap. Both `starts` and `ends` ascend."""
    apart = starts[1:] > ends[:-1]
    return Rows(starts[np.concatenate(([True], apart))], ends[np.concatenate((apart, [True]))])


_NO_FENCES: Final = np.empty(0, np.uint64)
