"""Where blocks must end so that those of several buffers hold the same positions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["BlockEnds", "NextEnd"]

_CHUNK: Final = 1024  # a bit-packed chunk: blocks of whole chunks waste nothing
_BITS: Final = 8  # booleans and nulls are stored in whole bytes


@dataclass(slots=True, eq=False)
class BlockEnds:
    """The positions at which the blocks of a packed group end. All buffers of the group share them.

    The ends of a batch are known before its values are appended to the encoders. The last block ends with the buffers.

    Parameters
    ----------
    most_rows, most_bytes
        How many positions a block may have, and how many bytes their values may take before they are encoded. Blocks
        have at least 8 positions, whatever they take, and a multiple of 8: bits are stored in whole bytes.

    Examples
    --------
    >>> ends = BlockEnds(most_rows=4096, most_bytes=64_000)
    >>> ends.extend(np.full(5000, 20))
    >>> ends.positions
    [3072]
    """

    most_rows: int
    most_bytes: int
    positions: list[int] = field(default_factory=list)
    _waiting: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def extend(self, sizes: npt.NDArray[np.int64]) -> None:
        """Decide where blocks end, given the bytes of each new row."""
        sizes = np.concatenate((self._waiting, sizes))
        taken = np.cumsum(sizes)
        last = self.positions[-1] if self.positions else 0
        at = done = 0
        while at < len(sizes):
            full = int(np.searchsorted(taken, done + self.most_bytes, "right"))
            count = min(full - at, self.most_rows)
            if at + count >= len(sizes) and count < self.most_rows:
                break  # more rows may fit
            count = count // _CHUNK * _CHUNK if count >= _CHUNK else max(_BITS, count // _BITS * _BITS)
            if at + count > len(sizes):
                break
            at += count
            done = int(taken[at - 1])
            self.positions.append(last + at)
        self._waiting = sizes[at:].copy()


class NextEnd:
    """The next end at which an encoder must end a block. A value of the encoder stands for `unit` positions."""

    def __init__(self, ends: BlockEnds, unit: int = 1) -> None:
        self._ends = ends
        self._unit = unit
        self._passed = 0  # ends
        self._done = 0  # values

    def within(self, values: int) -> int | None:
        """How many of the next `values` values belong to the current block; None if the block does not end there."""
        if self._passed == len(self._ends.positions):
            return None
        count = self._ends.positions[self._passed] // self._unit - self._done
        if count > values:
            return None
        self._passed += 1
        self._done += count
        return count
