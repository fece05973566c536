"""Comparing values inside their blocks.

The kernels walk blocks as they do for `decode.py`, but return no values: only one bit for each position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.buffer import BlockBuffer
from amudai.encoding.decode import allocate, inflate
from amudai.rows import Rows

__all__ = ["ByteKeys", "NumberRanges", "Wanted", "compare_bytes", "compare_numbers"]

Bitmap: TypeAlias = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class NumberRanges:
    """Ranges of numbers, from `low[i]` to `high[i]` inclusive. The arrays have the stored type."""

    low: npt.NDArray[Any]
    high: npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class ByteKeys:
    """Values that equal one of the keys, as stored bytes, or, with `prefixes`, begin with one."""

    keys: tuple[bytes, ...]
    prefixes: bool = False


Wanted: TypeAlias = NumberRanges | ByteKeys


def compare_numbers(buffer: BlockBuffer, rows: Rows, wanted: NumberRanges, *, inverted: bool) -> Bitmap:
    """A bit for each position: whether the number is in `wanted` or, if `inverted`, is not. The bit of a null is 0."""
    bits = _bitmap(rows)
    done = 0
    for run in buffer.runs(rows):
        inflate(run.blocks, run.buffers, _kernels.numeric_frames(run.blocks, wanted.low.dtype.str[1:]))
        _kernels.compare_numbers(
            run.blocks, run.block, run.first, run.count, wanted.low, wanted.high, inverted, bits, done
        )
        done += run.slots
    return bits


def compare_bytes(
    buffer: BlockBuffer, rows: Rows, wanted: ByteKeys, *, fixed_size: int | None, inverted: bool
) -> Bitmap:
    """Like `compare_numbers`, for strings and bytes. `fixed_size` is the size of all values, if they have one."""
    bits = _bitmap(rows)
    offsets, keys = _joined(wanted.keys)
    done = 0
    for run in buffer.runs(rows):
        inflate(run.blocks, run.buffers, _kernels.binary_frames(run.blocks, fixed_size))
        if fixed_size is None:
            sizes = np.empty(len(run.blocks), np.uint64)
            _kernels.payload_sizes(run.blocks, sizes)
            inflate(run.blocks, run.buffers, _kernels.payload_frames(run.blocks, sizes))
        _kernels.compare_bytes(
            run.blocks,
            run.block,
            run.first,
            run.count,
            fixed_size,
            offsets,
            keys,
            wanted.prefixes,
            inverted,
            bits,
            done,
        )
        done += run.slots
    return bits


def _bitmap(rows: Rows) -> Bitmap:
    return allocate((rows.count + 7) // 8, "u1")[1]


def _joined(keys: Sequence[bytes]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8]]:
    offsets = np.cumsum([0, *map(len, keys)], dtype=np.uint64)
    return offsets, np.frombuffer(b"".join(keys), np.uint8)
