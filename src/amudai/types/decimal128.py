"""Stored decimals: 16 bytes to numbers and back.

IEEE 754 decimal128 with densely packed digits (DPD), as a little-endian 128-bit number: a sign, a combination field in
which the leading digit and the exponent share five bits, 12 more bits of exponent, then 33 digits, three to each
ten-bit declet. Only the kernels know the bits. Columns are read with `to_unscaled` and written with `from_unscaled`;
`to_decimal` reads a single value; `by_value` and `bound_key` give what the order of decimals is told by.
"""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from amudai import _kernels
from amudai.errors import CorruptedData, InvalidArgument

__all__ = [
    "DIGITS",
    "SIZE",
    "bound_key",
    "by_value",
    "cohort",
    "compare",
    "from_unscaled",
    "next_decimal",
    "to_decimal",
    "to_unscaled",
    "widened",
]

BytesLike: TypeAlias = bytes | bytearray | memoryview | NDArray[np.uint8]
Bools: TypeAlias = NDArray[np.bool_]
Key: TypeAlias = tuple[int, int, int, int]

SIZE: Final = 16  # bytes of one value

DIGITS: Final = 34
_BIAS: Final = 6176
_LARGEST_EXPONENT: Final = 6111
_INFINITY: Final = 0b11110  # in the combination field
_NAN: Final = 0b11111
_LOW_DIGITS: Final = 18
# Added to the decimal place of a number's first digit, so that the result is never 0.
_PLACES: Final = 10_000
_PLACE_OF_INFINITY: Final = 30_000
# The most digits of Arrow's decimals, by the bytes of a value.
_MOST_DIGITS: Final = {4: 9, 8: 18, 16: 38, 32: 76}
# The numbers that can be stored.
_STORED: Final = Context(prec=DIGITS, Emin=-6143, Emax=6144, clamp=1, traps=[])


def to_unscaled(
    data: BytesLike, scale: int, width: int, *, precision: int | None = None, valid: Bools | None = None
) -> NDArray[np.uint8]:
    """A run of stored values as Arrow stores them: value x 10**scale, as little-endian two's complement integers.

    The result has a row of `width` bytes for each value. The first value that Arrow cannot hold exactly raises
    `InvalidArgument`: NaN, infinity, more than `scale` fraction digits, or more than `precision` digits in all.

    Parameters
    ----------
    width
        4 for Arrow's decimal32, 8 for decimal64, 16 for decimal128, 32 for decimal256.
    precision
        The most digits a value may have. The default is what `width` can hold: 9, 18, 38 or 76.
    valid
        False for null slots. Their bytes are ignored and their result is 0.
    """
    stored = _whole(data)
    count = len(stored) // SIZE
    widest = _MOST_DIGITS.get(width)
    if widest is None:
        raise InvalidArgument(f"width: expected 4, 8, 16 or 32, found {width}")
    precision = widest if precision is None else precision
    if not 1 <= precision <= widest:
        raise InvalidArgument(f"precision: expected 1..{widest}, found {precision}")
    result = np.empty((count, width), np.uint8)
    misfit = _kernels.decimals_to_unscaled(stored, _mask(valid, count), scale, precision, width, result.reshape(-1))
    if misfit is not None:
        raise _misfit(stored[misfit * SIZE : (misfit + 1) * SIZE], misfit, scale, precision)
    return result


def from_unscaled(
    unscaled: NDArray[np.uint8], scale: int, *, precision: int = DIGITS, valid: Bools | None = None
) -> NDArray[np.uint8]:
    """The stored form of Arrow's decimals, which are integers x 10**-scale: the inverse of `to_unscaled`.

    The result has a row of 16 bytes for each value. The exponent is -scale, so trailing zeros are kept. The first value
    with more than `precision` digits raises `InvalidArgument`.

    Parameters
    ----------
    unscaled
        A row of 4, 8, 16 or 32 bytes for each value: a little-endian two's complement integer.
    valid
        False for null slots. Their bytes are ignored and their result is zeros.

    Examples
    --------
    >>> from_unscaled(np.array([[12345]], "<i8").view(np.uint8), 2).tobytes().hex()
    'c5490000000000000000000000800722'
    """
    if unscaled.ndim != 2 or unscaled.shape[1] not in _MOST_DIGITS:
        raise InvalidArgument(f"unscaled: expected rows of 4, 8, 16 or 32 bytes, found the shape {unscaled.shape}")
    if not 1 <= precision <= DIGITS:
        raise InvalidArgument(f"precision: expected 1..{DIGITS}, found {precision}")
    if not -_LARGEST_EXPONENT <= scale <= _BIAS:
        raise InvalidArgument(f"scale: expected {-_LARGEST_EXPONENT}..{_BIAS}, found {scale}")
    count, width = unscaled.shape
    result = np.empty((count, SIZE), np.uint8)
    data = np.ascontiguousarray(unscaled).reshape(-1)
    at = _kernels.decimals_from_unscaled(data, _mask(valid, count), scale, precision, width, result.reshape(-1))
    if at is not None:
        found = int.from_bytes(unscaled[at].tobytes(), "little", signed=True)
        expected = f"a value of decimal({precision}, {scale})"
        raise InvalidArgument(f"decimal at {at}: expected {expected}, found {found}E{-scale}")
    return result


def widened(
    numbers: NDArray[np.int64], out: NDArray[np.uint8], width: int, *, precision: int, valid: Bools | None = None
) -> int | None:
    """Write integers to `out` as Arrow stores decimals, `width` bytes each; return the first with too many digits.

    Null slots are written as 0.
    """
    mask = _mask(valid, len(numbers))
    return _kernels.decimals_from_scaled(np.ascontiguousarray(numbers), mask, precision, width, out)


