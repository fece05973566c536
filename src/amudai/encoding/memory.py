"""The memory that a column may use while it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

__all__ = ["COLUMN_MEMORY", "ColumnMemory"]

# More than this does not help, and much less makes blocks that are hardly worth their header.
_MOST_STAGED: Final = 1024 * 1024
_LEAST_STAGED: Final = 8 * 1024
_MOST_ENTRIES: Final = 32 * 1024 * 1024
_LEAST_ENTRIES: Final = 16 * 1024


@dataclass(frozen=True, slots=True)
class ColumnMemory:
    """The memory that a column may use, its share of the writer's memory.

    Attributes
    ----------
    staged
        Bytes of values that wait to be encoded into a block.
    entries
        Bytes of a dictionary, including its hash table, before it is given up.
    """

    staged: int = _MOST_STAGED
    entries: int = _MOST_ENTRIES

    @classmethod
    def of(cls, memory: int, columns: int) -> Self:
        """The memory of each of `columns` columns that share `memory` bytes.

        A staged value is in memory three times while its block is encoded, an entry twice when its dictionary is
        finished.

        >>> ColumnMemory.of(512_000_000, 16).staged, ColumnMemory.of(16_000_000, 100).staged
        (1048576, 13333)
        """
        share = memory // max(1, columns)
        return cls(
            min(max(share // 12, _LEAST_STAGED), _MOST_STAGED), min(max(share // 4, _LEAST_ENTRIES), _MOST_ENTRIES)
        )


COLUMN_MEMORY: Final = ColumnMemory()
