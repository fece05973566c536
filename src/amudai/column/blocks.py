"""Columns whose values are stored in blocks: bits, numbers, bytes."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from amudai.column.column_values import ColumnValues, CountedValues, StoredValues
from amudai.column.native import Form, NativeSource
from amudai.column.projection import Projection
from amudai.encoding import (
    BlockBuffer,
    ByteKeys,
    DecimalRanges,
    NumberRanges,
    TextSearch,
    Values,
    Wanted,
    compare_bytes,
    compare_decimals,
    compare_numbers,
    decode_bits,
    decode_decimals,
    decode_divided,
    decode_fixed,
    decode_numbers,
    decode_variable,
    search_texts,
)
from amudai.format import BufferKind
from amudai.rows import Rows
from amudai.types import BasicType

__all__ = ["BitsSource", "FixedBytesSource", "NumbersSource", "VariableBytesSource"]

# If less than one row in this many is searched, decoding these rows alone is faster.
_SPARSE: Final = 64
# Fewer numbers are decoded in the shortest way, and divided afterwards.
_MANY: Final = 1024


class BitsSource(NativeSource):
    """Booleans, eight in a byte."""

    STORAGE: ClassVar[str] = "blocks"
    REQUIRED: ClassVar[tuple[BufferKind, ...]] = (BufferKind.DATA,)
    CAN_BE_PACKED: ClassVar[bool] = True

    def _values_of(self, kind: BufferKind) -> int:
        return (self.position_count + 7) // 8 if kind is BufferKind.DATA else super()._values_of(kind)

    def _data_form(self) -> Form:
        return "u1", None

    def _positions_of(self, kind: BufferKind) -> int:
        return 8 if kind is BufferKind.DATA else super()._positions_of(kind)

    def _cascades(self, kind: BufferKind, buffer: BlockBuffer) -> Counter[str]:
        # The values and the nulls of booleans have the same encodings: only the values are reported.
        return Counter() if kind is BufferKind.PRESENCE else super()._cascades(kind, buffer)

    def _read(self, rows: Rows, _: Projection) -> ColumnValues:
        bitmap, _set = decode_bits(self._blocks(BufferKind.DATA), rows)
        validity, nulls = self._presence(rows)
        return StoredValues(Values(rows.count, nulls, validity, bitmap))


class _ComparableSource(NativeSource):
    """Values that can be compared in their blocks."""

    STORAGE: ClassVar[str] = "blocks"
    REQUIRED: ClassVar[tuple[BufferKind, ...]] = (BufferKind.DATA,)
    CAN_BE_PACKED: ClassVar[bool] = True

    def compare(self, wanted: Wanted, rows: Rows, *, inverted: bool) -> npt.NDArray[np.uint8] | None:
        """A bitmap of the rows whose value is in `wanted` or, if `inverted`, is not."""
        with self.place():
            bits = self._compare(wanted, rows, inverted)
            if bits is None or BufferKind.PRESENCE not in self._buffers:
                return bits
            bitmap, _ = self._presence(rows)
            return bits if bitmap is None else bits & np.frombuffer(bitmap, np.uint8)[: len(bits)]

    @abstractmethod
    def _compare(self, wanted: Wanted, rows: Rows, inverted: bool) -> npt.NDArray[np.uint8] | None:
        """The comparison without the nulls of a PRESENCE buffer."""


class NumbersSource(_ComparableSource):
    """Integers, floats and times."""

    def _data_form(self) -> Form:
        return self.node.dtype, None

    def _read(self, rows: Rows, projection: Projection) -> ColumnValues:
        if projection.unit is not None and rows.count >= _MANY:
            counted = decode_divided(self._blocks(BufferKind.DATA), rows, projection.unit)
            if counted is not None:
                return CountedValues(self._with_presence(counted, rows))
        values = decode_numbers(self._blocks(BufferKind.DATA), rows, self.node.dtype)
        return StoredValues(self._with_presence(values, rows))

    def _compare(self, wanted: Wanted, rows: Rows, inverted: bool) -> npt.NDArray[np.uint8] | None:
        if not isinstance(wanted, NumberRanges):
            return None
        return compare_numbers(self._blocks(BufferKind.DATA), rows, wanted, inverted=inverted)

    def numbers(self) -> BlockBuffer | None:
        """The blocks of the numbers; None if some are null."""
        # If the number of nulls is unknown, the blocks are used: reading a null from them raises an error.
        if self.null_count or BufferKind.PRESENCE in self._buffers:
            return None
        return self._blocks(BufferKind.DATA)


class VariableBytesSource(_ComparableSource):
    """Strings and binary values of any size."""

    def _read(self, rows: Rows, projection: Projection) -> ColumnValues:
        text = self.node.basic_type is BasicType.STRING
        values = decode_variable(self._blocks(BufferKind.DATA), rows, text=text, wide=projection.wide)
        return StoredValues(self._with_presence(values, rows))

    def _compare(self, wanted: Wanted, rows: Rows, inverted: bool) -> npt.NDArray[np.uint8] | None:
        if isinstance(wanted, TextSearch):
            if rows.count * _SPARSE < rows.hull.count:
                return None
            return search_texts(self._blocks(BufferKind.DATA), rows, wanted, inverted=inverted)
        if not isinstance(wanted, ByteKeys):
            return None
        return compare_bytes(self._blocks(BufferKind.DATA), rows, wanted, fixed_size=None, inverted=inverted)


class FixedBytesSource(_ComparableSource):
    """Binary values of one size: GUIDs, decimals, fixed-size binary."""

    def _data_form(self) -> Form:
        return None, self.node.fixed_size

    def _read(self, rows: Rows, projection: Projection) -> ColumnValues:
        # A null of a PRESENCE buffer may have any bytes.
        if projection.decimals is not None and BufferKind.PRESENCE not in self._buffers:
            counted = decode_decimals(self._blocks(BufferKind.DATA), rows, projection.decimals)
            if counted is not None:  # else the position of the misfit belongs to the error
                return CountedValues(counted)
        values = decode_fixed(self._blocks(BufferKind.DATA), rows, self.node.fixed_size)
        return StoredValues(self._with_presence(values, rows))

    def _compare(self, wanted: Wanted, rows: Rows, inverted: bool) -> npt.NDArray[np.uint8] | None:
        if isinstance(wanted, DecimalRanges):
            return compare_decimals(self._blocks(BufferKind.DATA), rows, wanted, inverted=inverted)
        if not isinstance(wanted, ByteKeys):
            return None
        size = self.node.fixed_size
        return compare_bytes(self._blocks(BufferKind.DATA), rows, wanted, fixed_size=size, inverted=inverted)