def by_value(data: BytesLike) -> NDArray[np.int64]:
    """A row of three numbers for each stored decimal. Rows compare as the decimals do.

    1.0 equals 1.00 and -0 equals 0. All NaNs have the same row, which is greater than all others.
    """
    return _kernels.decimal_keys(_whole(data)).reshape(-1, 3)


def bound_key(value: Decimal) -> Key:
    """Where `value`, which is not NaN, stands among the rows of `by_value`: a row, and the sign of the digits left.

    `value` may have more digits than a stored decimal. Then it stands right above or below the row of its first 34.

    >>> bound_key(Decimal("-12.5"))
    (-10002, -1250000000000000, 0, 0)
    """
    sign, parts, exponent = value.as_tuple()
    digits = "".join(map(str, parts)).lstrip("0")
    turn = -1 if sign else 1
    if isinstance(exponent, str):
        return turn * _PLACE_OF_INFINITY, 0, 0, 0
    if not digits:
        return 0, 0, 0, 0
    # All places beyond those of stored decimals compare the same.
    place = min(max(exponent + len(digits) + _PLACES, 1), _PLACE_OF_INFINITY - 1)
    shown = digits[:DIGITS].ljust(DIGITS, "0")
    rest = turn if digits[DIGITS:].strip("0") else 0
    return turn * place, turn * int(shown[:-_LOW_DIGITS]), turn * int(shown[-_LOW_DIGITS:]), rest


def compare(rows: NDArray[np.int64], value: Decimal) -> NDArray[np.int8]:
    """-1, 0 or 1 for each row of `by_value`: less than, equal to or greater than `value`, which is not NaN."""
    *wanted, rest = bound_key(value)
    result = np.full(len(rows), -rest, np.int8)
    for column in (2, 1, 0):
        result[rows[:, column] < wanted[column]] = -1
        result[rows[:, column] > wanted[column]] = 1
    return result


def next_decimal(value: Decimal, step: int) -> Decimal:
    """The greatest number below (`step` -1) or the least above (1) `value` that can be stored; beyond infinity, itself.

    >>> next_decimal(Decimal(0), 1)
    Decimal('1E-6176')
    """
    return value.next_minus(_STORED) if step < 0 else value.next_plus(_STORED)


def cohort(value: Decimal) -> tuple[bytes, ...]:
    """All stored forms of a finite number that is not zero, which differ in trailing zeros. None for too many digits.

    >>> [to_decimal(form) for form in cohort(Decimal("1.20"))][:2]
    [Decimal('1.2'), Decimal('1.20')]
    """
    sign, parts, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return ()
    digits = "".join(map(str, parts)).lstrip("0")
    kept = digits.rstrip("0")
    exponent += len(digits) - len(kept)
    forms = []
    for zeros in range(DIGITS - len(kept) + 1):
        if -_BIAS <= exponent - zeros <= _LARGEST_EXPONENT:
            number = int(kept + "0" * zeros) * (-1 if sign else 1)
            unscaled = np.frombuffer(number.to_bytes(16, "little", signed=True), np.uint8).reshape(1, 16)
            forms.append(from_unscaled(unscaled, zeros - exponent).tobytes())
    return tuple(forms)


def to_decimal(data: BytesLike) -> Decimal:
    """One stored value as a `Decimal`, digit for digit: trailing zeros, the sign of zero and NaN payloads are kept.

    >>> to_decimal(bytes.fromhex("c5490000000000000000000000800722"))
    Decimal('123.45')
    """
    stored = np.frombuffer(data, np.uint8)
    if len(stored) != SIZE:
        raise CorruptedData(f"decimal value: expected {SIZE} bytes, found {len(stored)}")
    negative, high, low, exponent = _kernels.decimal_parts(stored)
    coefficient, sign = high * 10**_LOW_DIGITS + low, "-" if negative else ""
    combination = int(stored[-1]) >> 2 & 31
    if combination == _INFINITY:
        return Decimal(f"{sign}Infinity")
    if combination == _NAN:
        return Decimal(f"{sign}{'s' if int(stored[-1]) & 2 else ''}NaN{coefficient or ''}")
    return Decimal(f"{sign}{coefficient}E{exponent}")


def _whole(data: BytesLike) -> NDArray[np.uint8]:
    stored = np.frombuffer(data, np.uint8)
    if len(stored) % SIZE:
        raise CorruptedData(f"decimal values: expected a multiple of {SIZE} bytes, found {len(stored)}")
    return stored


def _mask(valid: Bools | None, count: int) -> NDArray[np.uint8] | None:
    if valid is not None and len(valid) != count:
        raise InvalidArgument(f"valid: expected {count} slots, found {len(valid)}")
    return None if valid is None else np.ascontiguousarray(valid).view(np.uint8)


def _misfit(stored: NDArray[np.uint8], index: int, scale: int, precision: int) -> InvalidArgument:
    value = to_decimal(stored)
    exponent = value.as_tuple().exponent
    if isinstance(exponent, str):
        trouble = "it is not a finite number"
    elif len(value.as_tuple().digits) + exponent + scale > precision:
        trouble = "it has too many digits"
    else:
        trouble = "it has too many fraction digits"
    expected = f"a value of decimal({precision}, {scale})"
    shown = str(value).replace("sNaN", "NaN")
    return InvalidArgument(f"decimal at {index}: expected {expected}, found {shown}: {trouble}")
