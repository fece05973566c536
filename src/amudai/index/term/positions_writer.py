"""The writer of the positions artifact.

All position lists are concatenated in one column. A long list has blocks of its own with the differences of its rows:
compressed if the list is dense, otherwise bit-packed. Short lists share blocks of bit-packed rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding import PreparedBuffer, compress_zstd, steps_section
from amudai.format import BufferKind
from amudai.index.term.sections import (
    U64,
    block,
    packed_program,
    packed_steps_program,
    plain_section,
    zstd_section,
)
from amudai.index.term.tuning import Tuning
from amudai.shard import PreparedField
from amudai.stats import FieldStatistics
from amudai.storage import Spool
from amudai.threads import Each, one_by_one
from amudai.types import SchemaNode

__all__ = ["LEAST_LONG", "AddedLists", "CopiedLists", "PositionsWriter", "SpooledBlocks"]

LEAST_LONG: Final = 512
"""Integers of a list that has blocks of its own."""

_CHUNK: Final = 1024  # values that are bit-packed together
_SHARED: Final = 2 * _CHUNK  # values of a block that lists share
_FLUSH: Final = 65_536
_ENVELOPE: Final = 40  # bytes of a block besides its packed differences, estimated
_SPARSE: Final = 400  # average difference of rows from which on compression wins only if differences repeat
_SAMPLE: Final = 2048  # values that tell whether they do
_REPEATS: Final = 3  # the level of Zstandard at which it finds repeated differences, and packs others nearly as well
_FEW: Final = 32  # fewer values are not worth a block of their own
_NOTHING: Final = np.empty(0, np.uint64)
_FEW_KINDS: Final = 2  # values for each different step between them, from which on the steps repeat enough


class SpooledBlocks:
    """Blocks of integers that are in the spool already, numbered in the order in which they were added."""

    def __init__(self) -> None:
        self._used = 0
        self._starts = np.empty(0, np.int64)
        self._ends = np.empty(0, np.int64)
        self._counts = np.empty(0, np.uint32)
        self._sizes = np.empty(0, np.uint32)
        self._values = np.zeros(1, np.uint64)  # the integers of all blocks before each, and of all

    def __len__(self) -> int:
        return self._used

    def add(self, start: int, counts: U64, sizes: U64) -> None:
        """Add adjacent blocks, the first of which begins at `start` of the spool."""
        first, last = self._used, self._used + len(counts)
        if last > len(self._starts):
            room = max(last, 2 * len(self._starts))
            for name in ("_starts", "_ends", "_counts", "_sizes"):
                setattr(self, name, np.resize(getattr(self, name), room))
            self._values = np.resize(self._values, room + 1)
        ends = start + np.cumsum(sizes, dtype=np.int64)
        self._starts[first:last] = ends - sizes.astype(np.int64)
        self._ends[first:last] = ends
        self._counts[first:last], self._sizes[first:last] = counts, sizes
        self._values[first + 1 : last + 1] = self._values[first] + np.cumsum(counts)
        self._used = last

    def add_to(self, buffer: PreparedBuffer, firsts: U64, integers: U64) -> None:
        """Append blocks to a buffer: for each `i`, the blocks from `firsts[i]` on that hold `integers[i]` integers."""
        values = self._values[: self._used + 1]
        low = firsts.astype(np.int64)
        high = np.searchsorted(values, values[low] + integers)
        held = high - low
        chosen = np.arange(int(held.sum())) + np.repeat(low - (np.cumsum(held) - held), held)
        places = zip(self._starts[low].tolist(), self._ends[high - 1].tolist(), strict=True)
        buffer.add_scattered(places, self._counts[chosen], self._sizes[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class CopiedLists:
    """For each of some lists how many of its first integers are copied with their blocks, and the first block."""

    blocks: SpooledBlocks
    counts: U64
    firsts: U64

    def part(self, first: int, last: int) -> CopiedLists:
        """The same of lists `first .. last`."""
        return CopiedLists(self.blocks, self.counts[first:last], self.firsts[first:last])


class AddedLists(NamedTuple):
    """Some lists: their integers, the number of integers of each, and which have blocks of their own.

    If `continues`, the first list continues the last one of the lists before. `copies` has blocks with the first
    integers of some long lists; `counts` and `integers` are without these integers.
    """

    integers: U64
    counts: U64
    is_long: npt.NDArray[np.uint8]
    continues: bool
    copies: CopiedLists | None = None


class _EncodedBlocks(NamedTuple):
    """Encoded blocks, with the number of values and the size of each."""

    data: bytes
    counts: npt.NDArray[np.uint32]
    sizes: npt.NDArray[np.uint32]


class PositionsWriter:
    """Writes the column of the positions artifact from the integers of all lists, in order."""

    def __init__(self, spool: Spool, tuning: Tuning) -> None:
        self._spool = spool
        self._tuning = tuning
        self._buffer = PreparedBuffer(BufferKind.DATA, embedded_presence=True)
        self._open = _ListGroup(tuning)
        self._ended: list[_ListGroup] = []
        self._count = 0

    def add(self, lists: AddedLists) -> None:
        """Append lists. They are written by the next call of `write`."""
        self._count += len(lists.integers)
        integers, counts, copies = lists.integers, lists.counts, lists.copies
        ends = np.cumsum(counts)
        at = 0
        for first, last in _groups(lists.is_long, counts):
            end = int(ends[last - 1])
            start = int(ends[first] - counts[first])
            if first or not lists.continues:
                self._open.end(integers[at:start])
                self._ended.append(self._open)
                self._open = _ListGroup(self._tuning)
            if copies is not None and copies.counts[first]:  # of several lists all are copied
                copied = copies.part(first, last)
                self._open.copy(copied)
                self._count += int(copied.counts.sum())
            self._open.add_long(integers[start:end])
            at = end
        if at < len(integers):
            self._open.add_short(integers[at:])

    def write(self, each: Each) -> None:
        """Write what was added. Blocks are encoded on the threads that `each` calls on."""
        ended, self._ended = self._ended, []
        work = [*ended, self._open]
        each(lambda number: work[number].encode(each), len(work))
        for group in work:
            self._append(group.taken())

    def _append(self, found: Sequence[_EncodedBlocks | CopiedLists]) -> None:
        for blocks in found:
            if isinstance(blocks, CopiedLists):
                blocks.blocks.add_to(self._buffer, blocks.firsts, blocks.counts)
            else:
                start = self._spool.append(blocks.data)
                self._buffer.add(start, start + len(blocks.data), blocks.counts, blocks.sizes)

    def finish(self, node: SchemaNode) -> PreparedField:
        """Write the remaining integers and return the field."""
        self._open.end(_NOTHING)
        self.write(one_by_one)
        known = FieldStatistics(position_count=self._count, null_count=0)
        return PreparedField(node, known, None, None, (self._buffer,))


class _ListGroup:
    """A long list and the short lists behind it, up to the next long list. No other lists share their blocks.

    What is appended waits until it is encoded: groups are encoded on different threads.
    """

    def __init__(self, tuning: Tuning) -> None:
        self._tuning = tuning
        self._steps: list[Callable[[], None]] = []
        self._each: Each = one_by_one
        self._shared = _PendingIntegers()
        self._long = _PendingIntegers()
        self._compressed: bool | None = None  # whether the open long list is compressed; None: not decided yet
        self._blocks: list[_EncodedBlocks | CopiedLists] = []

    def copy(self, copied: CopiedLists) -> None:
        """Append lists, or the beginning of the long list, whose blocks are in the spool already."""
        self._steps.append(partial(self._keep, copied))

    def add_long(self, integers: U64) -> None:
        """Append integers of the long list."""
        self._steps.append(partial(self._encode_long, integers))

    def add_short(self, integers: U64) -> None:
        """Append integers of short lists."""
        self._steps.append(partial(self._encode_short, integers))

    def end(self, integers: U64) -> None:
        """Append integers of the last short lists."""
        self._steps.append(partial(self._encode_last, integers))

    def encode(self, each: Each) -> None:
        """Encode what waits. The blocks of the long list are shared by `each`, too."""
        steps, self._steps = self._steps, []
        self._each = each
        for step in steps:
            step()

    def taken(self) -> list[_EncodedBlocks | CopiedLists]:
        """Remove and return the blocks that were encoded so far."""
        found, self._blocks = self._blocks, []
        return found

    def _keep(self, blocks: _EncodedBlocks | CopiedLists) -> None:
        self._blocks.append(blocks)

    def _encode_long(self, integers: U64) -> None:
        self._long.add(integers)
        self._write_long()

    def _encode_short(self, integers: U64) -> None:
        self._end_list()
        self._shared.add(integers)
        if self._shared.count >= _FLUSH:
            self._write_shared(self._shared.take(self._shared.count // _SHARED * _SHARED))

    def _encode_last(self, integers: U64) -> None:
        self._end_list()
        self._shared.add(integers)
        self._end_shared()

    # ---- long lists ----

    def _write_long(self) -> None:
        """Write the full blocks of the open list."""
        size = self._tuning.list_values
        if self._long.count < size:
            return
        values = self._long.take(self._long.count // size * size)
        if self._compressed is None:
            # The first block decides.
            if not self._put_compressed(values[:size]):
                self._put_packed(values[:size])
            values = values[size:]
        if not self._compressed:
            for start in range(0, len(values), size):
                self._put_packed(values[start : start + size])
            return
        sections = [b""] * (len(values) // size)

        def compress(number: int) -> None:
            sections[number] = _shortest(values[number * size : (number + 1) * size])

        self._each(compress, len(sections))
        for section in sections:
            self._put(block(section), size)

    def _end_list(self) -> None:
        if not self._long.count:
            self._compressed = None
            return
        values = self._long.take(self._long.count)
        if len(values) >= _FEW and self._put_compressed(values):
            values = values[:0]
        elif len(values) >= _CHUNK:
            whole = len(values) // _CHUNK * _CHUNK
            self._put_packed(values[:whole])
            values = values[whole:]
        if len(values) > 1:
            # A partial chunk takes as many bytes as a full one. If that is too much, its values join the shared blocks.
            own = _ENVELOPE + _CHUNK // 8 * int(np.diff(values).max()).bit_length()
            if own < len(values) * int(values[-1]).bit_length() / 8:
                self._put_packed(values)
                values = values[:0]
        self._shared.add(values)
        self._compressed = None

    def _put_compressed(self, values: U64) -> bool:
        """Write a compressed block if the open list is compressed. Returns whether it is; its first values decide."""
        gain = self._tuning.gain
        if self._compressed is None and not gain:
            self._compressed = False
        if self._compressed is None and int(values[-1] - values[0]) >= _SPARSE * len(values):
            # Only differences that repeat make it smaller, and a few tell whether they do.
            few = values[:_SAMPLE]
            self._compressed = None if len(steps_section(few, _REPEATS)) < gain * _packed_size(few) else False
        if self._compressed is False:
            return False
        section = _shortest(values)
        if self._compressed is None:
            self._compressed = len(section) < gain * _packed_size(values)
        if self._compressed:
            self._put(block(section), len(values))
        return self._compressed

    def _put_packed(self, values: U64) -> None:
        data, sizes = _kernels.encode_numbers(values, None, 0, packed_steps_program, _CHUNK, None, True)
        self._put(data, len(values), sizes, _CHUNK)

    # ---- short lists ----

    def _end_shared(self) -> None:
        if self._shared.count:
            self._write_shared(self._shared.take(self._shared.count))

    def _write_shared(self, values: U64) -> None:
        if not len(values):
            return
        if self._tuning.gain and len(values) > _FEW and _are_alike(np.diff(values)):
            for start in range(0, len(values), _SHARED):
                self._put_best(values[start : start + _SHARED])
            return
        whole = len(values) // _SHARED * _SHARED
        whole += (len(values) - whole) // _CHUNK * _CHUNK
        if whole:
            data, sizes = _kernels.encode_numbers(values[:whole], None, 0, packed_program, _SHARED, None, True)
            self._put(data, whole, sizes, _SHARED)
        if whole < len(values):
            self._put_best(values[whole:])

    def _put_best(self, values: U64) -> None:
        """Write a block of few values in the shortest form."""
        forms = [block(plain_section(values))]
        forms.append(_kernels.encode_numbers(values, None, 0, packed_program, len(values), None, True)[0])
        if self._tuning.gain and len(values) >= _FEW:
            is_list = not (values[1:] <= values[:-1]).any()
            # In a single list only differences repeat. In several, they rarely do, and counting them tells.
            if is_list or len(np.unique(np.diff(values))) * _FEW_KINDS <= len(values):
                forms.append(block(_shortest(values)))
            if not is_list:
                forms.append(block(zstd_section(compress_zstd(values.data, self._tuning.level))))
        self._put(min(forms, key=len), len(values))

    def _put(self, data: bytes, count: int, sizes: npt.NDArray[np.uint32] | None = None, each: int = 0) -> None:
        """Keep blocks: one block of `count` values, or blocks of `each` values and the rest."""
        if sizes is None:
            counts, sizes = np.array([count], np.uint32), np.array([len(data)], np.uint32)
        else:
            counts = np.full(len(sizes), each, np.uint32)
            counts[-1] = count - each * (len(sizes) - 1)
        self._keep(_EncodedBlocks(data, counts, sizes))


def _groups(is_long: npt.NDArray[np.uint8], counts: U64) -> Iterator[tuple[int, int]]:
    """The long lists, one by one. Neighbours of which everything is copied are taken together."""
    chosen = np.flatnonzero(is_long.view(np.bool_))
    is_copied = counts[chosen] == 0
    begins = np.ones(len(chosen), np.bool_)
    begins[1:] = (chosen[1:] != chosen[:-1] + 1) | ~is_copied[1:] | ~is_copied[:-1]
    firsts = np.flatnonzero(begins)
    sizes = np.diff(firsts, append=len(chosen))
    return zip(chosen[firsts].tolist(), (chosen[firsts] + sizes).tolist(), strict=True)


def _are_alike(steps: U64) -> bool:
    """Whether most differences are small, or the same as the one before, so that compression makes them smaller."""
    alike = steps < 256
    alike[1:] |= steps[1:] == steps[:-1]
    return 2 * int(np.count_nonzero(alike)) > len(steps)


def _shortest(values: U64) -> bytes:
    """Compressed differences. Few values are compressed in two ways, as it takes little time."""
    section = steps_section(values, _REPEATS)
    return section if len(values) > _SHARED else min(section, steps_section(values), key=len)


def _packed_size(values: U64) -> int:
    """About how many bytes bit-packed differences take."""
    widest = np.maximum.reduceat(np.diff(values), np.arange(0, len(values) - 1, _CHUNK))
    return sum(_ENVELOPE + _CHUNK // 8 * step.bit_length() for step in widest.tolist())


class _PendingIntegers:
    """Integers that wait to become blocks."""

    def __init__(self) -> None:
        self._parts: list[U64] = []
        self.count = 0

    def add(self, values: U64) -> None:
        """Append integers."""
        if len(values):
            self._parts.append(values)
            self.count += len(values)

    def take(self, count: int) -> U64:
        """Remove and return the first `count` integers."""
        joined = self._parts[0] if len(self._parts) == 1 else np.concatenate([*self._parts, _NOTHING])
        rest = joined[count:]
        self._parts, self.count = ([rest] if len(rest) else []), len(rest)
        return joined[:count]
