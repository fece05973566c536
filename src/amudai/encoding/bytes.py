"""Encoding a stream of strings or other bytes into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.binary.choice import (
    BytesBlock,
    BytesChoice,
    EncodedBlock,
    choose_bytes,
    decoding_time,
    encode_region,
    lz4_blocks,
)
from amudai.encoding.binary.lz4 import LZ4
from amudai.encoding.binary.plain import PLAIN
from amudai.encoding.binary.shared_choice import TRAINING_BYTES, choose_shared
from amudai.encoding.block_ends import BlockEnds, NextEnd
from amudai.encoding.codec import KERNEL_LEVELS
from amudai.encoding.memory import COLUMN_MEMORY, ColumnMemory
from amudai.encoding.prepared import PreparedBuffer
from amudai.encoding.profile import Profile
from amudai.encoding.shared_encoder import SharedEncoder
from amudai.format import BufferKind
from amudai.storage import Spool
from amudai.threads import Each, one_by_one

__all__ = ["BytesEncoder", "block_rows", "cut"]

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
# Slots of one batch are written at once if they are up to this many times those of a flush.
_AT_ONCE: Final = 4
# About as many calls encode the blocks of a flush.
_SHARES: Final = 16

Bools = npt.NDArray[np.bool_]
U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]


class _Span(NamedTuple):
    """The slots of a block: the number of their run, and their places in it."""

    run: int
    start: int
    end: int


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
        # Slots that are written at once are not copied, so they may be more than those that wait.
        for start, end in cut(whole, self._fixed, _AT_ONCE * FLUSH_SLOTS, _AT_ONCE * self._most, self._most):
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
        runs = self._runs()
        if self._choice is None or self._waits:
            self._begin(runs[0], final)
        at = [0] * len(runs)
        counts, blocks = [], []
        while spans := self._spans(runs, at, final):
            choice = self._choice
            assert choice is not None
            for span, encoded in zip(spans, self._encoded(runs, spans, choice), strict=True):
                blocks.append(self._block(runs[span.run], span, encoded))
                counts.append(span.end - span.start)
                at[span.run] = span.end
                if self._choice is not None and not self._choice.is_like(choice):
                    break  # the blocks behind this one are others
        data = b"".join(blocks)
        start = self._spool.append(data)
        sizes = np.array([len(block) for block in blocks], np.uint32)
        self._buffer.add(start, start + len(data), np.array(counts, np.uint32), sizes)
        rest = _part(runs[-1], at[-1], runs[-1].count, self._fixed)
        self._staged = [rest] if rest.count else []
        self._count, self._bytes = rest.count, len(rest.content)

    def _begin(self, run: BytesBlock, final: bool) -> None:
        """Make the first choice."""
        if self._choice is None:
            first = _part(run, 0, min(self._rows(run, 0), run.count), self._fixed)
            measured = self._measured
            is_same = measured is not None and measured[0] == first.count
            self._choice = measured[1] if measured is not None and is_same else self._choose(first)
        if self._waits:
            self._waits = False
            # The first block may be an exception, so another one in the middle has a say.
            middle = run.count // 2
            other = self._choose(_part(run, middle, min(middle + self._rows(run, middle), run.count), None))
            found = choose_shared(run, final, (self._choice, other), self._profile)
            if found is not None:
                self._shared, self._choice = found.encoder, found.choice

    def _runs(self) -> list[BytesBlock]:
        """The staged slots as one run.

        They are two runs if less than a block is left of earlier slots. Only the slots that fill this block are joined
        with it, because joining all would copy them.
        """
        *before, last = self._staged
        count = sum(each.count for each in before)
        if before and self._choice is not None and self._ends is None and not self._waits:
            more = self._rows(last, 0) - count
            if last.offsets is not None and len(last.content) > _LONG * last.count:
                room = self._profile.text_bytes // self._choice.divisor - sum(len(each.content) for each in before)
                more = int(np.searchsorted(last.offsets, last.offsets[0] + room, "right")) - 1
            if 0 < more < last.count:
                first = _joined([*before, _part(last, 0, more, self._fixed)], self._fixed)
                return [first, _part(last, more, last.count, self._fixed)]
        return [_joined(self._staged, self._fixed)]

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

    def _spans(self, runs: list[BytesBlock], at: list[int], final: bool) -> list[_Span]:
        """The slots of the next blocks. What does not fill one waits for more, unless this is final."""
        found = []
        for number, (run, start) in enumerate(zip(runs, at, strict=True)):
            cuts = self._cuts(run, start, final or number + 1 < len(runs))
            found += [_Span(number, first, end) for first, end in pairwise(cuts)]
        return found

    def _cuts(self, run: BytesBlock, at: int, final: bool) -> list[int]:
        """Where blocks from `at` on begin and end."""
        cuts, rows = [at], 0
        # Blocks of long values are limited by bytes.
        is_even = self._ends is None and (run.offsets is None or len(run.content) <= _LONG * run.count)
        while cuts[-1] < run.count:
            rows = rows if rows and is_even else self._rows(run, cuts[-1])
            end = cuts[-1] + rows
            is_full = end <= run.count if is_even else end < run.count
            if not is_full and not final and cuts[-1]:
                break
            cuts.append(min(end, run.count))
        return cuts

    def _encoded(self, runs: list[BytesBlock], spans: list[_Span], choice: BytesChoice) -> list[EncodedBlock | None]:
        """The blocks of `spans`, perhaps made on several threads. None for values that the choice does not suit."""
        is_lz4 = runs[0].offsets is not None and choice.encoding is LZ4 and choice.level in KERNEL_LEVELS
        # One call makes several blocks of LZ4. Threads can share the calls.
        most = -(-len(spans) // _SHARES) if is_lz4 else 1
        shares: list[list[_Span]] = []
        for span in spans:
            if shares and len(shares[-1]) < most and shares[-1][0].run == span.run:
                shares[-1].append(span)
            else:
                shares.append([span])
        bits = [_packed(run.valid) if is_lz4 else None for run in runs]
        done: list[list[EncodedBlock | None]] = [[] for _ in shares]

        def encode(index: int) -> None:
            share = shares[index]
            number = share[0].run
            if is_lz4:
                cuts = [share[0].start, *(span.end for span in share)]
                done[index] = lz4_blocks(runs[number], cuts, bits[number], choice.level, self._profile)
            else:
                block = _part(runs[number], share[0].start, share[0].end, self._fixed)
                done[index] = [self._encoded_block(block, choice)]

        self._each(encode, len(shares))
        return [each for share in done for each in share]

    def _encoded_block(self, block: BytesBlock, choice: BytesChoice) -> EncodedBlock | None:
        shared = self._shared if choice.encoding.needs_dictionary else None
        region = encode_region(block, choice.encoding, choice.level, self._profile, shared)
        if region is None:
            return None
        presence = b""
        if block.valid is not None and not block.valid.all():
            presence = _kernels.presence_section(np.packbits(block.valid, bitorder="little"), 0, block.count)
        return EncodedBlock(_kernels.build_block(presence, region, True), len(region))

    def _block(self, run: BytesBlock, span: _Span, encoded: EncodedBlock | None) -> bytes | memoryview:
        """A block that was encoded by the choice for the column. It gets another choice if it must."""
        choice, count = self._choice, span.end - span.start
        assert choice is not None
        drifted = encoded is None or encoded.values > _DRIFT * choice.bytes_per_slot * count + 256
        # A block with hardly any bytes says nothing about the next blocks.
        undecided = not self._profile.plain and choice.bytes_per_slot == float("inf")
        drifted = drifted and choice.encoding is not PLAIN
        block = _part(run, span.start, span.end, self._fixed) if undecided or drifted or encoded is None else None
        if block is not None and (undecided or drifted):
            usual, choice = choice, self._choose(block)
            if encoded is not None and choice.encoding is usual.encoding:
                self._choice = replace(usual, bytes_per_slot=choice.bytes_per_slot)
            else:
                self._drifts += 1
                if undecided or self._drifts > _EXCEPTIONS:
                    self._choice, self._drifts = choice, 0
                encoded = self._encoded_block(block, choice)
        if encoded is None and block is not None:
            encoded = self._encoded_block(block, BytesChoice(PLAIN, 0, 0.0, 0.0))
        assert encoded is not None
        return encoded.block

    def _rows(self, staged: BytesBlock, at: int) -> int:
        """The number of rows of the block that begins at `at`."""
        return staged.count - at if self._ends is not None else block_rows(staged, at, self._profile, self._choice)


def block_rows(slots: BytesBlock, at: int, profile: Profile, choice: BytesChoice | None = None) -> int:
    """The number of rows of a block that begins at slot `at`. There may be fewer slots than that."""
    divisor = 1 if choice is None else choice.divisor
    target = profile.text_bytes // divisor
    average = max(1.0, len(slots.content) / slots.count)
    if average <= _LONG or slots.offsets is None:
        step = _STEP if divisor == 1 or not _of_one_size(slots) else _SMALL_STEP
        if choice is not None and choice.encoding.needs_dictionary:
            step = _PATCHED_STEP
        steps = max(1, round(target / average / step))
        return int(min(steps * step, profile.text_rows))
    limit = slots.offsets[at] + target
    return max(1, int(np.searchsorted(slots.offsets, limit, "right")) - 1 - at)


def _packed(valid: Bools | None) -> U8 | None:
    return None if valid is None else np.packbits(valid, bitorder="little")


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


def cut(
    block: BytesBlock, fixed: int | None, most_slots: int, most_bytes: int, large: int | None = None
) -> Iterator[tuple[int, int]]:
    """Split a block into parts of at most `most_slots` slots and `most_bytes` bytes.

    A slot of more than `most_bytes` is a part of its own, and so is one of `large` bytes or more.
    """
    edges = [0, block.count]
    if large is not None and block.offsets is not None and len(block.content) >= large:
        alone = np.flatnonzero(np.diff(block.offsets) >= large)
        edges = np.unique(np.concatenate((edges, alone, alone + 1))).tolist()
    for start, last in pairwise(edges):
        while start < last:
            end = min(last, start + most_slots)
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
