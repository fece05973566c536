"""Which page is which, without reading any?

Pages that we write come level by level, and each is one block of the column of terms. What else is needed to find a
page stands in the properties of the artifact, so that a lookup reads the columns that hold terms and lists, no other.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from amudai.format import Properties, any_values
from amudai.lazy import lazy

__all__ = ["Layout"]


@dataclass(frozen=True)
class Layout:
    """How the pages of an artifact of ours lie.

    Attributes
    ----------
    leaf_pages, fan_out
        Leaves, which come first, and how many pages a page above leads to.
    single_lists
        Whether every term has one list: then they have the same number.
    only_rows
        Whether all lists hold rows, none holds ranges.
    """

    leaf_pages: int
    fan_out: int
    single_lists: bool
    only_rows: bool

    @property
    def properties(self) -> Properties:
        """The layout as an artifact states it."""
        return any_values(asdict(self))

    @classmethod
    def of(cls, properties: Properties, pages: int) -> Self | None:
        """The layout that an artifact of so many pages states; None where it states none that can be."""
        stated = {name: value.value for name, value in properties}
        leaves, fan_out = stated.get("leaf_pages"), stated.get("fan_out")
        flags = stated.get("single_lists"), stated.get("only_rows")
        if not isinstance(leaves, int) or not isinstance(fan_out, int) or not all(type(flag) is bool for flag in flags):
            return None
        if not 0 < leaves < pages or fan_out < 2:
            return None
        found = cls(leaves, fan_out, flags[0] is True, flags[1] is True)
        return found if sum(found.level_sizes) == pages else None

    @lazy
    def level_sizes(self) -> list[int]:
        """Pages of each level, leaves first, one root at the end."""
        sizes = [self.leaf_pages]
        while len(sizes) < 2 or sizes[-1] > 1:
            sizes.append(-(-sizes[-1] // self.fan_out))
        return sizes

    @lazy
    def levels(self) -> npt.NDArray[np.uint8]:
        """The level of each page."""
        return np.repeat(np.arange(len(self.level_sizes), dtype=np.uint8), self.level_sizes)

    def child(self, record: int, entry: int) -> int:
        """The page to which an entry of a page above the leaves leads."""
        level = int(self.levels[record])
        first = sum(self.level_sizes[:level])
        return first - self.level_sizes[level - 1] + (record - first) * self.fan_out + entry
