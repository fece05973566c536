"""Detecting integers in text that a float64 would round.

Readers of text make a column float64 if one of its numbers is not a 64-bit integer, and large identifiers would
silently change. This check runs only if a column of floats has a value beyond 2**53.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from amudai.errors import InvalidSchema
from amudai.sources.records import Records

__all__ = ["FIRST_ROUNDED", "check_integers", "rounded_integer"]

# From here on a float64 does not hold every integer.
FIRST_ROUNDED: Final = float(1 << 53)


def rounded_integer(value: str | int | float | None) -> int | None:
    """The integer in a value that a float64 cannot hold; None if the value is another one.

    >>> rounded_integer("9007199254740993"), rounded_integer("9007199254740992")
    (9007199254740993, None)
    """
    number = _integer(value)
    if number is None or abs(number) < FIRST_ROUNDED or int(float(number)) == number:
        return None
    return number


def check_integers(records: Records, column: str, values: Iterable[str | int | float | None]) -> None:
    """Raise an error for integers that a float64 cannot hold. `values` has the value of each record."""
    for index, value in enumerate(values):
        number = rounded_integer(value)
        if number is not None:
            way_out = f'say types={{"{column}": pa.uint64()}}, pa.string() or, to round, pa.float64()'
            raise InvalidSchema(
                f"column {column!r}: expected numbers that float64 can hold, found {number}: {way_out}",
                file=records.file.path,
                line=int(records.lines[index]),
            )


def _integer(value: str | int | float | None) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        digits = value.strip().removeprefix("-").removeprefix("+")
        # Longer numbers are beyond the range of a float, and not identifiers.
        if digits.isascii() and digits.isdigit() and len(digits) < 309:
            return int(value)
    return None
