"""What may a caller pass?

Checks of arguments that many functions have. A wrong one raises `InvalidArgument`, never Python's own `TypeError`, and
a number is never rounded.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from operator import index
from reprlib import Repr
from typing import Final, TypeVar

from amudai.errors import InvalidArgument

__all__ = [
    "flag",
    "is_one_of",
    "mapping",
    "names",
    "path_text",
    "sequence",
    "shown",
    "text",
    "text_or_none",
    "whole_number",
]

T = TypeVar("T")
V = TypeVar("V")

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
    except (TypeError, OverflowError, MemoryError) as error:  # a range may be longer than memory
        raise InvalidArgument(f"{name}: expected a list, found {shown(values)}") from error


def names(values: Iterable[str], name: str) -> tuple[str, ...]:
    """The names in a list. A single name, of which every character would be taken for a name, is refused.

    >>> names("status", "columns")
    Traceback (most recent call last):
    amudai.errors.InvalidArgument: columns: expected a list of names, found the name 'status'
    """
    if isinstance(values, str):
        raise InvalidArgument(f"{name}: expected a list of names, found the name {shown(values)}")
    found = sequence(values, name)
    for each in found:
        if not isinstance(each, str):
            raise InvalidArgument(f"{name}: expected names, found {shown(each)}")
    return found


def mapping(values: Mapping[str, V], name: str) -> Mapping[str, V]:
    """A dict or another mapping from names.

    >>> mapping(["a"], "properties")
    Traceback (most recent call last):
    amudai.errors.InvalidArgument: properties: expected a dict, found ['a']
    """
    if not isinstance(values, Mapping):
        raise InvalidArgument(f"{name}: expected a dict, found {shown(values)}")
    for key in values:
        if not isinstance(key, str):
            raise InvalidArgument(f"{name}: expected names as keys, found {shown(key)}")
    return values


def flag(value: object, name: str) -> bool:
    """`value`, if it is True or False: a text such as "no" would count as True.

    >>> flag("no", "overwrite")
    Traceback (most recent call last):
    amudai.errors.InvalidArgument: overwrite: expected True or False, found 'no'
    """
    if type(value).__name__ not in ("bool", "bool_"):  # of Python or of numpy, which is not imported for this
        raise InvalidArgument(f"{name}: expected True or False, found {shown(value)}")
    return bool(value)


def is_one_of(value: object, choices: Collection[str]) -> bool:
    """Whether `value` is one of some words. What is no text is none: an array could not even be compared."""
    return isinstance(value, str) and value in choices


def text_or_none(value: str | None, name: str) -> str | None:
    """`value`, if it is a text or None.

    >>> text_or_none(3, "encoding")
    Traceback (most recent call last):
    amudai.errors.InvalidArgument: encoding: expected a text, found 3
    """
    return None if value is None else text(value, name)


def text(value: str, name: str) -> str:
    """`value`, if it is a text."""
    if not isinstance(value, str):
        raise InvalidArgument(f"{name}: expected a text, found {shown(value)}")
    return value


def path_text(value: str | os.PathLike[str], name: str) -> str:
    """A path or URL as text.

    >>> path_text(3, "temp_dir")
    Traceback (most recent call last):
    amudai.errors.InvalidArgument: temp_dir: expected a path, found 3
    """
    if isinstance(value, str) and value.isascii() and "\0" not in value:
        return value  # of every encoding of a system, so that nothing need be tried
    try:
        found = os.fsdecode(value)
        encoded = os.fsencode(found)
    except (TypeError, UnicodeError) as error:
        raise InvalidArgument(f"{name}: expected a path, found {shown(value)}") from error
    if b"\0" in encoded:
        raise InvalidArgument(f"{name}: expected a path without null characters, found {shown(value)}")
    return found


def shown(value: object) -> str:
    """A value for an error message, shortened: a list may be long, or so deep that `repr` fails.

    >>> shown("abc"), shown(list(range(1000)))
    ("'abc'", '[0, 1, 2, 3, 4, 5, ...]')
    """
    return _SHORT.repr(value)
