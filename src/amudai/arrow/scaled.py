"""Decimals of up to 18 digits stored as scaled integers: 123.45 of a decimal(15, 2) is 12345."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.encoding import allocate
from amudai.errors import InvalidArgument
from amudai.types import BasicType, SchemaNode, decimal128

__all__ = ["MOST_DIGITS", "from_scaled", "is_scaled", "to_scaled"]

MOST_DIGITS: Final = 18

I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def is_scaled(kind: pa.DataType, node: SchemaNode) -> bool:
    """Whether a field of integers holds the values of an Arrow type of decimals."""
    is_integer = node.basic_type is BasicType.INT64 and node.signed and not node.extension
    return is_integer and bool(pa.types.is_decimal(kind)) and kind.precision <= MOST_DIGITS


def to_scaled(unscaled: npt.NDArray[np.uint8], kind: pa.DataType, valid: Bools | None) -> I64:
    """The integers of Arrow's decimals, given as rows of bytes. Null slots are 0.

    The first valid value with more digits than `kind` allows raises InvalidArgument.
    """
    width = kind.bit_width // 8
    words: npt.NDArray[Any] = np.ascontiguousarray(unscaled).view("<i4" if width == 4 else "<i8")
    numbers = words[:, 0].astype(np.int64)
    fits = _fits(numbers, kind)
    for word in range(1, words.shape[1]):
        fits &= words[:, word] == numbers >> 63
    return _checked(numbers, fits, kind, valid, unscaled)


def from_scaled(numbers: I64, kind: pa.DataType, valid: Bools | None) -> pa.Buffer:
    """The integers as Arrow stores decimals of type `kind`. Null slots are 0.

    The first valid value with more digits than `kind` allows raises InvalidArgument.
    """
    width = kind.bit_width // 8
    data, out = allocate(width * len(numbers), "u1")
    misfit = decimal128.widened(numbers, out, width, precision=kind.precision, valid=valid)
    if misfit is not None:
        raise _misfit(misfit, int(numbers[misfit]), kind)
    return data


def _fits(numbers: I64, kind: pa.DataType) -> Bools:
    most = 10**kind.precision
    fits: Bools = (numbers < most) & (numbers > -most)
    return fits


def _checked(numbers: I64, fits: Bools, kind: pa.DataType, valid: Bools | None, rows: npt.NDArray[np.uint8]) -> I64:
    if valid is not None:
        numbers = np.where(valid, numbers, 0)
        fits = fits | ~valid
    if fits.all():
        return numbers
    at = int(np.argmin(fits))
    found = int.from_bytes(rows[at].tobytes(), "little", signed=True)
    raise _misfit(at, found, kind)


def _misfit(at: int, found: int, kind: pa.DataType) -> InvalidArgument:
    expected = f"a value of decimal({kind.precision}, {kind.scale})"
    return InvalidArgument(f"decimal at {at}: expected {expected}, found {found}E{-kind.scale}")
