"""Runs of blocks for tests: opened by every kernel that this machine can run, and in a buffer of an artifact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from amudai.encoding import BlockBuffer
from amudai.format import BufferKind, DataRef, EncodedBuffer, SharedDictionary
from amudai.rows import Rows
from amudai.storage import Artifact, MemoryStore
from tests.kernel_modules import KERNELS
from tests.oracle import block_map, codec, presence

Span = tuple[int, int]
Frame = tuple[int, int, int, int, str]


@dataclass(frozen=True)
class Block:
    """A block as it is stored, and how many slots it has."""

    data: bytes
    count: int


class Opened:
    """A run of blocks in one of the kernel modules. The blocks lie in two buffers, at odd places in the second."""

    def __init__(self, kernels: ModuleType, blocks: Sequence[Block], *, checksums: bool = True) -> None:
        self.kernels = kernels
        buffers, which, starts = [bytearray(), bytearray(b"odd")], [], []
        for index, block in enumerate(blocks):
            which.append(index % 2)
            starts.append(len(buffers[index % 2]))
            buffers[index % 2] += block.data
        self.buffers = [memoryview(bytes(buffer)) for buffer in buffers]
        self.counts = [block.count for block in blocks]
        self.blocks = kernels.Blocks(
            self.buffers,
            np.array(which, np.uint32),
            np.array(starts, np.uint64),
            np.array([len(block.data) for block in blocks], np.uint64),
            np.array(self.counts, np.uint64),
            np.arange(len(blocks), dtype=np.uint64),
            checksums,
            True,
        )
        self.blocks.share(codec.DICTIONARY, codec.DICTIONARY_CHECKSUM)

    def inflate(self, frames: list[Frame]) -> None:
        """Give the run what its frames hold."""
        contents = [inflated(bytes(self.buffers[at][start:end]), size, name) for at, start, end, size, name in frames]
        self.blocks.add_inflated(frames, contents)

    def spans(self, ranges: Sequence[Span], unit: int = 1) -> tuple[npt.NDArray[Any], ...]:
        """Block, first slot and number of slots of each piece of the ranges."""
        ends = np.cumsum(self.counts) * unit
        begins = ends - np.array(self.counts) * unit
        starts, stops = edges(ranges)
        first, last = np.searchsorted(ends, starts, "right"), np.searchsorted(ends, stops - 1, "right")
        pieces = last - first + 1
        index = np.repeat(first, pieces) + _counted(pieces)
        at = np.maximum(np.repeat(starts, pieces), begins[index])
        count = np.minimum(np.repeat(stops, pieces), ends[index]) - at
        held = count > 0  # blocks without slots have no piece
        return tuple(column[held].astype(np.uint32) for column in (index, at - begins[index], count))


def inflated(frame: bytes, size: int, name: str) -> bytes:
    """What a frame holds that the codec of this name inflates."""
    if name.startswith("pco_"):
        dtype = name.removeprefix("pco_")
        return codec.pco_decompress(frame, size // int(dtype[1]), dtype)
    return codec.shared_zstd_decompress(frame, size) if name == "zstd_shared" else codec.zstd_decompress(frame, size)


class Spans(list[Span]):
    """Ascending ranges. Their edges are turned into arrays once: the same ranges are asked for many times."""

    @cached_property
    def edges(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        both = np.array(self, np.int64).reshape(-1, 2)
        return both[:, 0].copy(), both[:, 1].copy()


def edges(spans: Sequence[Span]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where each range starts, and where it ends."""
    return spans.edges if isinstance(spans, Spans) else Spans(spans).edges


def size_of(spans: Sequence[Span]) -> int:
    """How many positions the ranges have."""
    starts, ends = edges(spans)
    return int((ends - starts).sum())


