"""Blocks for kernels that must not trust them: made by the oracle, broken, and read into memory that is watched."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from amudai import _kernels
from amudai.encoding import decode
from amudai.encoding.buffer import BlockRun
from amudai.encoding.shared import SharedDecoder
from amudai.errors import AmudaiError
from amudai.format import BlockMap, SharedDictionary, decode_block_map, encode_block_map
from amudai.limits import DEFAULT_LIMITS, Limits
from amudai.rows import Rows
from tests import effort
from tests.oracle import codec
from tests.oracle.block import checksum

GUARD = 64
_MARK = 0xA5

MEMORY = 256 * 1024 * 1024
SECONDS = 10  # a loop without an end, not a slow machine


class Watched:
    """Stands in for `decode.allocate`: memory of exactly the right size, then guard bytes that must not change."""

    def __init__(self) -> None:
        self._made: list[tuple[npt.NDArray[np.uint8], int]] = []

    def __call__(self, count: int, dtype: str, _: Limits = DEFAULT_LIMITS) -> tuple[pa.Buffer, npt.NDArray[Any]]:
        size = count * int(dtype[1])
        memory = np.full(size + GUARD, _MARK, np.uint8)
        self._made.append((memory, size))
        return pa.py_buffer(memory[:size]), memory[:size].view(dtype)

    def check(self) -> None:
        """Check that nothing was written past the end of any allocation."""
        for memory, size in self._made:
            assert (memory[size:] == _MARK).all(), f"bytes written behind the {size} that were allocated"
        self._made.clear()


class Held:
    """Blocks in memory of exactly their size, in place of a `BlockBuffer`; nothing but the kernels checks them."""

    limits = DEFAULT_LIMITS
    shared = SharedDecoder(SharedDictionary(memoryview(codec.DICTIONARY), codec.DICTIONARY_CHECKSUM))
    may_inflate = False

    def __init__(self, *blocks: tuple[int, bytes], checksums: bool = True) -> None:
        self.counts = [count for count, _ in blocks]
        self._blocks = [data for _, data in blocks]
        self._checksums = checksums

    def _places(self) -> BlockMap:
        # Of which sizes does not matter here: some are less than any map allows.
        return decode_block_map(encode_block_map(self.counts, [8] * len(self.counts)), data_size=8 * len(self.counts))

    def stretch(self, first: int, last: int) -> tuple[_kernels.Blocks, memoryview, int]:
        """The blocks of neighbours, in memory of exactly their size together."""
        found = self._places().stretch(first, last, 1 << 30)
        assert found is not None
        block, slot, _, _, _, counts = found
        used = self._blocks[block : block + len(counts)]
        view = memoryview(np.frombuffer(b"".join(used), np.uint8).copy())
        sizes = np.array([len(data) for data in used], np.uint64)
        return self._sharing(_kernels.Blocks.stretch(view, block, sizes, counts, self._checksums, True)), view, slot

    def _sharing(self, blocks: _kernels.Blocks) -> _kernels.Blocks:
        blocks.share(codec.DICTIONARY, codec.DICTIONARY_CHECKSUM)
        return blocks

    def runs(self, ranges: Rows, unit: int = 1) -> Iterator[BlockRun]:
        """All blocks as one run."""
        if not ranges:
            return
        used, *_, index, first, count, slots = self._places().spans(*ranges.arrays, unit)
        # One array for each block: what lies behind it is not ours.
        buffers = [memoryview(np.frombuffer(self._blocks[at], np.uint8).copy()) for at in used]
        blocks = _kernels.Blocks(
            buffers,
            np.arange(len(used), dtype=np.uint32),
            np.zeros(len(used), np.uint64),
            np.array([len(buffer) for buffer in buffers], np.uint64),
            np.array([self.counts[at] for at in used], np.uint64),
            used,
            self._checksums,
            True,
        )
        yield BlockRun(self._sharing(blocks), buffers, index, first, count, slots)


def sealed(block: bytes) -> bytes:
    """The block with a correct checksum of its current bytes, as a malicious writer would store it."""
    content = block[:-4]
    return content + checksum(content).to_bytes(4, "little")


def changed(data: bytes, at: int, layout: str, *values: int) -> bytes:
    """`data` with numbers put in at `at`, as `struct` spells them."""
    new = struct.pack("<" + layout, *values)
    return data[:at] + new + data[at + len(new) :]


def numbers(held: Held, ranges: Rows, dtype: str) -> list[int | None]:
    """Values of a numeric block as the oracle gives them: floats as bit patterns, None for nulls."""
    found = decode.decode_numbers(held, ranges, dtype)  # type: ignore[arg-type]
    stored = found.numbers(f"u{dtype[1]}" if dtype[0] == "f" else dtype).tolist()
    valid = found.valid()
    return stored if valid is None else [v if here else None for v, here in zip(stored, valid, strict=True)]


def binaries(held: Held, ranges: Rows, fixed_size: int | None, *, wide: bool = False) -> list[bytes | None]:
    """Values of a block of bytes as the oracle gives them."""
    few = None
    if fixed_size is None:
        if ranges.num_ranges == 1:
            with suppress(AmudaiError):  # which the other way finds, too
                few = decode.decode_few_bytes(held, ranges.starts.item(0), ranges.ends.item(0))  # type: ignore[arg-type]
        found = decode.decode_variable(held, ranges, text=False, wide=wide)  # type: ignore[arg-type]
        offsets = np.frombuffer(found.offsets, np.int64 if wide else np.int32).tolist()
    else:
        found = decode.decode_fixed(held, ranges, fixed_size)  # type: ignore[arg-type]
        offsets = [at * fixed_size for at in range(found.length + 1)]
    data, valid = bytes(found.data), found.valid()
    values = [data[start:end] for start, end in pairwise(offsets)]
    if few is not None:
        assert valid is None
        assert [few[1][start:end].tobytes() for start, end in pairwise(few[0].tolist())] == values
    return values if valid is None else [v if here else None for v, here in zip(values, valid, strict=True)]


# ---- breaking ----

_HOSTILE = (0, 1, 2, 3, 7, 8, 16, 63, 64, 65, 127, 128, 255, 256, 1024, 65535, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)

Edit = tuple[str, int, int]

# What is done, where (from the start, as far as the bytes go), and with which number.
EDITS: st.SearchStrategy[list[Edit]] = st.lists(
    st.tuples(
        st.sampled_from(["flip", "byte", "number", "cut", "insert", "copy"]),
        st.integers(0, 63) | st.integers(0, 1 << 16),
        st.sampled_from(_HOSTILE) | st.integers(0, 255),
    ),
    max_size=4,
)


def edited(data: bytes, edits: list[Edit]) -> bytes:
    """The bytes after all edits."""
    for kind, place, number in edits:
        at = place % max(1, len(data))
        match kind:
            case "flip":
                data = data[:at] + bytes(byte ^ 1 << number % 8 for byte in data[at : at + 1]) + data[at + 1 :]
            case "byte":
                data = data[:at] + bytes([number % 256]) + data[at + 1 :]
            case "number":
                data = data[:at] + number.to_bytes(4, "little") + data[at + 4 :]
            case "cut":
                data = data[:at] + data[at + number % 40 :]
            case "insert":
                data = data[:at] + number.to_bytes(8, "little")[: 1 + number % 8] + data[at:]
            case "copy":
                data = data[:at] + data[number : number + 8] + data[at + 8 :]
    return data


def examples(count: int) -> settings:
    """Settings of a test that tries `count` damaged blocks at the default effort."""
    return effort.examples(count, suppress_health_check=[HealthCheck.function_scoped_fixture])


# ---- measuring ----


@contextmanager
def bounded() -> Iterator[None]:
    """Neither much memory nor much work of this thread."""
    before, started = _resident("VmRSS"), time.thread_time()
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    except OSError:
        before = MEMORY**2
    yield
    assert _resident("VmHWM") - before < MEMORY, "more memory than the block can justify"
    assert time.thread_time() - started < SECONDS


def _resident(name: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(name)), 0)
