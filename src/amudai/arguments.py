"""What may a caller pass?

Checks of arguments that many functions have. A wrong one raises `InvalidArgument`, never Python's own `TypeError`, and
a number is never rounded.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from reprlib import Repr
from typing import Final, TypeVar

from amudai.errors import InvalidArgument

__all__ = ["names", "sequence", "shown", "whole_number"]

T = TypeVar("T")

_SHORT: Final = Repr()
_SHORT.maxstring = _SHORT.maxother = 200


def whole_number(value: object, name: str, least: int = 0) -> int:
    """`value` as an `int`, if it is a whole number of at least `least`: an `int`, or an integer of numpy.

    >>> whole_number(3, "limit")
    3
    >>> whole_number(1.5, "limit")
    Traceback (most recent call last):
    amudai.errors.InvalidArgument: limit: expected a whole number, found 1.5
    """
    try:
        found = index(value)  # type: ignore[arg-type]
    except TypeError:
        found = None
    if found is None or isinstance(value, bool):
        raise InvalidArgument(f"{name}: expected a whole number, found {shown(value)}")
    if found < least:
        raise InvalidArgument(f"{name}: expected at least {least}, found {found}")
    return found


def sequence(values: Iterable[T], name: str) -> tuple[T, ...]:
    """The items of a list, tuple or other iterable.

    >>> sequence(5, "stripes")
    Traceback (most recent call last):
    amudai.errors.InvalidArgument: stripes: expected a list, found 5
    """
    try:
        return tuple(values)
    except TypeError as error:
        raise InvalidArgument(f"{name}: expected a list, found {shown(values)}") from error


def names(values: Iterable[str], name: str) -> tuple[str, ...]:
    """The names in a list. A single name, of which every character would be taken for a name, is refused.

    >>> names("status", "columns")
    Traceback (most recent call last):
    amudai.errors.InvalidArgument: columns: expected a list of names, found the name 'status'
    """
    if isinstance(values, str):
        raise InvalidArgument(f"{name}: expected a list of names, found the name {shown(values)}")
    return sequence(values, name)


def shown(value: object) -> str:
    """A value for an error message, shortened: a list may be long, or so deep that `repr` fails.

    >>> shown("abc"), shown(list(range(1000)))
    ("'abc'", '[0, 1, 2, 3, 4, 5, ...]')
    """
    return _SHORT.repr(value)
