"""The least and the greatest of Arrow's decimals that are stored as Arrow has them, because they have too many digits.

Their bounds are stored as decimals of the format, which have 34 digits, and are rounded outwards if they have more.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.format import AnyValue, RangeStats
from amudai.stats.extremes import widened
from amudai.types import decimal128

__all__ = ["DecimalBounds"]

_WIDE: Final = Context(prec=100)


class DecimalBounds:
    """Collects the bounds of little-endian integers x 10**-scale."""

    def __init__(self, width: int, scale: int) -> None:
        self._type = pa.decimal128(38, scale) if width == 16 else pa.decimal256(76, scale)
        self._low: Decimal | None = None
        self._high: Decimal | None = None

    def add(
        self,
        offsets: npt.NDArray[Any] | None,  # noqa: ARG002
        data: npt.NDArray[np.uint8],
        count: int,
        bits: npt.NDArray[np.uint8] | None,
    ) -> None:
        """Add values. `bits` says which are not null."""
        validity = None if bits is None else pa.py_buffer(bits)
        values = pa.Array.from_buffers(self._type, count, [validity, pa.py_buffer(np.ascontiguousarray(data))])
        self._low, self._high = widened(self._low, self._high, values)

    def finish(self) -> RangeStats:
        """The bounds; without any if there was no value."""
        if self._low is None or self._high is None:
            return RangeStats(min=None, max=None)
        low, high = _stored(self._low, ROUND_FLOOR), _stored(self._high, ROUND_CEILING)
        return RangeStats(
            min=AnyValue("decimal", low),
            min_inclusive=decimal128.to_decimal(low) == self._low,
            max=AnyValue("decimal", high),
            max_inclusive=decimal128.to_decimal(high) == self._high,
        )


def _stored(value: Decimal, rounding: str) -> bytes:
    """A decimal of the format that is not above (`ROUND_FLOOR`) or not below a value."""
    near = Context(prec=decimal128.DIGITS, rounding=rounding).plus(value)
    exponent = near.as_tuple().exponent
    assert isinstance(exponent, int)
    unscaled = int(near.scaleb(-exponent, _WIDE)).to_bytes(16, "little", signed=True)
    return decimal128.from_unscaled(np.frombuffer(unscaled, np.uint8).reshape(1, 16), -exponent).tobytes()
