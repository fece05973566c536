"""Which blocks hold these positions, and what are their bytes?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.ranges import Ranges
from amudai.errors import CorruptedData, UnsupportedFeature, located
from amudai.format import BlockMap, EncodedBuffer
from amudai.storage import MAX_READ, Artifact, Pieces

__all__ = ["BlockBuffer", "Run", "Tally"]

# Encoded bytes that one native call works on: what it verifies is still in the cache when it is decoded.
RUN_BYTES: Final = 2 * 1024 * 1024
# Kernels number the slots of a block with 32 bits. A block of bits could have eight times as many.
_MAX_SLOTS: Final = 0xFFFF_FFFF

_ZERO32: Final = np.zeros(1, np.uint32)
_ZERO64: Final = np.zeros(1, np.uint64)

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Blocks that were read, and the spans of their slots that are wanted: `count[i]` from `first[i]` of `block[i]`."""

    blocks: _kernels.Blocks
    buffers: list[memoryview]
    block: U32
    first: U32
    count: U32
    slots: int


class Tally:
    """How many blocks were read for their values, by all threads."""

    def __init__(self) -> None:
        self.blocks = 0
        self._lock = Lock()

    def add(self, blocks: int) -> None:
        """Count blocks."""
        with self._lock:
            self.blocks += blocks


class BlockBuffer:
    """An encoded buffer of blocks, opened for reading. Its block map is read when it is first needed.

    Parameters
    ----------
    values
        How many values the field's descriptor says there are; the block map must agree.
    verify
        Whether the checksum of each block is compared.
    tally
        Counts the blocks that are read.
    """

    def __init__(
        self, artifact: Artifact, descriptor: EncodedBuffer, values: int, verify: bool, tally: Tally | None = None
    ) -> None:
        self._artifact = artifact
        self._descriptor = descriptor
        self._values = values
        self._verify = verify
        self._tally = tally
        self._buffer, self._map = descriptor.block_refs()
        artifact.require(self._buffer.start, self._buffer.end)
        self._whole: memoryview | None = None

    @property
    def ref(self) -> tuple[int, int]:
        """Where the buffer lies in its artifact."""
        return self._buffer.start, self._buffer.end

    @property
    def size(self) -> int:
        """Bytes of the buffer, block map included."""
        return self._buffer.size

    def keep(self, whole: memoryview) -> None:
        """Take the bytes of the whole buffer, which somebody read together with its neighbours."""
        self._whole = whole

    @cached_property
    def block_map(self) -> BlockMap:
        """Where each block lies."""
        start, room = self._map.start - self._buffer.start, self._map.start - self._buffer.start
        if self._whole is not None:
            payload = self._whole[start : start + self._map.size]
        else:
            payload = self._artifact.read(self._map.start, self._map.end)
        with located(url=self._artifact.url, range=f"{self._map.start}..{self._map.end}"):
            return BlockMap.decode(
                payload, data_size=room, expected_values=self._values, expected_blocks=self._descriptor.block_count
            )

    def runs(self, ranges: Ranges, unit: int = 1) -> Iterator[Run]:
        """The blocks of these positions, a few megabytes at a time; a block's value makes `unit` positions."""
        if not len(ranges):
            return
        # Everything is wanted and small: one request for blocks and map.
        if self._whole is None and "block_map" not in self.__dict__ and self.size <= MAX_READ:
            positions = self._values * unit
            if ranges.count * 2 >= positions:
                self._whole = self._artifact.read(self._buffer.start, self._buffer.end)
        found = self.block_map
        if ranges.end == ranges.count == self._values * unit and found.data_size <= RUN_BYTES:
            # All of a buffer that one call can take: no search.
            block = np.arange(found.block_count, dtype=np.int64)
            count = np.diff(found.values) if unit == 1 else np.diff(found.values) * np.uint64(unit)
            yield self._run(found, block, np.zeros(len(block), np.uint64), count)
            return
        block, first, count = _spans(found.values, ranges, unit)
        ends = found.offsets[block + 1]
        low, total = 0, len(block)
        while low < total:
            # At least one span, all spans of a block, and as many blocks as the bytes allow.
            limit = int(found.offsets[block[low]]) + RUN_BYTES
            high = int(np.searchsorted(ends, np.uint64(limit), "right"))
            high = max(high, int(np.searchsorted(block, block[low], "right")))
            yield self._run(found, block[low:high], first[low:high], count[low:high])
            low = high

    def block_of(self, first: int, last: int) -> tuple[_kernels.Blocks, list[memoryview], int] | None:
        """The block that holds all of `first..last`, and where they begin in it; None where they lie in several.

        What `runs` gives for many positions, for a few and in less time.
        """
        found = self.block_map
        block = int(found.values.searchsorted(first, "right")) - 1
        if block >= found.block_count:
            return None
        start, stop = found.values.item(block), found.values.item(block + 1)
        if last > stop or stop - start > _MAX_SLOTS:
            return None
        low, high = found.offsets.item(block), found.offsets.item(block + 1)
        if self._whole is not None:
            if high > len(self._whole):
                raise CorruptedData(f"block: expected an end of at most {len(self._whole)}, found {high}")
            view = self._whole[low:high]
        else:
            view = self._artifact.read(low + self._buffer.start, high + self._buffer.start)
        with located(url=self._artifact.url):
            sizes = np.array([high - low, stop - start, block], np.uint64)
            blocks = _kernels.Blocks(
                [view],
                _ZERO32,
                _ZERO64,
                sizes[:1],
                sizes[1:2],
                sizes[2:],
                self._descriptor.block_checksums,
                self._verify,
            )
        return blocks, [view], first - start

    def all_blocks(self, at_once: int = 4096) -> Iterator[_kernels.Blocks]:
        """Every block, opened and verified, so many at a time."""
        count = self.block_map.block_count
        for low in range(0, count, at_once):
            yield self._open(self.block_map, np.arange(low, min(low + at_once, count), dtype=np.int64))[0]

    def _run(self, found: BlockMap, block: npt.NDArray[np.int64], first: U64, count: U64) -> Run:
        if len(block) > 1 and block[-1] - block[0] + 1 != len(block):
            is_new = np.empty(len(block), np.bool_)
            is_new[0] = True
            np.not_equal(block[1:], block[:-1], out=is_new[1:])
            used, index = block[is_new], np.cumsum(is_new) - 1
        else:
            used, index = block, np.arange(len(block))
        blocks, buffers = self._open(found, used)
        if self._tally is not None:
            self._tally.add(len(used))
        if int((first + count).max()) > _MAX_SLOTS:
            raise UnsupportedFeature(f"slots of a block: expected at most {_MAX_SLOTS}, found {(first + count).max()}")
        return Run(
            blocks, buffers, index.astype(np.uint32), first.astype(np.uint32), count.astype(np.uint32), int(count.sum())
        )

    def _open(self, found: BlockMap, used: npt.NDArray[np.int64]) -> tuple[_kernels.Blocks, list[memoryview]]:
        starts, ends = found.offsets[used], found.offsets[used + 1]
        pieces = self._read(starts, ends)
        with located(url=self._artifact.url):
            blocks = _kernels.Blocks(
                pieces.buffers,
                pieces.which,
                pieces.starts,
                ends - starts,
                found.values[used + 1] - found.values[used],
                used.astype(np.uint64),
                self._descriptor.block_checksums,
                self._verify,
            )
        return blocks, pieces.buffers

    def _read(self, starts: U64, ends: U64) -> Pieces:
        if self._whole is not None:
            if int(ends[-1]) > len(self._whole):
                raise CorruptedData(f"block: expected an end of at most {len(self._whole)}, found {ends[-1]}")
            return Pieces([self._whole], np.zeros(len(starts), np.uint32), starts)
        base = np.uint64(self._buffer.start)
        if len(starts) > 1 and (ends[:-1] == starts[1:]).all():
            # Neighbours without a gap are one range.
            view = self._artifact.read(int(starts[0] + base), int(ends[-1] + base))
            return Pieces([view], np.zeros(len(starts), np.uint32), starts - starts[0])
        return self._artifact.read_many(starts + base, ends + base)


