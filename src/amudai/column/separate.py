"""Strings and binary values whose offsets are in a buffer of their own."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from amudai.column.column_values import ColumnValues, StoredValues
from amudai.column.containers import MAX_POSITION
from amudai.column.fences import arrow_offsets, check_fences, read_fences
from amudai.column.native import Form, NativeSource
from amudai.column.projection import Projection
from amudai.encoding import BlockBuffer, Values, decode_few, decode_numbers, require_text
from amudai.format import BufferKind, NativeEncoding
from amudai.lazy import lazy
from amudai.rows import Rows
from amudai.types import BasicType

__all__ = ["SeparateBytesSource", "has_separate_offsets"]


def has_separate_offsets(encoding: NativeEncoding) -> bool:
    """Whether the offsets of strings or binary values are in a buffer of their own, and not in their blocks."""
    data = encoding.find(BufferKind.DATA)
    return data is not None and not data.embedded_offsets and encoding.find(BufferKind.OFFSETS) is not None


class SeparateBytesSource(NativeSource):
    """Strings and binary values of any size: all bytes in a row, and the offsets of the values among them."""

    STORAGE: ClassVar[str] = "blocks"
    REQUIRED: ClassVar[tuple[BufferKind, ...]] = (BufferKind.DATA, BufferKind.OFFSETS)

    @lazy
    def _bytes(self) -> int:
        """The bytes of all values: the last offset."""
        last = self.position_count
        (found,) = decode_few(self._blocks(BufferKind.OFFSETS), last, last + 1, "u8").tolist()
        if found > MAX_POSITION:
            raise self._error(f"string offsets: expected at most {MAX_POSITION}, found {found}")
        return int(found)

    def _values_of(self, kind: BufferKind) -> int:
        return self._bytes if kind is BufferKind.DATA else super()._values_of(kind)

    def _data_form(self) -> Form:
        return "u1", None

    def _read(self, rows: Rows, projection: Projection) -> ColumnValues:
        self._check_end(rows)
        stored = read_fences(self._blocks(BufferKind.OFFSETS), rows)
        check_fences(stored.numbers("u8"), rows, self.position_count, self._bytes, "string")
        offsets, places = arrow_offsets(stored, rows, projection.wide)
        data = decode_numbers(self._blocks(BufferKind.DATA), places, "u1", nullable=False).data
        assert data is not None
        if self.node.basic_type is BasicType.STRING:
            ends = np.frombuffer(offsets, np.int64 if projection.wide else np.int32)
            require_text(memoryview(data), ends.astype(np.uint64))
        return StoredValues(self._with_presence(Values(rows.count, 0, None, data, offsets), rows))

    def _starts_of(self, kind: BufferKind, buffer: BlockBuffer) -> list[npt.NDArray[np.uint64]]:
        if kind is not BufferKind.DATA:
            return super()._starts_of(kind, buffer)
        fences = read_fences(self._blocks(BufferKind.OFFSETS), Rows.one(0, self.position_count)).numbers("u8")
        begins = buffer.block_map.values[:-1].astype(np.uint64)
        # A value may begin in one block and end in the next: it is damaged with either.
        cuts = [np.searchsorted(fences, begins, "left"), np.searchsorted(fences, begins, "right")]
        return [(cut - step).clip(0, self.position_count).astype(np.uint64) for cut in cuts for step in (0, 1)]
