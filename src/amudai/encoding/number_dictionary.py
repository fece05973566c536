"""Encoding numbers as codes of a dictionary, which only readers of extended shards expect."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.block_ends import BlockEnds
from amudai.encoding.memory import COLUMN_MEMORY, ColumnMemory
from amudai.encoding.numbers import NumberEncoder
from amudai.encoding.prepared import PreparedBuffer
from amudai.encoding.profile import Profile
from amudai.format import BufferKind, encode_dictionary
from amudai.storage import Spool
from amudai.types import SchemaNode

__all__ = ["NumberDictionary"]

# Positions before the first decision: fewer say little about the rest.
_FIRST_LOOK: Final = 65_536
# With more entries than one for this many positions, codes and entries are hardly smaller than numbers.
_POSITIONS_OF_ENTRY: Final = 4
_ENTRY: Final = 100  # bytes of memory of an entry
# The dictionary must be smaller than blocks by this factor: codes take a little longer to read.
_WORTH_IT: Final = 0.9


class NumberDictionary:
    """Numbers as codes of distinct numbers, encoded beside the blocks in which they are stored otherwise.

    Both are made, and the smaller one is kept: how well blocks of numbers compress is not known before.
    """

    def __init__(
        self,
        dtype: str,
        profile: Profile,
        spool: Spool,
        memory: ColumnMemory = COLUMN_MEMORY,
        ends: BlockEnds | None = None,
    ) -> None:
        self._dtype = np.dtype(dtype)
        self._dictionary = _kernels.Dictionary(self._dtype.itemsize)
        self._codes = NumberEncoder("u4", profile, spool, PreparedBuffer(BufferKind.DATA), memory, ends)
        self._memory = memory
        self._count = 0
        self._is_hopeless = False

    @property
    def size(self) -> int:
        """The number of entries, including the null entry."""
        return int(self._dictionary.size)

    def append(self, numbers: npt.NDArray[Any], valid: npt.NDArray[np.bool_] | None) -> None:
        """Append numbers. Nothing happens once there are too many distinct ones."""
        for start in range(0, len(numbers), _FIRST_LOOK):
            if self._is_hopeless:
                return
            some = np.ascontiguousarray(numbers[start : start + _FIRST_LOOK])
            mask = None if valid is None else np.packbits(valid[start : start + _FIRST_LOOK], bitorder="little")
            self._codes.append(self._dictionary.encode(None, some.view(np.uint8), mask, 0, len(some)))
            self._count += len(some)
            too_many = self._count >= _FIRST_LOOK and self.size * _POSITIONS_OF_ENTRY > self._count
            self._is_hopeless = too_many or self.size * _ENTRY > self._memory.entries

    def finish(self, node: SchemaNode, blocks: PreparedBuffer) -> tuple[PreparedBuffer, PreparedBuffer] | None:
        """The codes and the dictionary; None if `blocks`, which hold the same numbers, are about as small."""
        codes = self._codes.finish()
        if self._is_hopeless or not self._count:
            return None
        _, data = self._dictionary.values()
        null = self._dictionary.null_code
        whole = encode_dictionary(
            node,
            value_count=self.size,
            data=data.data,
            offsets=None,
            null_id=null,
            sorted_ids=_in_order(data.view(self._dtype), null),
        )
        if _bytes(codes) + len(whole) > _WORTH_IT * _bytes(blocks):
            return None
        return codes, PreparedBuffer(BufferKind.VALUE_DICTIONARY, whole=whole)


def _bytes(buffer: PreparedBuffer) -> int:
    return sum(int(sizes.sum()) for sizes in buffer.sizes)


def _in_order(entries: npt.NDArray[Any], null: int | None) -> npt.NDArray[np.uint32]:
    """The codes in ascending order of their numbers: -0.0 before 0.0, and NaNs last, in the order of their bits."""
    bits = entries.view(f"i{entries.itemsize}")
    found = np.lexsort((bits, entries)).astype(np.uint32)
    return found if null is None else found[found != null]
