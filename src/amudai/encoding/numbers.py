"""Encoding a stream of numbers into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.block_ends import BlockEnds, NextEnd
from amudai.encoding.codec import encode_blocks
from amudai.encoding.decode import inflate
from amudai.encoding.memory import COLUMN_MEMORY, ColumnMemory
from amudai.encoding.numeric.choice import NumberChoice, NumberFacts, choose
from amudai.encoding.numeric.single_value import SINGLE_VALUE
from amudai.encoding.prepared import PreparedBuffer
from amudai.encoding.profile import Profile
from amudai.storage import Spool

__all__ = ["NumberEncoder"]

# The values of a flush, which share a plan.
FLUSH_VALUES: Final = 65_536
_CHUNK: Final = 1024
# A new plan is chosen after a flush that is larger than planned by this factor.
_DRIFT: Final = 1.15
_THINK_AGAIN: Final = 16  # flushes after which a new plan is chosen anyway

Bools = npt.NDArray[np.bool_]


class NumberEncoder:
    """Encodes numbers into blocks, one flush at a time. The choice of one flush is reused for the next.

    With `ends`, a flush is one block, and ends there. A number stands for `unit` positions.
    """

    def __init__(
        self,
        dtype: str,
        profile: Profile,
        spool: Spool,
        buffer: PreparedBuffer,
        memory: ColumnMemory = COLUMN_MEMORY,
        ends: BlockEnds | None = None,
        unit: int = 1,
    ) -> None:
        self._dtype = dtype
        self._profile = profile
        self._spool = spool
        self._buffer = buffer
        self._staged: list[tuple[npt.NDArray[Any], Bools | None]] = []
        self._count = 0
        self._choice: NumberChoice | None = None
        self._starts: list[int] = []
        # Whole chunks of bit packing: a chunk that is not full wastes space.
        self._ends = None if ends is None else NextEnd(ends, unit)
        self._flush_values = min(FLUSH_VALUES, max(1, memory.staged // int(dtype[1]) // _CHUNK) * _CHUNK)

    def append(self, values: npt.NDArray[Any], valid: Bools | None = None) -> None:
        """Append values. `valid` says which are not null."""
        self._staged.append((values, valid))
        self._count += len(values)
        while count := self._full():
            self._flush(count)
        if self._staged:
            # A copy, so that the caller's arrays can be freed.
            rest, mask = self._staged[-1]
            self._staged[-1] = rest.copy(), None if mask is None else mask.copy()

    def _full(self) -> int | None:
        """How many of the staged values make the next flush; None if it needs more."""
        if self._ends is not None:
            return self._ends.within(self._count)
        return self._flush_values if self._count >= self._flush_values else None

    def finish(self) -> PreparedBuffer:
        """Write the remaining values and return the buffer."""
        if self._count:
            self._flush(self._count)
        return self._buffer

    @property
    def written(self) -> tuple[int, int]:
        """How many values were written to blocks so far, and the bytes that they take."""
        return sum(int(each.sum()) for each in self._buffer.counts), sum(int(each.sum()) for each in self._buffer.sizes)

    def replay(self) -> Iterator[npt.NDArray[Any]]:
        """All values so far, none of them null, a flush at a time. Nothing may be appended afterwards."""
        yield from self._stored()
        if self._count:
            yield self._take(self._count)[0]

    def _stored(self) -> Iterator[npt.NDArray[Any]]:
        """The values that were written, a flush at a time, read back from the spool."""
        for start, counts, sizes in zip(self._starts, self._buffer.counts, self._buffer.sizes, strict=True):
            data = memoryview(b"".join(self._spool.pieces([(start, start + int(sizes.sum()))])))
            ends = np.cumsum(sizes, dtype=np.uint64)
            run = _kernels.Blocks(
                [data],
                np.zeros(len(sizes), np.uint32),
                ends - sizes,
                sizes.astype(np.uint64),
                counts.astype(np.uint64),
                np.arange(len(sizes), dtype=np.uint64),
                True,
                False,
            )
            inflate(run, [data], _kernels.numeric_frames(run, self._dtype))
            values = np.empty(int(counts.sum()), self._dtype)
            every = np.arange(len(counts), dtype=np.uint32)
            _kernels.decode_numbers(run, every, np.zeros(len(counts), np.uint32), counts, values, None, 0)
            yield values

    def _flush(self, count: int) -> None:
        values, valid = self._take(count)
        bits = None if valid is None else np.packbits(valid, bitorder="little")
        choice = self._plan(values, bits)
        block_values = choice.block_values if self._ends is None else count
        data, sizes = encode_blocks(values, bits, 0, choice.plan, block_values, choice.level)
        if len(data) > _DRIFT * choice.bytes_per_value * count + 64 * len(sizes):
            # The block that takes most says more about this flush than the first one does.
            other = self._rethink(values, bits, int(np.argmax(sizes)) * block_values)
            other_values = other.block_values if self._ends is None else count
            found = encode_blocks(values, bits, 0, other.plan, other_values, other.level)
            if len(found[0]) < len(data):
                choice, block_values, (data, sizes) = other, other_values, found
            choice = replace(choice, bytes_per_value=len(data) / count)
        # SingleValue is never reused: it cannot hold the next flush unless its values are all the same, too.
        self._choice = None if choice.plan.encoding is SINGLE_VALUE else choice
        counts = np.full(len(sizes), block_values, np.uint32)
        counts[-1] = count - block_values * (len(sizes) - 1)
        start = self._spool.append(data)
        self._starts.append(start)
        self._buffer.add(start, start + len(data), counts, sizes)

    def _plan(self, values: npt.NDArray[Any], bits: npt.NDArray[np.uint8] | None) -> NumberChoice:
        # From time to time even if the sizes are as planned: the data may have become simpler.
        if self._choice is None or len(self._starts) % _THINK_AGAIN == 0:
            return self._rethink(values, bits)
        return self._choice

    def _rethink(self, values: npt.NDArray[Any], bits: npt.NDArray[np.uint8] | None, at: int = 0) -> NumberChoice:
        """A new choice, by the block that begins at value `at`."""
        found = _kernels.analyze_numbers(values, bits, 0)
        known: dict[str, Any] = {name: found[name] for name in NumberFacts.__dataclass_fields__}
        facts = NumberFacts(**known)
        return choose(values, self._dtype, facts, self._profile, self._choice, at)

    def _take(self, count: int) -> tuple[npt.NDArray[Any], Bools | None]:
        """The next staged values as one array, with their validity where any is null."""
        taken: list[tuple[npt.NDArray[Any], Bools | None]] = []
        left = count
        while left:
            values, valid = self._staged[0]
            if len(values) <= left:
                taken.append(self._staged.pop(0))
            else:
                taken.append((values[:left], None if valid is None else valid[:left]))
                self._staged[0] = (values[left:], None if valid is None else valid[left:])
            left -= len(taken[-1][0])
        self._count -= count
        values = taken[0][0] if len(taken) == 1 else np.concatenate([each for each, _ in taken])
        if all(valid is None or valid.all() for _, valid in taken):
            return np.ascontiguousarray(values), None
        masks = [np.ones(len(each), np.bool_) if valid is None else valid for each, valid in taken]
        return np.ascontiguousarray(values), np.concatenate(masks)
