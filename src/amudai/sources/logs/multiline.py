"""Which lines form a row together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amudai.sources.logs.block import I64, Flags, Picked

__all__ = ["LineGroups", "joined", "single"]


@dataclass(frozen=True, slots=True)
class LineGroups:
    """The rows of a block.

    Attributes
    ----------
    first, last
        The first and the last line of each row.
    """

    first: I64
    last: I64

    def __len__(self) -> int:
        return len(self.first)

    @property
    def firsts(self) -> Picked:
        """The first line of each row; a slice if each row is one line."""
        return slice(len(self)) if self._are_lines else self.first

    @property
    def lasts(self) -> Picked:
        """The last line of each row; a slice if each row is one line."""
        return slice(len(self)) if self._are_lines else self.last

    @property
    def _are_lines(self) -> bool:
        # Rows have no lines between them, and none before them.
        return len(self) == 0 or int(self.last[-1]) == len(self) - 1

    def __getitem__(self, part: slice) -> LineGroups:
        return LineGroups(self.first[part], self.last[part])


def single(count: int) -> LineGroups:
    """Each line is a row."""
    lines = np.arange(count)
    return LineGroups(lines, lines)


def joined(begins: Flags, *, goes_on: bool) -> LineGroups:
    """A line that begins a record, and the lines after it up to the next record, are a row.

    Parameters
    ----------
    goes_on
        Whether lines before the first record belong to a record of an earlier block. They are one row then; otherwise
        each of them is a row.
    """
    if begins.all():
        return single(len(begins))
    starts = begins.copy()
    before = int(np.argmax(begins)) if begins.any() else len(begins)
    if goes_on:
        starts[:1] = True
    else:
        starts[:before] = True
    first = np.flatnonzero(starts)
    return LineGroups(first, np.append(first[1:], len(begins)) - 1)
