"""The sixteen bytes of a decimal, packed digit by digit. Bytes: docs/format/values.md."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

__all__ = ["from_decimal", "to_decimal"]

DIGITS: Final = 34
BIAS: Final = 6176
LARGEST_EXPONENT: Final = 6111
DECLETS: Final = 11  # of three digits in ten bits each
COMBINATION_INFINITY: Final = 0b11110
COMBINATION_NAN: Final = 0b11111


def from_decimal(value: Decimal) -> bytes:
    """The 16 bytes of `value`, exactly; a value with more than 34 digits or a too large exponent is an error.

    Trailing zeros are kept where they fit. Where they do not, or where an exponent is out of range but zeros can be
    added or taken away, the same number is stored with other zeros.
    """
    sign, parts, exponent = value.as_tuple()
    digits = "".join(map(str, parts)).lstrip("0")
    if exponent == "F":
        number = COMBINATION_INFINITY << 122
    elif isinstance(exponent, str):
        if len(digits) > 3 * DECLETS:
            raise ValueError(f"NaN payload: expected at most {3 * DECLETS} digits, found {len(digits)}")
        number = COMBINATION_NAN << 122 | (exponent == "N") << 121 | declets(int(digits or "0"))
    else:
        coefficient, exponent = in_range(digits, exponent)
        leading, rest = divmod(coefficient, 1000**DECLETS)
        top, continuation = divmod(exponent + BIAS, 1 << 12)
        combination = top << 3 | leading if leading < 8 else 0b11000 | top << 1 | leading - 8
        number = combination << 122 | continuation << 110 | declets(rest)
    return (sign << 127 | number).to_bytes(16, "little")


def in_range(digits: str, exponent: int) -> tuple[int, int]:
    """The coefficient and exponent that store a number, as near to those it has as the format allows."""
    if not digits:
        return 0, min(max(exponent, -BIAS), LARGEST_EXPONENT)
    # Text and not arithmetic: a `Decimal` may have millions of digits, and an exponent of which no power fits memory.
    kept = len(digits) - max(len(digits) - DIGITS, -BIAS - exponent, 0)
    added = max(exponent - LARGEST_EXPONENT, 0)
    if kept > 0 and not digits[kept:].strip("0") and (not added or kept + added <= DIGITS):
        exponent += len(digits) - kept - added
        if exponent <= LARGEST_EXPONENT:
            return int(digits[:kept] + "0" * added), exponent
    expected = f"at most {DIGITS} digits and an exponent in {-BIAS}..{LARGEST_EXPONENT}"
    raise ValueError(f"decimal: expected {expected}, found {len(digits)} digits and exponent {exponent}")


def declet(digits: str) -> int:
    """The ten bits of three digits: a digit below 8 keeps three bits, one of 8 or 9 keeps its lowest."""
    large = "".join("1" if digit in "89" else "0" for digit in digits)
    a, b, c = (f"{int(digit):04b}" for digit in digits)
    bits = {
        "000": a[1:] + b[1:] + "0" + c[1:],
        "001": a[1:] + b[1:] + "100" + c[3],
        "010": a[1:] + c[1:3] + b[3] + "101" + c[3],
        "100": c[1:3] + a[3] + b[1:] + "110" + c[3],
        "110": c[1:3] + a[3] + "00" + b[3] + "111" + c[3],
        "101": b[1:3] + a[3] + "01" + b[3] + "111" + c[3],
        "011": a[1:] + "10" + b[3] + "111" + c[3],
        "111": "00" + a[3] + "11" + b[3] + "111" + c[3],
    }
    return int(bits[large], 2)


def declets(number: int) -> int:
    """The 110 bits of a number of up to 33 digits."""
    digits = f"{number:033}"
    packed = 0
    for at in range(0, 3 * DECLETS, 3):
        packed = packed << 10 | declet(digits[at : at + 3])
    return packed


def to_decimal(stored: bytes) -> Decimal:
    """The number of 16 bytes, digit by digit."""
    number = int.from_bytes(stored, "little")
    sign, combination, continuation = number >> 127, number >> 122 & 31, number >> 110 & 0xFFF
    digits = "".join(NUMBERS[number >> 10 * place & 0x3FF] for place in reversed(range(DECLETS)))
    if combination == COMBINATION_INFINITY:
        return Decimal((sign, (0,), "F"))
    if combination == COMBINATION_NAN:
        return Decimal((sign, tuple(map(int, digits.lstrip("0"))), "N" if continuation >> 11 else "n"))
    leading = combination & 7 if combination < 0b11000 else 8 + (combination & 1)
    top = combination >> 3 if combination < 0b11000 else combination >> 1 & 3
    coefficient = int(f"{leading}{digits}")
    return Decimal((sign, tuple(map(int, str(coefficient))), (top << 12 | continuation) - BIAS))


# By declet. Of 24 declets the two top bits do not matter: no digits are packed to them.
PACKED: Final = {declet(f"{number:03}"): f"{number:03}" for number in range(1000)}
NUMBERS: Final = [PACKED[bits] if bits in PACKED else PACKED[bits & 0xFF] for bits in range(1024)]
