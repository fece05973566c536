"""Range indexes in the making: bounds of the values of each 256 positions."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.codec import encode_blocks
from amudai.encoding.numeric.plain import PLAIN
from amudai.encoding.numeric.zstd import ZSTD
from amudai.encoding.plan import EncodingPlan
from amudai.encoding.prepared import PreparedBuffer
from amudai.format import BufferKind, encode_range_index
from amudai.types import SchemaNode, decimal128

__all__ = ["RangeIndexBuilder"]

SPAN: Final = 256  # positions in a stretch
# Bounds are one block, whose size the kernels limit. In larger fields, stretches are longer, up to the longest whose
# invalid positions 16 bits can count.
_MOST_PAYLOAD: Final = 1 << 22  # bytes
_LARGEST_SPAN: Final = 1 << 15
_PLAIN: Final = EncodingPlan(PLAIN)
_ZSTD: Final = EncodingPlan(ZSTD)
# Fewer bytes are not compressed, and a payload must shrink by this factor.
_LEAST: Final = 512
_GAIN: Final = 0.9
# Nanoseconds for a byte: three times what decompressing takes, because a whole index is decompressed for a few rows.
_INFLATING: Final = 3.0

Bools = npt.NDArray[np.bool_]


def _mask(count: int, valid: Bools | None) -> Bools:
    return np.ones(count, np.bool_) if valid is None else valid


class RangeIndexBuilder:
    """Collects the smallest and the largest value, and the number of nulls and NaNs, of each 256 positions of a field.

    Parameters
    ----------
    levels
        Levels of Zstandard that are tried.
    price
        Bytes that a nanosecond of decompressing is worth.
    """

    def __init__(self, node: SchemaNode, levels: tuple[int, ...] = (), price: float = 0.0) -> None:
        self._node = node
        self._levels = levels
        self._price = price
        self._minimums: list[npt.NDArray[Any]] = []
        self._maximums: list[npt.NDArray[Any]] = []
        self._invalid: list[npt.NDArray[np.uint16]] = []
        self._rest: tuple[npt.NDArray[Any], Bools | None] | None = None
        self._count = self._valid = 0

    def append(self, values: npt.NDArray[Any], valid: Bools | None) -> None:
        """Append values. Decimals are rows of 16 bytes."""
        if self._node.is_decimal:
            values = values.reshape(-1, decimal128.SIZE)
        if self._rest is not None:
            rest, mask = self._rest
            if mask is not None or valid is not None:
                valid = np.concatenate((_mask(len(rest), mask), _mask(len(values), valid)))
            values = np.concatenate((rest, values))
        whole = len(values) // SPAN * SPAN
        if whole:
            self._take(values[:whole], None if valid is None else valid[:whole])
        self._rest = None
        if whole < len(values):
            self._rest = values[whole:].copy(), None if valid is None else valid[whole:].copy()

    def _take(self, values: npt.NDArray[Any], valid: Bools | None) -> None:
        valid = None if valid is None or valid.all() else valid
        if self._node.is_decimal:
            mask = None if valid is None else valid.view(np.uint8)
            low, high, invalid = _kernels.decimal_ranges(np.ascontiguousarray(values).reshape(-1), mask)
        else:
            bits = None if valid is None else np.packbits(valid, bitorder="little")
            low, high, invalid = _kernels.range_minmax(np.ascontiguousarray(values), bits, 0, SPAN)
        self._minimums.append(low)
        self._maximums.append(high)
        self._invalid.append(invalid)
        self._count += len(values)
        self._valid += len(values) - int(invalid.sum(dtype=np.int64))

    def finish(self) -> PreparedBuffer | None:
        """The index; None if no value is valid."""
        if self._rest is not None:
            self._take(*self._rest)
            self._rest = None
        if self._valid == 0:
            return None
        low, high, invalid = (
            parts[0] if len(parts) == 1 else np.concatenate(parts)
            for parts in (self._minimums, self._maximums, self._invalid)
        )
        size = SPAN
        while low.nbytes > _MOST_PAYLOAD and size < _LARGEST_SPAN:
            low, high, invalid = self._halved(low, high, invalid, size)
            size *= 2
        if low.nbytes > _MOST_PAYLOAD:
            return None
        third = self._block(invalid) if invalid.any() else None
        whole = encode_range_index(
            self._node, self._count, self._block(low), self._block(high), third, logical_block_size=size
        )
        return PreparedBuffer(BufferKind.RANGE_INDEX, whole=whole)

    def _halved(
        self, low: npt.NDArray[Any], high: npt.NDArray[Any], invalid: npt.NDArray[np.uint16], size: int
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.uint16]]:
        """The bounds of twice as long stretches: each is made of two stretches of `size` positions."""
        width = decimal128.SIZE if self._node.is_decimal else 1
        low, high = low.reshape(-1, width), high.reshape(-1, width)
        lengths = np.full(len(invalid), size)
        lengths[-1] = self._count - (len(invalid) - 1) * size
        filled = invalid < lengths
        if len(invalid) % 2:  # the last stretch has no other
            low, high = np.concatenate((low, low[-1:])), np.concatenate((high, high[-1:]))
            invalid, filled = np.append(invalid, np.uint16(0)), np.append(filled, False)
        one, two = filled[::2], filled[1::2]
        # A stretch without a value has no bounds: those of the other count.
        second_low = two & (~one | self._is_less(low[1::2], low[::2]))
        second_high = two & (~one | self._is_less(high[::2], high[1::2]))
        least = np.where(second_low[:, None], low[1::2], low[::2])
        greatest = np.where(second_high[:, None], high[1::2], high[::2])
        return least.reshape(-1), greatest.reshape(-1), invalid[::2] + invalid[1::2]

    def _is_less(self, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> Bools:
        """Which bounds on the left are less than those on the right."""
        if not self._node.is_decimal:
            return np.asarray(left < right)[:, 0]
        one, two = (decimal128.by_value(np.ascontiguousarray(each).reshape(-1)) for each in (left, right))
        less = np.zeros(len(one), np.bool_)
        for column in (2, 1, 0):
            less = (one[:, column] < two[:, column]) | ((one[:, column] == two[:, column]) & less)
        return less

    def _block(self, values: npt.NDArray[Any]) -> bytes:
        data = np.frombuffer(values.tobytes(), np.uint8)
        plain = encode_blocks(data, None, 0, _PLAIN, max(1, len(data)), 0)[0]
        if not self._levels or len(data) < _LEAST:
            return plain
        packed = min((encode_blocks(data, None, 0, _ZSTD, len(data), level)[0] for level in self._levels), key=len)
        is_worth = len(packed) + self._price * _INFLATING * len(data) < len(plain)
        return packed if is_worth and len(packed) < _GAIN * len(plain) else plain
