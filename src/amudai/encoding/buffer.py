"""Finding and reading the blocks of a buffer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.shared import SharedDecoder
from amudai.errors import AmudaiError, CorruptedData, located
from amudai.format import (
    IDENTITY_SIZE,
    BlockMap,
    DataRef,
    IdentityHash,
    SharedDictionary,
    check_map_padding,
    check_zeros,
    decode_block_map,
    require_identity,
    without_identity,
)
from amudai.frozen import quick_init
from amudai.lazy import lazy
from amudai.limits import DEFAULT_LIMITS, Limits
from amudai.rows import Rows
from amudai.storage import MAX_READ, Artifact, FetchedRanges, count_blocks

__all__ = ["LZ4_MOST", "BlockBuffer", "BlockRun", "check_identity"]

# Encoded bytes for one native call, so few that verified bytes are still in the cache when they are decoded.
RUN_BYTES: Final = 2 * 1024 * 1024
# The same for blocks with few wanted positions. Most of their bytes are only verified, so fewer calls are faster.
_SCATTERED_BYTES: Final = 8 * 1024 * 1024
_FEW: Final = 64  # "few" is less than one position in this many
# Values of the blocks for one native call: blocks that decompress to far more than their bytes come in smaller runs.
_RUN_VALUES: Final = 1 << 24
# Slots of a block are numbered with 32 bits.
_MOST_SLOTS: Final = 0xFFFF_FFFF
# Bytes of a block map that is copied out of a mapped file: it is asked before blocks are read, and so before anything
# tells whether the file has changed. Of larger maps only some parts are needed.
_COPIED_MAP: Final = 64 * 1024
# The most bytes to which a byte of LZ4 can decompress.
LZ4_MOST: Final = 255


U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]


@quick_init
@dataclass(frozen=True, slots=True, eq=False)
class BlockRun:
    """Blocks that were read, and which of their slots are wanted: `count[i]` slots from `first[i]` of `block[i]`."""

    blocks: _kernels.Blocks
    buffers: list[memoryview]
    block: U32
    first: U32
    count: U32
    slots: int


@quick_init
@dataclass(frozen=True, slots=True, eq=False)
class PickedBlocks:
    """Blocks in ascending order: their ordinals, their starts in the buffer, and their sizes in bytes and values."""

    ordinals: U64
    begins: U64
    sizes: U64
    counts: U64

    @property
    def end(self) -> int:
        """The end of the last block."""
        return int(self.begins.item(-1) + self.sizes.item(-1))

    def part(self, low: int, high: int) -> PickedBlocks:
        """The blocks from index `low` up to index `high`."""
        return PickedBlocks(self.ordinals[low:high], self.begins[low:high], self.sizes[low:high], self.counts[low:high])


@dataclass(frozen=True, slots=True, eq=False)
class ShiftedBlocks:
    """The bytes of blocks, the values and bytes of each, and whether it could be shifted. If not, it is unchanged."""

    data: npt.NDArray[np.uint8]
    counts: U64
    sizes: U64
    moved: npt.NDArray[np.bool_]


class StoredBlocks(Protocol):
    """Where a buffer of blocks lies: the descriptor of a buffer, or what an index says about it."""

    @property
    def block_count(self) -> int | None: ...

    @property
    def block_checksums(self) -> bool: ...

    @property
    def identity(self) -> bytes | None: ...

    def block_refs(self) -> tuple[DataRef, DataRef]:
        """The whole buffer, and its block map inside it."""


class BlockBuffer:
    """An encoded buffer of blocks, opened for reading. Its block map is read when it is first needed.

    Parameters
    ----------
    values
        The number of values according to the field's descriptor. The block map must agree.
    verify
        Whether the checksum of each block is compared.
    is_metered
        Whether the blocks that are read are counted on the current `storage.Meter`.
    limits
        How much memory and work the values may take.
    read_dictionary
        Reads the dictionary that blocks of the buffer share; None if there is none.
    """

    # Whether a single block is opened by `_single`.
    _OPENS_ONE: ClassVar = True

    def __init__(
        self,
        artifact: Artifact,
        descriptor: StoredBlocks,
        values: int,
        verify: bool,
        *,
        is_metered: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        read_dictionary: Callable[[], SharedDictionary] | None = None,
    ) -> None:
        self._artifact = artifact
        self._descriptor = descriptor
        self.values = values
        self._verify = verify
        self._is_metered = is_metered
        self.limits = limits
        self._buffer, self._map = descriptor.block_refs()
        self._start = self._buffer.start
        self._identity = descriptor.identity
        self._end = self._buffer.end + (0 if self._identity is None else IDENTITY_SIZE)
        if not 0 <= self._start <= self._end <= artifact.size:
            artifact.require(self._start, self._end)
        # The store tells if another file takes the place of this one. If it does not, the identity does each time.
        self._is_certain = artifact.tag is not None or self._identity is None
        self._whole: memoryview | None = None
        self._read_dictionary = read_dictionary

    @property
    def ref(self) -> tuple[int, int]:
        """The range of the buffer in its file."""
        return self._buffer.start, self._buffer.end

    @property
    def size(self) -> int:
        """Bytes of the buffer, including the block map."""
        return self._buffer.size

    @lazy
    def may_inflate(self) -> bool:
        """Whether an LZ4 block of this buffer might decompress to more bytes than the limits allow."""
        return self._buffer.size * LZ4_MOST > self.limits.most_block_memory

    def keep(self, whole: memoryview) -> None:
        """Keep the bytes of the whole buffer and its identity, which were read together with its neighbours."""
        self._whole = self._identified(whole)

    def _identified(self, data: memoryview) -> memoryview:
        """The end of the buffer without the identity behind it. An error if it has another identity."""
        try:
            return without_identity(data, self._identity)
        except CorruptedData as error:
            error.locate(url=self._artifact.url, range=f"{self._buffer.start}..{self._end}")
            raise

    @lazy
    def shared(self) -> SharedDecoder | None:
        """What blocks of the buffer share, read at the first use."""
        return None if self._read_dictionary is None else SharedDecoder(self._read_dictionary())

    def _sharing(self, blocks: _kernels.Blocks) -> _kernels.Blocks:
        """The blocks, with the dictionary that they share."""
        if self._read_dictionary is not None and self.shared is not None:
            dictionary = self.shared.dictionary
            blocks.share(dictionary.content, dictionary.checksum)
        return blocks

    @lazy
    def block_map(self) -> BlockMap:
        """The block map, read at the first use."""
        start, end = self._map.start, self._map.end
        room = start - self._start
        if self._whole is not None:
            payload = self._whole[room : room + end - start]
        else:
            stop = end if self._identity is None else self._end
            payload = self._artifact.read(start, stop)
            if self._identity is not None:
                payload = self._identified(payload)[: end - start]
        if len(payload) <= _COPIED_MAP:
            payload = memoryview(bytes(payload))
        try:
            found = decode_block_map(
                payload, data_size=room, expected_values=self.values, expected_blocks=self._descriptor.block_count
            )
            # A number of values that map and descriptor agree on. Others are damage.
            self.limits.require_values(self.values, self._buffer.end - self._start)
            return found
        except AmudaiError as error:
            error.locate(url=self._artifact.url, range=f"{start}..{end}")
            raise

    def runs(self, rows: Rows, unit: int = 1) -> Iterator[BlockRun]:
        """The blocks of `rows`, a few megabytes at a time. Each value of a block stands for `unit` positions."""
        if not rows:
            return
        if "block_map" not in self.__dict__:
            self._read_whole(rows.count // unit)
        found = self.block_map
        if unit == 1 and self._OPENS_ONE:
            run = self._run_of_one(rows)
            if run is not None:
                yield run
                return
        try:
            spans = found.spans(*rows.arrays, unit)
        except AmudaiError as error:
            error.locate(url=self._artifact.url)
            raise
        *blocks, index, first, count, slots = spans
        picked = PickedBlocks(*blocks)
        if len(picked.sizes) == 1:
            yield BlockRun(*self._counted(picked), index, first, count, slots)
            return
        ends = picked.sizes.cumsum()  # bytes read with each block and those before it
        most = _SCATTERED_BYTES if slots * _FEW <= int(picked.counts.sum()) * unit else RUN_BYTES
        values = picked.counts.cumsum()
        if ends.item(-1) <= most and values.item(-1) <= _RUN_VALUES:
            yield BlockRun(*self._counted(picked), index, first, count, slots)
            return
        low = done = counted = 0
        while low < len(ends):
            # At least one block, and as many as bytes and values allow.
            high = int(ends.searchsorted(np.uint64(done + most), "right"))
            high = max(low + 1, min(high, int(values.searchsorted(np.uint64(counted + _RUN_VALUES), "right"))))
            mine = slice(*index.searchsorted([low, high]))
            slots = int(count[mine].sum(dtype=np.uint64))
            opened = self._counted(picked.part(low, high))
            yield BlockRun(*opened, index[mine] - np.uint32(low), first[mine], count[mine], slots)
            low, done, counted = high, ends.item(high - 1), values.item(high - 1)

    def _run_of_one(self, rows: Rows) -> BlockRun | None:
        """The run for rows that lie in one block; None if there are several. A question that finds few rows asks so."""
        starts, ends = rows.arrays
        low = starts.item(0)
        try:
            found = self.block_map.block_of(low, ends.item(-1))
        except AmudaiError as error:
            error.locate(url=self._artifact.url)
            raise
        if found is None or found[4] > _MOST_SLOTS:
            return None
        ordinal, slot, begin, end, count = found
        if self._is_metered:
            count_blocks(1)
        blocks, view = self._single(ordinal, begin, end, count)
        first, counts = (starts - np.uint64(low - slot)).astype(np.uint32), (ends - starts).astype(np.uint32)
        return BlockRun(blocks, [view], np.zeros(len(first), np.uint32), first, counts, rows.count)

    def _read_whole(self, values: int) -> None:
        """Read blocks and map in one request if the buffer is small and most of its values are wanted."""
        if 2 * values >= self.values and self._whole is None and self.size <= MAX_READ:
            self._whole = self._identified(self._artifact.read(self._buffer.start, self._end))

    def stretch(self, first: int, last: int) -> tuple[_kernels.Blocks, memoryview, int] | None:
        """The blocks that hold `first..last`, their bytes, and the slot of the first; None if they have many bytes.

        A faster `runs` for a few adjacent positions.
        """
        found = self.__dict__.get("block_map")
        if found is None:
            self._read_whole(last - first)
            found = self.block_map
        try:
            # Few positions are in one block as a rule, and a single block needs no arrays.
            one = found.block_of(first, last)
            found = None if one is not None else found.stretch(first, last, RUN_BYTES)
        except AmudaiError as error:
            error.locate(url=self._artifact.url)
            raise
        if one is not None:
            block, slot, begin, end, count = one
            if end - begin > RUN_BYTES:
                return None
            if self._is_metered:
                count_blocks(1)
            blocks, view = self._single(block, begin, end, count)
            return blocks, view, slot
        if found is None:
            return None
        block, slot, begin, end, sizes, counts = found
        if self._is_metered:
            count_blocks(len(sizes))
        return *self._neighbours(block, begin, end, sizes, counts), slot

    def all_blocks(self, at_once: int = 4096) -> Iterator[_kernels.Blocks]:
        """Every block, opened and verified, `at_once` blocks at a time."""
        offsets, values = self.block_map.offsets, self.block_map.values
        for low in range(0, len(offsets) - 1, at_once):
            ends = offsets[low : low + at_once + 1]
            counts = np.diff(values[low : low + at_once + 1])
            yield self._neighbours(low, ends.item(0), ends.item(-1), np.diff(ends), counts)[0]

    def whole_blocks(self, starts: U64, ends: U64) -> tuple[U64, U64]:
        """For each range of values, the first and the end of the blocks that hold only values of the range.

        The two are the same if no block begins with the range, or blocks have no checksums.
        """
        values = self.block_map.values
        low = np.searchsorted(values, starts).astype(np.uint64)
        high = np.searchsorted(values, ends, "right").astype(np.uint64) - np.uint64(1)
        whole = (high > low) & (values[np.minimum(low, len(values) - 1).astype(np.int64)] == starts)
        return low, np.where(whole & self._descriptor.block_checksums, high, low)

    def shifted_blocks(self, ordinals: U64, shifts: U64) -> ShiftedBlocks:
        """Blocks of 64-bit integers in ascending order, with a number added to all integers of each block."""
        picked = self._picked(ordinals)
        sizes = picked.sizes.tolist()
        pieces = self._read(picked)
        places = zip(pieces.which.tolist(), pieces.starts.tolist(), sizes, strict=True)
        data = b"".join([pieces.buffers[which][start : start + size] for which, start, size in places])
        try:
            found, moved = _kernels.shift_blocks(
                np.frombuffer(data, np.uint8), picked.sizes, shifts, picked.ordinals, self._verify
            )
        except AmudaiError as error:
            error.locate(url=self._artifact.url)
            raise
        return ShiftedBlocks(found, picked.counts, picked.sizes, moved.view(np.bool_))

    def block_sizes(self, ordinals: U64) -> U64:
        """Bytes of each of these blocks."""
        return self._picked(ordinals).sizes

    def block_places(self) -> tuple[U64, U64]:
        """Where all blocks begin in the buffer, and their sizes in bytes."""
        offsets = self.block_map.offsets
        return offsets[:-1], np.diff(offsets)

    def _picked(self, ordinals: U64) -> PickedBlocks:
        offsets, values, at = self.block_map.offsets, self.block_map.values, ordinals.astype(np.int64)
        begins = offsets[at]
        return PickedBlocks(ordinals, begins, offsets[at + 1] - begins, values[at + 1] - values[at])

    def check_padding(self) -> None:
        """Raise an error if there is anything but zeros where a buffer has no meaning."""
        at = self._buffer.start
        with located(url=self._artifact.url, range=f"{at}..{self._buffer.end}"):
            blocks_end = at + int(self.block_map.offsets[-1])
            check_zeros(self._artifact.read(blocks_end, self._map.start), "padding after the blocks")
            check_map_padding(self._artifact.read(self._map.start, self._map.end))
            check_zeros(self._artifact.read(self._map.end, self._buffer.end), "padding after the block map")

    def _counted(self, picked: PickedBlocks) -> tuple[_kernels.Blocks, list[memoryview]]:
        if self._is_metered:
            count_blocks(len(picked.ordinals))
        return self._open(picked)

    def _open(self, picked: PickedBlocks) -> tuple[_kernels.Blocks, list[memoryview]]:
        first = picked.ordinals.item(0)
        if picked.ordinals.item(-1) - first + 1 == len(picked.ordinals):
            blocks, view = self._neighbours(first, picked.begins.item(0), picked.end, picked.sizes, picked.counts)
            return blocks, [view]
        return self._in_pieces(picked, self._read(picked), picked.sizes)

    def _in_pieces(
        self, picked: PickedBlocks, pieces: FetchedRanges, sizes: U64
    ) -> tuple[_kernels.Blocks, list[memoryview]]:
        """Blocks whose bytes are in several pieces, and these. `sizes` has the bytes of each block."""
        try:
            blocks = _kernels.Blocks(
                pieces.buffers,
                pieces.which,
                pieces.starts,
                sizes,
                picked.counts,
                picked.ordinals,
                self._descriptor.block_checksums,
                self._verify,
            )
        except AmudaiError as error:
            error.locate(url=self._artifact.url)
            raise
        return self._sharing(blocks), pieces.buffers

    def _neighbours(
        self, first: int, begin: int, end: int, sizes: U64, counts: U64
    ) -> tuple[_kernels.Blocks, memoryview]:
        """The consecutive blocks from `first` on, and their bytes."""
        view = self._stretch(begin, end) if self._whole is None else self._of_whole(end)[begin:end]
        try:
            checksums = self._descriptor.block_checksums
            blocks = _kernels.Blocks.stretch(view, first, sizes, counts, checksums, self._verify)
        except AmudaiError as error:
            error.locate(url=self._artifact.url)
            raise
        return blocks if self._read_dictionary is None else self._sharing(blocks), view

    def _single(self, ordinal: int, begin: int, end: int, count: int) -> tuple[_kernels.Blocks, memoryview]:
        """One block, and its bytes."""
        if self._whole is not None:
            view = self._of_whole(end)[begin:end]
        elif self._is_certain:
            start = self._start
            view = self._artifact.read(start + begin, start + end)
        else:
            view = self._stretch(begin, end)
        try:
            blocks = _kernels.Blocks.one(view, count, self._descriptor.block_checksums, self._verify, ordinal)
        except AmudaiError as error:
            error.locate(url=self._artifact.url)
            raise
        return blocks if self._read_dictionary is None else self._sharing(blocks), view

    def _read(self, picked: PickedBlocks) -> FetchedRanges:
        """The bytes of blocks that need not be adjacent."""
        if self._whole is not None:
            whole = self._of_whole(picked.end)
            return FetchedRanges([whole], np.zeros(len(picked.begins), np.uint32), picked.begins)
        return self._ranges(picked.begins, picked.sizes)

    def _stretch(self, begin: int, end: int) -> memoryview:
        """Bytes of the buffer."""
        if self._is_certain:
            return self._artifact.read(self._buffer.start + begin, self._buffer.start + end)
        pieces = self._ranges(np.array([begin], np.uint64), np.array([end - begin], np.uint64))
        start = pieces.starts.item(0)
        return pieces.buffers[pieces.which.item(0)][start : start + end - begin]

    def _ranges(self, begins: U64, sizes: U64) -> FetchedRanges:
        """Bytes of the buffer at several places."""
        starts = begins + np.uint64(self._buffer.start)
        if self._is_certain:
            return self._artifact.read_many(starts, starts + sizes)
        at = np.uint64(self._buffer.end)
        ends = np.append(starts + sizes, at + np.uint64(IDENTITY_SIZE))
        pieces = self._artifact.read_many(np.append(starts, at), ends, anew=True)
        behind = pieces.starts.item(-1)
        self._identified(pieces.buffers[pieces.which.item(-1)][behind : behind + IDENTITY_SIZE])
        return FetchedRanges(pieces.buffers, pieces.which[:-1], pieces.starts[:-1])

    def _of_whole(self, end: int) -> memoryview:
        """The kept bytes of the whole buffer. An error if it ends before `end`."""
        assert self._whole is not None
        self._artifact.confirm()
        if end > len(self._whole):
            raise CorruptedData(f"block: expected an end of at most {len(self._whole)}, found {end}")
        return self._whole


def check_identity(artifact: Artifact, ref: DataRef, identity: bytes) -> None:
    """Raise CorruptedData if the bytes at `ref` have another identity."""
    found = IdentityHash()
    for start in range(ref.start, ref.end, MAX_READ):
        found.update(artifact.read(start, min(start + MAX_READ, ref.end)))
    require_identity(identity, found.digest())
