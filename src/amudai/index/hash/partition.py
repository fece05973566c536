"""How do hashes and positions become a partition?

A partition is a shard of one stripe: a row for each bucket, in it a list of hashes with their positions.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from amudai.encoding import Profile
from amudai.index.hash.layout import BUCKET, HASH, POSITION
from amudai.shard import FieldBuildContext, ListBuilder, PreparedStripe, StoredArray, StructBuilder
from amudai.storage import Spool

__all__ = ["PartitionWriter", "bucket_count"]

U64 = npt.NDArray[np.uint64]

# Nothing that must be inflated as a whole, and small blocks: a lookup wants a few numbers of each column.
PROFILE: Final = Profile(
    name="lookup", price=1.0, cascades=False, block_values=2048, codec_values=2048, range_index=False
)


def bucket_count(hashes: int) -> int:
    """How many buckets so many distinct hashes get.

    >>> [bucket_count(hashes) for hashes in (0, 5, 6, 10, 100, 12500)]
    [2, 2, 4, 8, 64, 8192]
    """
    return max(2, 1 << (hashes // 2 - 1).bit_length()) if hashes >= 2 else 2


class PartitionWriter:
    """Takes hashes in the order of their buckets, and the positions of each, which may come in pieces."""

    def __init__(self, temp_folder: str | None, memory: int) -> None:
        self.spool = Spool(temp_folder, memory)
        self._buckets = ListBuilder(BUCKET, FieldBuildContext(PROFILE, self.spool, frozenset()))
        items = self._buckets.children[0]
        assert isinstance(items, StructBuilder)
        self._items = items
        self._hashes, positions = items.children
        assert isinstance(positions, ListBuilder)
        self._lists = positions

    def append_hashes(self, hashes: U64, ends: U64) -> None:
        """Take hashes, and where the positions of each end among those of all these."""
        self._items.append_structs(len(hashes))
        self._hashes.append(StoredArray(node=HASH, length=len(hashes), data=hashes))
        self._lists.append_lists(np.concatenate((np.zeros(1, np.uint64), ends)))

    def append_positions(self, positions: U64) -> None:
        """Take the next positions."""
        self._lists.children[0].append(StoredArray(node=POSITION, length=len(positions), data=positions))

    def finish(self, sizes: npt.NDArray[np.int64]) -> PreparedStripe:
        """End the partition; `sizes` says how many hashes each bucket has."""
        self._buckets.append_lists(np.concatenate((np.zeros(1, np.uint64), np.cumsum(sizes, dtype=np.uint64))))
        return PreparedStripe((self._buckets.finish(),), len(sizes), self.spool)
