"""Blocks for kernels that must not trust them: made by the oracle, broken, and read into memory that is watched."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai import _kernels
from amudai.encoding import Ranges, decode
from amudai.encoding.buffer import Run, _spans
from tests.oracle.block import checksum

GUARD = 64
_MARK = 0xA5


class Watched:
    """Stands in for `decode._allocate`: memory of exactly the right size, and bytes behind it that nobody may touch."""

    def __init__(self) -> None:
        self._made: list[tuple[npt.NDArray[np.uint8], int]] = []

    def __call__(self, count: int, dtype: str) -> tuple[pa.Buffer, npt.NDArray[Any]]:
        size = count * int(dtype[1])
        memory = np.full(size + GUARD, _MARK, np.uint8)
        self._made.append((memory, size))
        return pa.py_buffer(memory[:size]), memory[:size].view(dtype)

    def check(self) -> None:
        """Nothing was written behind the end of anything."""
        for memory, size in self._made:
            assert (memory[size:] == _MARK).all(), f"bytes written behind the {size} that were allocated"
        self._made.clear()


class Held:
    """Blocks in memory of exactly their size, in place of a `BlockBuffer`; nothing but the kernels checks them."""

    def __init__(self, *blocks: tuple[int, bytes], checksums: bool = True) -> None:
        self.counts = [count for count, _ in blocks]
        self._blocks = [data for _, data in blocks]
        self._checksums = checksums

    def runs(self, ranges: Ranges, unit: int = 1) -> Iterator[Run]:
        """All blocks as one run."""
        if not len(ranges):
            return
        ends = np.cumsum([0, *self.counts], dtype=np.uint64)
        block, first, count = _spans(ends, ranges, unit)
        used, index = np.unique(block, return_inverse=True)
        # One array for each block: what lies behind it is not ours.
        buffers = [memoryview(np.frombuffer(self._blocks[at], np.uint8).copy()) for at in used]
        blocks = _kernels.Blocks(
            buffers,
            np.arange(len(used), dtype=np.uint32),
            np.zeros(len(used), np.uint64),
            np.array([len(buffer) for buffer in buffers], np.uint64),
            np.array([self.counts[at] for at in used], np.uint64),
            used.astype(np.uint64),
            self._checksums,
            True,
        )
        spans = index.astype(np.uint32), first.astype(np.uint32), count.astype(np.uint32)
        yield Run(blocks, buffers, *spans, int(count.sum()))


def sealed(block: bytes) -> bytes:
    """The block with the checksum that its bytes have now; what a writer with bad intentions would store."""
    content = block[:-4]
    return content + checksum(content).to_bytes(4, "little")


def changed(data: bytes, at: int, layout: str, *values: int) -> bytes:
    """`data` with numbers put in at `at`, as `struct` spells them."""
    new = struct.pack("<" + layout, *values)
    return data[:at] + new + data[at + len(new) :]


def numbers(held: Held, ranges: Ranges, dtype: str) -> list[int | None]:
    """Values of a numeric block as the oracle gives them: floats as bit patterns, None for nulls."""
    found = decode.decode_numbers(held, ranges, dtype)  # type: ignore[arg-type]
    stored = found.numbers(f"u{dtype[1]}" if dtype[0] == "f" else dtype).tolist()
    valid = found.valid()
    return stored if valid is None else [v if here else None for v, here in zip(stored, valid, strict=True)]


def binaries(held: Held, ranges: Ranges, fixed_size: int | None, *, wide: bool = False) -> list[bytes | None]:
    """Values of a block of bytes as the oracle gives them."""
    if fixed_size is None:
        found = decode.decode_variable(held, ranges, text=False, wide=wide)  # type: ignore[arg-type]
        offsets = np.frombuffer(found.offsets, np.int64 if wide else np.int32).tolist()
    else:
        found = decode.decode_fixed(held, ranges, fixed_size)  # type: ignore[arg-type]
        offsets = [at * fixed_size for at in range(found.length + 1)]
    data, valid = bytes(found.data), found.valid()
    values = [data[start:end] for start, end in pairwise(offsets)]
    return values if valid is None else [v if here else None for v, here in zip(values, valid, strict=True)]
