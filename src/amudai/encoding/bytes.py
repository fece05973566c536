"""Encoding a stream of strings or other bytes into blocks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.binary.choice import BytesBlock, BytesChoice, choose_bytes, decoding_time, encode_region
from amudai.encoding.binary.plain import PLAIN
from amudai.encoding.binary.shared_choice import TRAINING_BYTES, choose_shared
from amudai.encoding.block_ends import BlockEnds, NextEnd
from amudai.encoding.memory import COLUMN_MEMORY, ColumnMemory
from amudai.encoding.prepared import PreparedBuffer
from amudai.encoding.profile import Profile
from amudai.encoding.shared_encoder import SharedEncoder
from amudai.format import BufferKind
from amudai.storage import Spool
from amudai.threads import Each, one_by_one

__all__ = ["BytesEncoder", "cut"]

FLUSH_SLOTS: Final = 65_536
_TRAINING_SLOTS: Final = 4 * FLUSH_SLOTS  # the most that wait until a dictionary is trained
# A block that is larger than expected by this factor gets a choice of its own. If that is the same, larger blocks are
# expected from there on. Otherwise the block may be an exception, as are a large value and the short block before it.
# The next such block after two exceptions decides for the blocks behind it.
_DRIFT: Final = 1.15
_EXCEPTIONS: Final = 2
# Blocks of values longer than this are limited by bytes alone.
_LONG: Final = 256
_STEP: Final = 1024  # a bit-packed chunk: offsets of whole chunks waste nothing
_SMALL_STEP: Final = 256  # if offsets take no bytes
_PATCHED_STEP: Final = 32  # if offsets are not packed in whole chunks
_FEW: Final = 64

Bools = npt.NDArray[np.bool_]
U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]


class BytesEncoder:
    """Encodes strings, binaries or values of a fixed size into blocks, one flush at a time.

    With `ends`, a flush is one block, and ends there. `measured` is a choice that was already made for the first slots,
    and the number of these slots. It holds if the first block has the same slots.
    """

    def __init__(
        self,
        fixed_size: int | None,
        profile: Profile,
        spool: Spool,
        buffer: PreparedBuffer,
        memory: ColumnMemory = COLUMN_MEMORY,
        each: Each = one_by_one,
        ends: BlockEnds | None = None,
        measured: tuple[int, BytesChoice] | None = None,
    ) -> None:
        self._fixed = fixed_size
        self._ends = None if ends is None else NextEnd(ends)
        self._each = each
        self._profile = profile
        self._spool = spool
        self._buffer = buffer
        self._staged: list[BytesBlock] = []
        self._count = self._bytes = 0
        self._choice: BytesChoice | None = None
        self._measured = measured
        self._drifts = 0
        self._most = max(memory.staged, profile.text_bytes) if memory.staged == ColumnMemory().staged else memory.staged
        self._shared: SharedEncoder | None = None
        # Before the first flush, text waits until a dictionary can be trained with it.
        self._waits = profile.extended and not profile.plain and fixed_size is None and ends is None
        self._training = max(self._most, min(TRAINING_BYTES, memory.entries // 4))

    def append(self, offsets: npt.NDArray[np.integer] | None, data: U8, count: int, valid: Bools | None = None) -> None:
        """Append `count` slots. Null slots are empty, or zero bytes of the fixed size."""
        if count == 0:
            return
        whole = BytesBlock(None if offsets is None else offsets, data, count, valid)
        if self._ends is not None:
            self._append_to_ends(whole, self._ends)
            return
        for start, end in cut(whole, self._fixed, FLUSH_SLOTS, self._most):
            piece = _part(whole, start, end, self._fixed)
            if self._staged and piece.count == 1 and len(piece.content) >= self._most:
                self._flush(final=True)  # joining a large value with others would copy it
            self._staged.append(piece)
            self._count += piece.count
            self._bytes += len(piece.content)
            if self._is_full():
                self._flush(final=False)
        if self._staged:
            # A copy, so that the caller's arrays can be freed.
            self._staged[-1] = _copied(self._staged[-1])

    def _append_to_ends(self, whole: BytesBlock, ends: NextEnd) -> None:
        """Append slots to blocks whose ends are given."""
        count = ends.within(self._count + whole.count)
        if count is None:
            self._staged.append(_copied(_part(whole, 0, whole.count, self._fixed)))
            self._count += whole.count
            return
        staged, at = _joined([*self._staged, _part(whole, 0, whole.count, self._fixed)], self._fixed), 0
        while count is not None:
            self._staged = [_part(staged, at, at + count, self._fixed)]
            self._flush(final=True)
            at += count
            count = ends.within(staged.count - at)
        rest = _part(staged, at, staged.count, self._fixed)
        self._staged = [_copied(rest)] if rest.count else []
        self._count = rest.count

    def finish(self) -> PreparedBuffer:
        """Write the remaining slots and return the buffer."""
        if self._count:
            self._flush(final=True)
        return self._buffer

    def dictionary(self) -> PreparedBuffer | None:
        """The dictionary that the blocks share, if they do."""
        return (
            None if self._shared is None else PreparedBuffer(BufferKind.OPAQUE_DICTIONARY, whole=self._shared.buffer())
        )

    def estimate(self) -> float | None:
        """The expected bytes of a slot, according to the last choice."""
        return None if self._choice is None else self._choice.bytes_per_slot

    def _flush(self, final: bool) -> None:
        staged = _joined(self._staged, self._fixed)
        if self._choice is None:
            first = _part(staged, 0, min(self._rows(staged, 0), staged.count), self._fixed)
            measured = self._measured
            is_same = measured is not None and measured[0] == first.count
            self._choice = measured[1] if measured is not None and is_same else self._choose(first)
        if self._waits:
            self._waits = False
            # The first block may be an exception, so another one in the middle has a say.
            middle = staged.count // 2
            other = self._choose(_part(staged, middle, min(middle + self._rows(staged, middle), staged.count), None))
            found = choose_shared(staged, final, (self._choice, other), self._profile)
            if found is not None:
                self._shared, self._choice = found.encoder, found.choice
        at, counts, blocks = 0, [], []
        while parts := self._parts(staged, at, final):
            choice = self._choice
            regions = self._regions(parts, choice)
            for part in parts:
                blocks.append(self._block(part, regions.popleft()))
                counts.append(part.count)
                at += part.count
                if not self._choice.is_like(choice):
                    break  # the blocks behind this one are others
        data = b"".join(blocks)
        start = self._spool.append(data)
        sizes = np.array([len(block) for block in blocks], np.uint32)
        self._buffer.add(start, start + len(data), np.array(counts, np.uint32), sizes)
        rest = _part(staged, at, staged.count, self._fixed)
        self._staged = [rest] if rest.count else []
        self._count, self._bytes = rest.count, len(rest.content)

    def _is_full(self) -> bool:
        if self._waits:
            return self._count >= _TRAINING_SLOTS or self._bytes >= self._training
        return self._count >= FLUSH_SLOTS or self._bytes >= self._most

    def _choose(self, block: BytesBlock) -> BytesChoice:
        choice = choose_bytes(block, self._profile)
        usual = self._choice
        if self._shared is not None and usual is not None and usual.encoding.needs_dictionary:
            region = encode_region(block, usual.encoding, usual.level, self._profile, self._shared)
            if region is not None:
                size = len(region) / block.count
                cost = size + self._profile.price * decoding_time(block, usual.encoding, region)
                choice = replace(usual, bytes_per_slot=size, cost=cost) if cost < choice.cost else choice
        if choice.bytes_per_slot < float("inf") and choice.level != self._profile.slow_level:
            # Decided once for the column: even the trial takes long.
            self._profile = replace(self._profile, slow_level=0)
        return choice

    def _parts(self, staged: BytesBlock, at: int, final: bool) -> list[BytesBlock]:
        """The blocks from `at` on. What does not fill the last one waits for more, unless this is final."""
        parts: list[BytesBlock] = []
        while at < staged.count:
            rows = self._rows(staged, at)
            if at + rows > staged.count:
                if not final and at:
                    break
                rows = staged.count - at
            parts.append(_part(staged, at, at + rows, self._fixed))
            at += rows
        return parts

    def _regions(self, parts: list[BytesBlock], choice: BytesChoice) -> deque[bytes | None]:
        """The encoded values of each block, perhaps made on several threads."""
        regions: deque[bytes | None] = deque([None] * len(parts))

        def encode(index: int) -> None:
            regions[index] = self._region(parts[index], choice)

        self._each(encode, len(parts))
        return regions

    def _region(self, block: BytesBlock, choice: BytesChoice) -> bytes | None:
        shared = self._shared if choice.encoding.needs_dictionary else None
        return encode_region(block, choice.encoding, choice.level, self._profile, shared)

    def _block(self, block: BytesBlock, region: bytes | None) -> bytes:
        """A block whose values were encoded by the choice for the column. It gets another choice if it must."""
        choice = self._choice
        assert choice is not None
        drifted = region is None or len(region) > _DRIFT * choice.bytes_per_slot * block.count + 256
        # A block with hardly any bytes says nothing about the next blocks.
        undecided = not self._profile.plain and choice.bytes_per_slot == float("inf")
        drifted = drifted and choice.encoding is not PLAIN
        if undecided or drifted:
            usual, choice = choice, self._choose(block)
            if region is not None and choice.encoding is usual.encoding:
                self._choice = replace(usual, bytes_per_slot=choice.bytes_per_slot)
            else:
                self._drifts += 1
                if undecided or self._drifts > _EXCEPTIONS:
                    self._choice, self._drifts = choice, 0
                region = self._region(block, choice)
        if region is None:
            region = encode_region(block, PLAIN, 0, self._profile)
        assert region is not None
        presence = b""
        if block.valid is not None and not block.valid.all():
            presence = _kernels.presence_section(np.packbits(block.valid, bitorder="little"), 0, block.count)
        return _kernels.build_block(presence, region, True)

    def _rows(self, staged: BytesBlock, at: int) -> int:
        """The number of rows of the block that begins at `at`."""
        if self._ends is not None:
            return staged.count - at
        divisor = 1 if self._choice is None else self._choice.divisor
        target = self._profile.text_bytes // divisor
        average = max(1.0, len(staged.content) / staged.count)
        if average <= _LONG or staged.offsets is None:
            step = _STEP if divisor == 1 or not _of_one_size(staged) else _SMALL_STEP
            if self._choice is not None and self._choice.encoding.needs_dictionary:
                step = _PATCHED_STEP
            steps = max(1, round(target / average / step))
            return int(min(steps * step, self._profile.text_rows))
        limit = staged.offsets[at] + target
        return max(1, int(np.searchsorted(staged.offsets, limit, "right")) - 1 - at)


def _of_one_size(block: BytesBlock) -> bool:
    """Whether all slots have the same size: offsets take no bytes then."""
    if block.offsets is None:
        return True
    size = block.offsets[1] - block.offsets[0]
    # The first slots tell most blocks apart.
    return all((np.diff(part) == size).all() for part in (block.offsets[:_FEW], block.offsets))


def _joined(pieces: list[BytesBlock], fixed: int | None) -> BytesBlock:
    """The staged slots as one block."""
    if len(pieces) == 1:
        return _part(pieces[0], 0, pieces[0].count, fixed)
    count = sum(piece.count for piece in pieces)
    data = np.concatenate([piece.content for piece in pieces])
    valid = None
    if any(piece.valid is not None for piece in pieces):
        valid = np.concatenate([np.ones(p.count, np.bool_) if p.valid is None else p.valid for p in pieces])
    if fixed is not None:
        return BytesBlock(None, data, count, valid)
    lengths = np.concatenate([np.diff(piece.offsets) for piece in pieces if piece.offsets is not None])
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return BytesBlock(offsets, data, count, valid)


def cut(block: BytesBlock, fixed: int | None, most_slots: int, most_bytes: int) -> Iterator[tuple[int, int]]:
    """Split a block into parts of at most `most_slots` slots and `most_bytes` bytes.

    A slot larger than `most_bytes` is a part of its own.
    """
    start = 0
    while start < block.count:
        end = min(block.count, start + most_slots)
        if block.offsets is not None:
            limit = int(block.offsets[start]) + most_bytes
            if int(block.offsets[end]) > limit:
                found = int(np.searchsorted(block.offsets[: end + 1], limit, "right")) - 1
                end = max(start + 1, found)
        elif fixed:
            end = min(end, start + max(1, most_bytes // fixed))
        yield start, end
        start = end


def _part(block: BytesBlock, start: int, end: int, fixed: int | None) -> BytesBlock:
    valid = None if block.valid is None else block.valid[start:end]
    if block.offsets is None:
        size = fixed or 0
        return BytesBlock(None, block.data[start * size : end * size], end - start, valid)
    offsets = block.offsets[start : end + 1].astype(np.int64, copy=False)
    return BytesBlock(offsets, block.data, end - start, valid)


def _copied(block: BytesBlock) -> BytesBlock:
    valid = None if block.valid is None else block.valid.copy()
    if block.offsets is None:
        return BytesBlock(None, block.data.copy(), block.count, valid)
    return BytesBlock(block.offsets - block.offsets[0], block.content.copy(), block.count, valid)
