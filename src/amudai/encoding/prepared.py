"""Encoded buffers that have no place in a file yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from amudai.format import BufferKind

__all__ = ["PreparedBuffer"]


@dataclass(slots=True, eq=False)
class PreparedBuffer:
    """Blocks in a spool: their place, and the number of values and bytes of each.

    A buffer that has no blocks (a dictionary, a range index) is `whole`. A buffer with a `member_number` is stored
    inside the super-blocks of a packed group.
    """

    kind: BufferKind
    embedded_presence: bool = False
    embedded_offsets: bool = False
    extents: list[tuple[int, int]] = field(default_factory=list)
    counts: list[npt.NDArray[np.uint32]] = field(default_factory=list)
    sizes: list[npt.NDArray[np.uint32]] = field(default_factory=list)
    whole: bytes | None = None
    member_number: int | None = None

    def add(self, start: int, end: int, counts: npt.NDArray[np.uint32], sizes: npt.NDArray[np.uint32]) -> None:
        """Add blocks that are at `start..end` of the spool."""
        if self.extents and self.extents[-1][1] == start:
            self.extents[-1] = (self.extents[-1][0], end)
        else:
            self.extents.append((start, end))
        self.counts.append(counts)
        self.sizes.append(sizes)

    def add_scattered(
        self, extents: Iterable[tuple[int, int]], counts: npt.NDArray[np.uint32], sizes: npt.NDArray[np.uint32]
    ) -> None:
        """Add blocks that are at several places of the spool."""
        self.extents += extents
        self.counts.append(counts)
        self.sizes.append(sizes)
