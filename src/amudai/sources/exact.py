"""Detecting numbers in text that a float64 would change: whole numbers that it rounds, and numbers beyond its range.

Readers of text make a column float64 if one of its numbers is not a 64-bit integer, and large identifiers would
silently change. This check runs only if a column of floats has a value beyond 2**53.
"""

from __future__ import annotations

import math
import re
from typing import Final

__all__ = ["FIRST_ROUNDED", "trouble_with"]

# From here on a float64 does not hold every integer.
FIRST_ROUNDED: Final = float(1 << 53)
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_DIGIT: Final = re.compile(r"[0-9]")


def trouble_with(text: str, decimal: str = ".") -> str | None:
    """What a float64 would do to the number in a text that changes it; None if it keeps the number.

    >>> [trouble_with(text) for text in ("9007199254740993", "9007199254740992", "1e400", "inf")]
    ['a double would round', None, 'no double can hold', None]
    """
    number = text.strip().replace(decimal, ".")
    if not _DIGIT.search(number):
        return None  # inf and nan are what they say
    found = float(number)
    if math.isinf(found):
        return "no double can hold"
    is_rounded = abs(found) >= FIRST_ROUNDED and _INTEGER.fullmatch(number) and int(found) != int(number)
    return "a double would round" if is_rounded else None
