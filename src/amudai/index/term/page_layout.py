"""The order of the pages in a terms artifact that this library wrote.

We write pages level by level, and each page is one block of the column of terms. The properties of the artifact state
the rest of what is needed to find a page. So a look-up reads only the columns that hold terms and lists.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Self

import numpy as np
import numpy.typing as npt

from amudai.format import Properties, any_values
from amudai.lazy import lazy

__all__ = ["PageLayout"]


@dataclass(frozen=True)
class PageLayout:
    """The order of the pages in an artifact, and what all its lists have in common.

    Attributes
    ----------
    leaf_pages, fan_out
        The number of leaf pages, which come first, and the number of children of each page above them.
    single_lists
        Whether every term has exactly one list. Then a term and its list have the same number.
    only_rows
        Whether all lists hold single rows, and none holds ranges.
    """

    leaf_pages: int
    fan_out: int
    single_lists: bool
    only_rows: bool

    @property
    def properties(self) -> Properties:
        """The layout as properties of the artifact."""
        return any_values(asdict(self))

    @classmethod
    def of(cls, stated: Mapping[str, object], pages: int) -> Self | None:
        """The layout in the properties of an artifact with `pages` pages; None if it is missing or impossible."""
        leaves, fan_out = stated.get("leaf_pages"), stated.get("fan_out")
        single, only_rows = stated.get("single_lists"), stated.get("only_rows")
        if not isinstance(leaves, int) or not isinstance(fan_out, int):
            return None
        if not isinstance(single, bool) or not isinstance(only_rows, bool):
            return None
        if not 0 < leaves < pages or fan_out < 2:
            return None
        found = cls(leaves, fan_out, single, only_rows)
        return found if found.level_starts[-1] == pages else None

    @lazy
    def level_sizes(self) -> list[int]:
        """The number of pages of each level: leaves first, the one root last."""
        sizes = [self.leaf_pages]
        while len(sizes) < 2 or sizes[-1] > 1:
            sizes.append(-(-sizes[-1] // self.fan_out))
        return sizes

    @lazy
    def level_starts(self) -> list[int]:
        """The first page of each level, and the number of all pages."""
        return [0, *accumulate(self.level_sizes)]

    @lazy
    def levels(self) -> npt.NDArray[np.uint8]:
        """The level of each page."""
        return np.repeat(np.arange(len(self.level_sizes), dtype=np.uint8), self.level_sizes)

    def level(self, record: int) -> int:
        """The level of a page: 0 for leaves."""
        return bisect_right(self.level_starts, record) - 1

    def child(self, record: int, entry: int) -> int:
        """The child page of entry `entry` of page `record`, which is not a leaf."""
        starts, level = self.level_starts, self.level(record)
        return starts[level - 1] + (record - starts[level]) * self.fan_out + entry
