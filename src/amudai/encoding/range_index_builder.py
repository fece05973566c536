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
# Fewer bytes are not compressed, and a payload must shrink by this factor.
_LEAST: Final = 512
_GAIN: Final = 0.9
# Nanoseconds for a byte: three times what decompressing takes, because a whole index is decompressed for a few rows.
_INFLATING: Final = 3.0

Bools = npt.NDArray[np.bool_]


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
        self._rest: tuple[npt.NDArray[Any], Bools] | None = None
        self._count = self._valid = 0

    def append(self, values: npt.NDArray[Any], valid: Bools | None) -> None:
        """Append values. Decimals are rows of 16 bytes."""
        if self._node.is_decimal:
            values = values.reshape(-1, decimal128.SIZE)
        mask = np.ones(len(values), np.bool_) if valid is None else valid
        if self._rest is not None:
            values = np.concatenate((self._rest[0], values))
            mask = np.concatenate((self._rest[1], mask))
        whole = len(values) // SPAN * SPAN
        if whole:
            self._take(values[:whole], mask[:whole])
        self._rest = (values[whole:].copy(), mask[whole:].copy()) if whole < len(values) else None

    def _take(self, values: npt.NDArray[Any], valid: Bools) -> None:
        if self._node.is_decimal:
            mask = None if valid.all() else valid.view(np.uint8)
            low, high, invalid = _kernels.decimal_ranges(np.ascontiguousarray(values).reshape(-1), mask)
        else:
            bits = None if valid.all() else np.packbits(valid, bitorder="little")
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
        payloads = [self._block(np.concatenate(parts)) for parts in (self._minimums, self._maximums)]
        invalid = np.concatenate(self._invalid)
        third = self._block(invalid) if invalid.any() else None
        whole = encode_range_index(self._node, self._count, payloads[0], payloads[1], third)
        return PreparedBuffer(BufferKind.RANGE_INDEX, whole=whole)

    def _block(self, values: npt.NDArray[Any]) -> bytes:
        data = np.frombuffer(values.tobytes(), np.uint8)
        plain = encode_blocks(data, None, 0, EncodingPlan(PLAIN), max(1, len(data)), 0)[0]
        if not self._levels or len(data) < _LEAST:
            return plain
        packed = min(
            (encode_blocks(data, None, 0, EncodingPlan(ZSTD), len(data), level)[0] for level in self._levels), key=len
        )
        is_worth = len(packed) + self._price * _INFLATING * len(data) < len(plain)
        return packed if is_worth and len(packed) < _GAIN * len(plain) else plain
