"""Encoding values as codes of a dictionary, and the decision whether that pays."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.binary.choice import BytesBlock, BytesChoice, choose_bytes, lookup_price
from amudai.encoding.block_ends import BlockEnds
from amudai.encoding.bytes import block_rows
from amudai.encoding.memory import COLUMN_MEMORY, ColumnMemory
from amudai.encoding.numbers import NumberEncoder
from amudai.encoding.prepared import PreparedBuffer
from amudai.encoding.profile import Profile
from amudai.encoding.slots import Slots, gathered
from amudai.format import BufferKind, encode_dictionary
from amudai.storage import Spool
from amudai.types import SchemaNode

__all__ = ["DictionaryEncoder"]

# Positions before the first decision: fewer say little about the rest.
_FIRST_LOOK: Final = 65_536
# The dictionary is given up if its estimate is worse than blocks by the first factor. At the end it must be better than
# blocks by the second.
_HOPELESS: Final = 1.5
_WORTH_IT: Final = 0.9
# Bytes of memory of an entry, without its value.
_ENTRY: Final = 100
_SAMPLE: Final = 4096
# The first positions from which the number of entries at the first decision is estimated: up to this many.
_GLIMPSE: Final = 16_384


class DictionaryEncoder:
    """Encodes values as codes of distinct values. The caller checks from time to time whether that still pays."""

    def __init__(
        self,
        fixed_size: int | None,
        profile: Profile,
        spool: Spool,
        memory: ColumnMemory = COLUMN_MEMORY,
        ends: BlockEnds | None = None,
    ) -> None:
        self._fixed = fixed_size
        self._profile = profile
        self._spool = spool
        self._dictionary = _kernels.Dictionary(fixed_size)
        self._buffer = PreparedBuffer(BufferKind.DATA)
        self._codes = NumberEncoder("u4", profile, spool, self._buffer, memory, ends)
        self._memory = memory
        self._count = 0
        # The cost of a slot in blocks without a dictionary, and its cost here besides its bytes.
        self._native: float | None = None
        self._lookup = 0.0
        # The choice for blocks of the first slots, and the number of these slots.
        self.measured: tuple[int, BytesChoice] | None = None

    @property
    def size(self) -> int:
        """The number of entries, including the null entry."""
        return int(self._dictionary.size)

    def is_hopeless(self, slots: Slots) -> bool:
        """Whether the first values already show that the first decision will be against a dictionary."""
        if slots.count < _SAMPLE:
            return False
        first = slots.part(0, min(slots.count, _GLIMPSE))
        size = slots.count * (self._fixed or 0) if first.offsets is None else len(first.content)
        if size > self._memory.entries:
            return False
        mask = None if first.valid is None else np.packbits(first.valid, bitorder="little")
        glimpse = _kernels.Dictionary(self._fixed)
        glimpse.encode(first.offsets, first.data, mask, 0, first.count)
        if glimpse.size == 1:
            return False
        self._measure(first)
        entries = _expected(glimpse.counts(), _FIRST_LOOK)
        stored = (glimpse.value_bytes / glimpse.size + 12) * entries
        stored += _FIRST_LOOK * (entries.bit_length() / 8 + self._lookup)
        return stored >= _HOPELESS * (self._native or 0.0) * _FIRST_LOOK

    def entries(self) -> tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.uint8], npt.NDArray[np.uint64], int | None]:
        """The distinct values (offsets and bytes), how often each occurred, and which entry stands for null."""
        offsets, data = self._dictionary.values()
        ends = None if self._fixed is not None else offsets.view(np.int64)
        return ends, data, self._dictionary.counts(), self._dictionary.null_code

    def append(self, slots: Slots) -> int:
        """Append slots, as many as the memory allows; return how many."""
        is_first = self._count == 0
        for start, end in slots.cuts(_FIRST_LOOK, self._memory.entries):
            if start and not self.pays():
                return start
            self._codes.append(slots.codes(self._dictionary, start, end))
            self._count += end - start
            if self._native is None and self.size > 1:
                self._measure(slots.part(0, min(slots.count, _SAMPLE)))
                self.measured = self.measured if is_first else None
        return slots.count

    def _measure(self, first: BytesBlock) -> None:
        """Measure the cost of a block of these slots without a dictionary."""
        block = first.head(min(first.count, _SAMPLE))
        block = block.head(min(block.count, block_rows(block, 0, self._profile)))
        rows, offsets = block.count, block.offsets
        if offsets is not None:
            block = BytesBlock(offsets.astype(np.int64, copy=False), block.data, rows, block.valid)
        # An estimate is enough: the slow level takes too long for it.
        found = choose_bytes(block, replace(self._profile, slow_level=0) if self._profile.slow_level else self._profile)
        if self._profile.slow_level == 0:
            self.measured = rows, found
        raw = len(block.content) / rows + (8 if offsets is not None else 0)
        self._native = min(found.cost, raw)
        self._lookup = lookup_price(block, self._profile)

    def pays(self, final: bool = False) -> bool:
        """Whether the dictionary costs less than blocks of values would."""
        entries = self.size
        if not final and self._dictionary.value_bytes + _ENTRY * entries > self._memory.entries:
            return False
        if entries == 1:
            return True
        stored = float(self._dictionary.value_bytes + 12 * entries)
        stored += self._code_bytes() + self._count * self._lookup
        native = (self._native or 0.0) * self._count
        if final:
            return stored < _WORTH_IT * native
        return self._count < _FIRST_LOOK or stored < _HOPELESS * native

    def _code_bytes(self) -> float:
        """The bytes of all codes. Those that are not written yet are expected to take as many as those before them."""
        written, size = self._codes.written
        bits = max(1, self.size.bit_length())
        return size + (self._count - written) * min(bits / 8, size / written if written else bits)

    def finish(self, node: SchemaNode) -> tuple[PreparedBuffer, PreparedBuffer]:
        """The codes and the dictionary."""
        offsets, data = self._dictionary.values()
        whole = encode_dictionary(
            node,
            value_count=self.size,
            data=data.data,
            offsets=None if self._fixed is not None else offsets,
            null_id=self._dictionary.null_code,
            sorted_ids=self._dictionary.sorted_ids(),
        )
        return self._codes.finish(), PreparedBuffer(BufferKind.VALUE_DICTIONARY, whole=whole)

    def replay(self) -> Iterator[BytesBlock]:
        """The values of all slots so far. No slots may be appended afterwards."""
        offsets, data = self._dictionary.values()
        null = self._dictionary.null_code
        ends = None if self._fixed is not None else offsets
        for codes in self._codes.replay():
            valid = None if null is None else codes != null
            yield BytesBlock(*gathered(codes, ends, data, self._fixed), len(codes), valid)


def _expected(counts: npt.NDArray[np.uint64], later: int) -> int:
    """The expected distinct values among `later` positions, given how often each of those so far occurred.

    This is Chao's estimate: how many values were seen once and twice tells how many were not seen yet. If those are not
    equally likely there are more, so the estimate favours the dictionary.

    >>> _expected(np.array([1, 1, 1, 5], np.uint64), 80), _expected(np.array([4, 4], np.uint64), 80)
    (7, 2)
    """
    distinct, seen = len(counts), int(counts.sum())
    once, twice = int(np.count_nonzero(counts == 1)), int(np.count_nonzero(counts == 2))
    unseen = once * once / (2 * twice) if twice else once * (once - 1) / 2
    if unseen == 0 or seen >= later:
        return distinct
    share = once / (seen * unseen + once)  # of each of them among the positions
    return min(later, round(distinct - unseen * math.expm1((later - seen) * math.log1p(-share))))