def _spans(values: U64, ranges: Ranges, unit: int) -> tuple[npt.NDArray[np.int64], U64, U64]:
    """For each piece of a range in a block: the block, its first position there, how many."""
    ends = values if unit == 1 else values * np.uint64(unit)
    if ranges.end > int(ends[-1]):
        raise CorruptedData(f"positions: expected at most {int(ends[-1])} in the buffer, found {ranges.end}")
    first = np.searchsorted(ends, ranges.starts, "right") - 1
    last = np.searchsorted(ends, ranges.ends, "left")  # one past the last block
    pieces = last - first
    if len(ranges) == 1:
        block = np.arange(first[0], last[0], dtype=np.int64)
        starts, stops = np.maximum(ends[block], ranges.starts[0]), np.minimum(ends[block + 1], ranges.ends[0])
    elif (pieces == 1).all():
        block, starts, stops = first, ranges.starts, ranges.ends
    else:
        owner = np.repeat(np.arange(len(ranges)), pieces)
        block = np.arange(int(pieces.sum())) - np.repeat(np.cumsum(pieces) - pieces, pieces) + first[owner]
        starts = np.maximum(ends[block], ranges.starts[owner])
        stops = np.minimum(ends[block + 1], ranges.ends[owner])
    return block, starts - ends[block], stops - starts
