"""The values of a predicate, as columns store them."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pyarrow as pa

from amudai.arrow import EPOCH, is_scaled, ticks_around
from amudai.index import Number
from amudai.types import BYTES, TIMESPAN, WIDTHS, BasicType, SchemaNode, decimal128

__all__ = ["next_number", "stored_bytes", "stored_number"]

_FLOATS: Final = frozenset({BasicType.FLOAT32, BasicType.FLOAT64})


def stored_number(scalar: pa.Scalar, node: SchemaNode) -> tuple[Number, Number] | None:
    """The nearest numbers below and above a value that a field can store. They are equal if it can store the value.

    None for types whose stored form has another order.
    """
    kind = scalar.type
    if node.is_decimal:
        return _twice(scalar.as_py()) if pa.types.is_decimal(kind) else None
    if node.basic_type in _FLOATS:
        return _twice(float(scalar.as_py())) if pa.types.is_floating(kind) else None
    if pa.types.is_decimal(kind):
        return _twice(int(Fraction(scalar.as_py()) * Fraction(10) ** kind.scale)) if is_scaled(kind, node) else None
    if pa.types.is_integer(kind):
        return _twice(int(scalar.as_py())) if node.basic_type is not BasicType.DATETIME else None
    if not pa.types.is_temporal(kind) or pa.types.is_interval(kind):
        return None
    number = int(scalar.value)
    if node.basic_type is BasicType.DATETIME:
        low, high = ticks_around(number, kind)
        return low + EPOCH, high + EPOCH
    return ticks_around(number, kind) if node.extension == TIMESPAN else _twice(number)


def _twice(number: Any) -> tuple[Number, Number]:
    return number, number


def next_number(number: Number, node: SchemaNode, step: int) -> Number | None:
    """The next number below (`step` -1) or above (1) `number` that a field can store; None if there is none to name."""
    if isinstance(number, Decimal):
        stored = decimal128.next_decimal(number, step)
        return None if stored == number else stored  # nothing lies beyond infinity
    if isinstance(number, int):
        return number + step
    dtype = np.float32 if node.basic_type is BasicType.FLOAT32 else np.float64
    found = float(np.nextafter(dtype(number), dtype(step * math.inf)))
    return None if found == number else found  # nothing lies beyond infinity


def _wide_decimal(value: Decimal, scale: int, node: SchemaNode) -> tuple[bytes, ...] | None:
    """The bytes of one of Arrow's decimals that is stored as Arrow has it: a little-endian integer x 10**-scale."""
    unscaled = Fraction(value) * Fraction(10) ** scale
    if unscaled.denominator != 1 or node.basic_type is not BasicType.FIXED_SIZE_BINARY:
        return None
    try:
        return (unscaled.numerator.to_bytes(node.fixed_size, "little", signed=True),)
    except OverflowError:
        return ()


def stored_bytes(scalar: pa.Scalar, node: SchemaNode, *, rounded: bool = False) -> tuple[bytes, ...] | None:
    """All bytes that a field may store for a value, `()` if it cannot store it; None if equality is not by bytes.

    `rounded` is for a field of ticks whose nanoseconds are in another field: it stores times rounded down.
    """
    if node.basic_type is BasicType.BOOLEAN:
        return (b"1" if scalar.as_py() else b"0",)
    if node.is_decimal:
        return None  # 1.0 and 1.00 are equal but have different bytes
    if node.basic_type in BYTES:
        value = scalar.as_py()
        if isinstance(value, str):
            return (value.encode(),)
        if isinstance(value, Decimal):
            return _wide_decimal(value, scalar.type.scale, node)
        return (value,) if isinstance(value, bytes) else None
    found = stored_number(scalar, node) if node.basic_type in WIDTHS else None
    if found is None:
        return None
    low, high = found
    if low != high and not rounded:
        return ()
    # 0.0 and -0.0 are equal but have different bytes.
    numbers = (0.0, -0.0) if node.basic_type in _FLOATS and low == 0 else (low,)
    try:
        return tuple(np.array([number], node.dtype).tobytes() for number in numbers)
    except OverflowError:
        return ()
