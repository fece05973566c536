"""The writer of one partition of a hash index.

A partition is a shard with one stripe. Each bucket is a row, which holds a list of hashes with their positions.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from amudai.encoding import Profile
from amudai.index.hash.layout import BUCKET_NODE, HASH_NODE, POSITION_NODE
from amudai.shard import FieldBuildContext, ListBuilder, PreparedStripe, StoredArray, StructBuilder
from amudai.storage import Spool

__all__ = ["PartitionWriter", "bucket_count"]

U64 = npt.NDArray[np.uint64]

# A look-up needs only a few numbers of each column, so blocks are small and nothing must be inflated as a whole.
PROFILE: Final = Profile(
    name="lookup", price=1.0, cascades=False, block_values=2048, codec_values=2048, range_index=False
)


def bucket_count(hashes: int) -> int:
    """The number of buckets for `hashes` distinct hashes.

    >>> [bucket_count(hashes) for hashes in (0, 5, 6, 10, 100, 12500)]
    [2, 2, 4, 8, 64, 8192]
    """
    return max(2, 1 << (hashes // 2 - 1).bit_length()) if hashes >= 2 else 2


class PartitionWriter:
    """Writes hashes in the order of their buckets. The positions of a hash may be appended in several calls."""

    def __init__(self, temp_folder: str | None, memory: int) -> None:
        self.spool = Spool(temp_folder, memory)
        self._buckets = ListBuilder(BUCKET_NODE, FieldBuildContext(PROFILE, self.spool))
        items = self._buckets.children[0]
        assert isinstance(items, StructBuilder)
        self._items = items
        self._hashes, positions = items.children
        assert isinstance(positions, ListBuilder)
        self._lists = positions

    def append_hashes(self, hashes: U64, ends: U64) -> None:
        """Append `hashes`. `ends[i]` is where the positions of hash `i` end among all positions of this call."""
        self._items.append_structs(len(hashes))
        self._hashes.append(StoredArray(node=HASH_NODE, length=len(hashes), data=hashes))
        self._lists.append_lists(np.concatenate((np.zeros(1, np.uint64), ends)))

    def append_positions(self, positions: U64) -> None:
        """Append positions."""
        self._lists.children[0].append(StoredArray(node=POSITION_NODE, length=len(positions), data=positions))

    def finish(self, sizes: npt.NDArray[np.int64]) -> PreparedStripe:
        """Finish the partition. `sizes` says how many hashes each bucket has."""
        self._buckets.append_lists(np.concatenate((np.zeros(1, np.uint64), np.cumsum(sizes, dtype=np.uint64))))
        return PreparedStripe((self._buckets.finish(),), len(sizes), self.spool)
