"""The blocks of a member of a packed group, which are nested in super-blocks."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.buffer import RUN_BYTES, U64, BlockBuffer, PickedBlocks, check_identity
from amudai.errors import AmudaiError, CorruptedData, located
from amudai.format import (
    BlockMap,
    EncodedBuffer,
    check_super_block_padding,
    decode_block_map,
    decode_super_block,
    encode_block_map,
    super_block_header_size,
    super_block_members,
)
from amudai.lazy import lazy
from amudai.limits import DEFAULT_LIMITS, Limits
from amudai.storage import Artifact, FetchedRanges, count_blocks

__all__ = ["MemberBlocks", "SuperBlocks"]

# Super-blocks of up to this many bytes are read whole: the other bytes take less time than another request. Of larger
# ones, headers are read first, and then the blocks of the wanted member, as long as no other member was wanted.
_WHOLE: Final = 1024 * 1024
_KEPT: Final = 32 * 1024 * 1024  # bytes of super-blocks that are kept for the other members
_BEGINNING: Final = 8  # bytes that say how many members a super-block has


class SuperBlocks(BlockBuffer):
    """The buffer of a packed group. Its members share it, and what it has read.

    Parameters
    ----------
    values
        The number of positions of each member.
    """

    def __init__(
        self,
        artifact: Artifact,
        descriptor: EncodedBuffer,
        values: int,
        verify: bool,
        *,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(artifact, descriptor, values, verify, limits=limits)
        self._lock = Lock()
        self._is_checked = False
        self._asked: set[int] = set()  # members that were read
        self._known: npt.NDArray[np.uint32] | None = None
        self._kept: dict[int, memoryview] = {}  # super-blocks that were read whole, by ordinal

    @property
    def _sizes(self) -> npt.NDArray[np.uint32]:
        """The sizes of the nested blocks, one row for each super-block; zeros before its header is read."""
        if self._known is None:
            start = self._buffer.start
            self._learn(self._artifact.read(start, min(start + _BEGINNING, self._map.start)))
        assert self._known is not None
        return self._known

    @property
    def url(self) -> str:
        """The URL of the file that holds the group."""
        return self._artifact.url

    @property
    def members(self) -> int:
        """How many blocks are nested in each super-block. Reads the beginning of the first one."""
        return int(self._sizes.shape[1])

    def _learn(self, data: memoryview) -> None:
        """Take the number of members from the first bytes of a super-block."""
        if self._known is None:
            members, count = super_block_members(data), self.block_map.block_count
            header = super_block_header_size(members)
            if header * count > self._buffer.size:
                found = f"{members} in each of {count} super-blocks"
                raise CorruptedData(f"super-block: expected nested blocks in {self._buffer.size} bytes, found {found}")
            self._known = np.zeros((count, members), np.uint32)

    @property
    def _header(self) -> int:
        return super_block_header_size(self.members)

    def member_places(self, member: int) -> tuple[U64, U64]:
        """Where the blocks of a member begin in the buffer, and their sizes. Reads the headers of the super-blocks."""
        picked = self._picked(np.arange(self.block_map.block_count, dtype=np.uint64))
        self._read_headers(picked)
        return self._places(picked, member)

    def overhead(self) -> int:
        """Bytes of the buffer that belong to no member. Reads the headers of the super-blocks."""
        return self.size - sum(int(self.member_places(member)[1].sum()) for member in range(self.members))

    def check(self) -> None:
        """Raise an error if the content has another identity, or padding is not zero. Reads everything once."""
        if not self._is_checked:
            picked = self._picked(np.arange(self.block_map.block_count, dtype=np.uint64))
            self._read_headers(picked)
            self.check_padding()
            starts = picked.begins + np.uint64(self._buffer.start)
            pieces = self._artifact.read_many(starts, starts + np.uint64(self._header))
            for which, start in zip(pieces.which.tolist(), pieces.starts.tolist(), strict=True):
                check_super_block_padding(pieces.buffers[which][start : start + self._header], self.members)
            if self._identity is not None:
                with located(url=self.url, range=f"{self._buffer.start}..{self._buffer.end}"):
                    check_identity(self._artifact, self._buffer, self._identity)
            self._is_checked = True

    def expect(self, member: int) -> None:
        """Note that a member is going to be read: super-blocks of which several members are wanted are read whole."""
        self._asked.add(member)

    def nested(self, picked: PickedBlocks, member: int) -> tuple[FetchedRanges, U64]:
        """The blocks of a member in some super-blocks, and the bytes of each."""
        self.expect(member)
        if not self._reads_whole(picked):
            self._read_headers(picked)
            begins, sizes = self._places(picked, member)
            return self._ranges(begins, sizes), sizes
        pieces = self._super_blocks(picked)
        self._parse(picked, pieces)
        begins, sizes = self._places(picked, member)
        return FetchedRanges(pieces.buffers, pieces.which, pieces.starts + (begins - picked.begins)), sizes

    def _reads_whole(self, picked: PickedBlocks) -> bool:
        """Whether super-blocks are read whole, and not only the blocks of one member."""
        if self._whole is not None or self._is_mapped:
            return True
        size = int(picked.sizes.sum())
        if len(self._asked) > 1:
            return size <= _KEPT
        # Ranges that are near to each other are read together with what is between them.
        gap = self._artifact.store.capabilities.merge_gap
        return size <= max(_WHOLE, gap * len(picked.sizes))

    def _super_blocks(self, picked: PickedBlocks) -> FetchedRanges:
        """Whole super-blocks."""
        if self._whole is not None or self._is_mapped:
            return self._read(picked)
        with self._lock:  # the members are read on several threads, and one of them reads for all
            return self._read_and_keep(picked)

    def _read_and_keep(self, picked: PickedBlocks) -> FetchedRanges:
        kept, ordinals = self._kept, picked.ordinals.tolist()
        if not all(ordinal in kept for ordinal in ordinals):
            pieces = self._read(picked)
            places = zip(ordinals, pieces.which.tolist(), pieces.starts.tolist(), picked.sizes.tolist(), strict=True)
            read = {ordinal: pieces.buffers[at][start : start + size] for ordinal, at, start, size in places}
            room = _KEPT - sum(map(len, read.values()))
            for ordinal, piece in reversed(kept.items()):
                room -= len(piece)
                if room < 0:
                    break
                read.setdefault(ordinal, piece)
            self._kept = kept = read
        buffers = [kept[ordinal] for ordinal in ordinals]
        return FetchedRanges(buffers, np.arange(len(buffers), dtype=np.uint32), np.zeros(len(buffers), np.uint64))

    def nested_in(self, ordinal: int, begin: int, size: int, member: int) -> memoryview:
        """The block of a member in one super-block, which begins at `begin` and has `size` bytes."""
        self.expect(member)
        if self._whole is not None:
            whole = self._of_whole(begin + size)[begin : begin + size]
        elif ordinal in self._kept:
            whole = self._kept[ordinal]
        else:
            whole = self._stretch(begin, begin + size)
            if not self._is_mapped:
                self._kept = {ordinal: whole}
        if self._known is None:
            self._learn(whole[:_BEGINNING])
        sizes = self._sizes[ordinal]
        if not sizes[0]:
            with located(block=ordinal):
                sizes[:] = decode_super_block(whole, self.members, size, verify=self._verify)
        self._check_member(member)
        start = self._header + int(sizes[:member].sum(dtype=np.uint64))
        return whole[start : start + sizes.item(member)]

    @property
    def _is_mapped(self) -> bool:
        return self._artifact.store.capabilities.mappable

    def _read_headers(self, picked: PickedBlocks) -> None:
        """Read the headers of super-blocks that are not known yet."""
        unknown = self._unknown(picked)
        if not len(unknown.ordinals):
            return
        if self._whole is not None:
            self._parse(unknown, self._read(unknown))
            return
        self._parse(unknown, self._ranges(unknown.begins, np.minimum(unknown.sizes, np.uint64(self._header))))

    def _unknown(self, picked: PickedBlocks) -> PickedBlocks:
        at = np.flatnonzero(self._sizes[picked.ordinals.astype(np.int64), 0] == 0)
        return PickedBlocks(picked.ordinals[at], picked.begins[at], picked.sizes[at], picked.counts[at])

    def _parse(self, picked: PickedBlocks, pieces: FetchedRanges) -> None:
        """Note the sizes that headers state. `pieces` are the super-blocks, or their headers."""
        if self._known is None and len(picked.ordinals):
            first = pieces.starts.item(0)
            self._learn(pieces.buffers[pieces.which.item(0)][first : first + _BEGINNING])
        known = self._sizes[picked.ordinals.astype(np.int64), 0] != 0
        for at in np.flatnonzero(~known).tolist():
            ordinal, size, start = picked.ordinals.item(at), picked.sizes.item(at), pieces.starts.item(at)
            header = pieces.buffers[pieces.which.item(at)][start : start + min(size, self._header)]
            begin = self._buffer.start + picked.begins.item(at)
            with located(url=self._artifact.url, range=f"{begin}..{begin + size}", block=ordinal):
                self._sizes[ordinal] = decode_super_block(header, self.members, size, verify=self._verify)

    def _check_member(self, member: int) -> None:
        if member >= self.members:
            raise CorruptedData(f"packed_group_index: expected less than {self.members}, found {member}")

    def _places(self, picked: PickedBlocks, member: int) -> tuple[U64, U64]:
        """Where the blocks of a member begin in the buffer, and their sizes."""
        self._check_member(member)
        sizes = self._sizes[picked.ordinals.astype(np.int64)]
        before = sizes[:, :member].sum(axis=1, dtype=np.uint64)
        return picked.begins + np.uint64(self._header) + before, sizes[:, member].astype(np.uint64)


class MemberBlocks(BlockBuffer):
    """The blocks of one member of a packed group.

    The block map is that of the group: a block is found by its super-block.

    Parameters
    ----------
    member
        The number of the member's block in each super-block.
    unit
        How many positions a value of the member stands for.
    """

    _OPENS_ONE: ClassVar = False  # reading blocks keeps the headers of their super-blocks

    def __init__(
        self,
        group: SuperBlocks,
        descriptor: EncodedBuffer,
        member: int,
        values: int,
        unit: int = 1,
        *,
        is_metered: bool = False,
    ) -> None:
        self._group = group
        self._member = member
        self._unit = unit
        self._descriptor = descriptor
        self._artifact = group._artifact
        self._verify = group._verify
        self._is_metered = is_metered
        self._buffer = group._buffer
        self.values = values
        self.limits = group.limits
        self._read_dictionary = None

    @lazy
    def block_map(self) -> BlockMap:
        """The map of the super-blocks, with the number of the member's values in each."""
        found = self._group.block_map
        if self._unit == 1:
            return found
        if (found.values[:-1] % np.uint64(self._unit)).any():
            raise CorruptedData(f"packed group: expected super-blocks of whole {self._unit} positions, found others")
        ends = -(-found.values.astype(np.int64) // self._unit)
        payload = encode_block_map(np.diff(ends), np.diff(found.offsets))
        return decode_block_map(payload, data_size=self._buffer.size, expected_values=self.values)

    @property
    def size(self) -> int:
        """Bytes of the member's blocks. Reads the headers of the super-blocks."""
        return int(self.block_places()[1].sum())

    def keep(self, whole: memoryview) -> None:
        """Keep the bytes of the whole group, which were read together with its neighbours."""
        self._group.keep(whole)

    def _read_whole(self, values: int) -> None:
        self._group._read_whole(values * self._unit)

    def stretch(self, first: int, last: int) -> tuple[_kernels.Blocks, memoryview, int] | None:
        """The block that holds `first..last`, its bytes, and the slot of the first; None if there are several."""
        if "block_map" not in self.__dict__:
            self._read_whole(last - first)
        try:
            found = self.block_map.block_of(first, last)
            if found is None or found[3] - found[2] > RUN_BYTES:
                return None
            block, slot, begin, end, count = found
            if self._is_metered:
                count_blocks(1)
            view = self._group.nested_in(block, begin, end - begin, self._member)
            checksums = self._descriptor.block_checksums
            return _kernels.Blocks.one(view, count, checksums, self._verify, block), view, slot
        except AmudaiError as error:
            error.locate(url=self._artifact.url)
            raise

    def whole_blocks(self, starts: U64, ends: U64) -> tuple[U64, U64]:  # noqa: ARG002
        """No range has whole blocks that could be copied as they are."""
        return np.zeros(len(starts), np.uint64), np.zeros(len(starts), np.uint64)

    def block_sizes(self, ordinals: U64) -> U64:
        """Bytes of each of these blocks."""
        return self._group.nested(self._picked(ordinals), self._member)[1]

    def block_places(self) -> tuple[U64, U64]:
        """Where all blocks begin in the buffer of the group, and their sizes in bytes."""
        return self._group.member_places(self._member)

    def all_blocks(self, at_once: int = 4096) -> Iterator[_kernels.Blocks]:
        """Every block, opened and verified, `at_once` blocks at a time."""
        for low in range(0, self.block_map.block_count, at_once):
            high = min(low + at_once, self.block_map.block_count)
            yield self._open(self._picked(np.arange(low, high, dtype=np.uint64)))[0]

    def check_padding(self) -> None:
        """Nothing: the padding of the buffer belongs to the group."""

    def _open(self, picked: PickedBlocks) -> tuple[_kernels.Blocks, list[memoryview]]:
        with located(url=self._artifact.url):
            pieces, sizes = self._group.nested(picked, self._member)
        return self._in_pieces(picked, pieces, sizes)