def _counted(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """0, 1, 2 ... for each size, one after the other."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def open_all(blocks: Sequence[Block], *, checksums: bool = True) -> list[Opened]:
    """The run, opened by each of the kernel modules."""
    return [Opened(kernels, blocks, checksums=checksums) for kernels in KERNELS]


def touched(blocks: Sequence[Block], ranges: Sequence[Span]) -> tuple[list[Block], list[Span]]:
    """The blocks that hold positions of the ranges, and the ranges counted within these blocks only."""
    found: list[Block] = []
    moved: list[Span] = []
    start = at = 0
    for block in blocks:
        end = start + block.count
        here = [(max(first, start), min(last, end)) for first, last in ranges if first < end and last > start]
        if here:
            found.append(block)
            moved += [(first - start + at, last - start + at) for first, last in here]
            at += block.count
        start = end
    return found, moved


def buffer_of(
    blocks: Sequence[Block],
    *,
    segment_size: int = 1024,
    checksums: bool = True,
    verify: bool = True,
    values: int | None = None,
) -> BlockBuffer:
    """The blocks as a buffer of an artifact that lies in memory."""
    before = bytes(64)
    content = b"".join(block.data for block in blocks)
    content += bytes(-len(content) % 16)
    stored = block_map.encode([(block.count, len(block.data)) for block in blocks], segment_size)
    start, middle = len(before), len(before) + len(content)
    store = MemoryStore({"run": before + content + stored + b"behind"})
    descriptor = EncodedBuffer(
        kind=BufferKind.DATA,
        buffer=DataRef("", start, middle + len(stored)),
        block_map=DataRef("", middle, middle + len(stored)),
        block_count=len(blocks),
        block_checksums=checksums,
        embedded_presence=True,
        embedded_offsets=True,
        buffer_id=None,
        packed_group_index=None,
    )
    expected = sum(block.count for block in blocks) if values is None else values
    known = SharedDictionary(memoryview(codec.DICTIONARY), codec.DICTIONARY_CHECKSUM)
    return BlockBuffer(Artifact.open(store, "run"), descriptor, expected, verify, read_dictionary=lambda: known)


def patterns(counts: Sequence[int], rng: np.random.Generator) -> Iterator[tuple[str, Spans]]:
    """Ways to ask for some slots of blocks of these sizes; ranges ascend and do not touch."""
    ends = np.cumsum(counts).tolist()
    total, starts = ends[-1], [0, *ends[:-1]]
    yield "whole", Spans([(0, total)])
    yield "first", Spans([(0, 1)])
    yield "last", Spans([(total - 1, total)])
    yield "all but first", joined([(1, total)])
    yield "all but last", joined([(0, total - 1)])
    yield "middle", joined([(total // 3, total - total // 3)])
    yield "every second", Spans((at, at + 1) for at in range(0, total, 2))
    yield "now and then", Spans((at, at + 1) for at in range(total % 97, total, 97))
    yield "a few here and there", joined([(at, min(total, at + 1 + at % 6)) for at in range(0, total, 11)])
    yield "stretches far apart", joined([(at, min(total, at + 40)) for at in range(total % 13, total, 150)])
    yield "both ends of each block", joined([(s, s + 1) for s in starts] + [(e - 1, e) for e in ends])
    yield "inside each block", joined([(s + 1, e - 1) for s, e in zip(starts, ends, strict=True)])
    yield "across borders", joined([(max(0, e - 2), min(total, e + 3)) for e in ends])
    for turn in range(2):
        cuts = np.unique(rng.integers(0, total + 1, 2 * int(rng.integers(1, 30)))).tolist()
        yield f"random {turn}", joined(list(zip(cuts[::2], cuts[1::2], strict=False)))


def joined(ranges: Sequence[Span]) -> Spans:
    """Rows without the empty ones; those that touch or overlap become one."""
    found = Spans()
    for start, end in sorted(ranges):
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def ranges_of(spans: Sequence[Span]) -> Rows:
    """The same as the package spells it."""
    starts, ends = edges(spans)
    return Rows(starts.astype(np.uint64), ends.astype(np.uint64))


def positions_of(spans: Sequence[Span]) -> npt.NDArray[np.int64]:
    """Every single position."""
    starts, ends = edges(spans)
    return np.repeat(starts, ends - starts) + _counted(ends - starts)


def bits_to_bools(bitmap: Any, at: int, count: int) -> npt.NDArray[np.bool_]:
    """Bits `at .. at + count`, lowest first."""
    bits = np.unpackbits(np.frombuffer(bitmap, np.uint8), bitorder="little")
    return bits[at : at + count].astype(np.bool_)


# How a block says which of its slots hold a value: the kinds of section there are.
PRESENCE = ["none", "all null", "bytes", "roaring nulls", "roaring present", "runs of nulls", "runs of present"]


def presence_of(kind: str, count: int, rng: np.random.Generator) -> tuple[bytes, list[bool]]:
    """A presence section of this kind, and what it says."""
    if kind == "none":
        return b"", [True] * count
    if kind == "all null":
        return presence.encode([False] * count, presence.ALL_NULLS), [False] * count
    if kind.startswith("runs"):
        present = (np.arange(count) // int(rng.integers(1, 40)) % 2 == int(rng.integers(2))).tolist()
    else:
        present = (rng.random(count) < rng.choice([0.02, 0.5, 0.98])).tolist()
    if kind == "bytes":
        return presence.encode(present, presence.PLAIN), present
    negated, runs = kind.endswith("nulls"), kind.startswith("runs")
    return presence.encode(present, presence.ROARING, negated, runs), present
