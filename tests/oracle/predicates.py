"""Which rows does a predicate mean? Row by row, in Python values, with Kleene's logic: slow and obvious."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from amudai.predicate import Always, And, Compare, IsIn, IsNull, IsValid, Matches, Not, Or, Predicate, Text
from tests.oracle import operators

Row = dict[str, Any]


def rows_of(predicate: Predicate, rows: list[Row]) -> list[int]:
    """The numbers of the rows for which it is true."""
    return [number for number, row in enumerate(rows) if truth(predicate, row) is True]


def truth(predicate: Predicate, row: Row) -> bool | None:
    """True, false, or None where nulls leave it open."""
    return joined(predicate, lambda leaf: _of_row(leaf, row))


def joined(predicate: Predicate, leaf: Callable[[Predicate], bool | None]) -> bool | None:
    """The truth of a predicate, from that of its leaves."""
    match predicate:
        case Always(value):
            return value
        case Not(term):
            found = joined(term, leaf)
            return None if found is None else not found
        case And(terms):
            every = [joined(term, leaf) for term in terms]
            return False if False in every else None if None in every else True
        case Or(terms):
            every = [joined(term, leaf) for term in terms]
            return True if True in every else None if None in every else False
    return leaf(predicate)


def _of_row(predicate: Predicate, row: Row) -> bool | None:
    match predicate:
        case Compare(path=path) | IsIn(path=path) | IsNull(path=path) | IsValid(path=path):
            return _of_path(predicate, row, path.split("."))
        case Text(path=path) | Matches(path=path):
            return _of_path(predicate, row, path.split("."))
    raise AssertionError(predicate)


def _of_path(leaf: Predicate, value: Any, steps: list[str]) -> bool | None:
    if isinstance(value, list) and not isinstance(leaf, IsNull | IsValid):
        return any(_of_path(leaf, item, steps) is True for item in value)
    if steps:
        if isinstance(value, list):
            return any(_of_path(leaf, item, steps) is True for item in value)
        return _of_path(leaf, None if value is None else value[steps[0]], steps[1:])
    return _leaf(leaf, value)


def _leaf(leaf: Predicate, value: Any) -> bool | None:
    if isinstance(leaf, IsNull):
        return value is None
    if isinstance(leaf, IsValid):
        return value is not None
    if value is None:
        return None
    match leaf:
        case Compare(_, op, other):
            return _compared(value, op, other)
        case IsIn(_, values):
            return any(_compared(value, "==", other) for other in values)
        case Text(_, op, text, case_sensitive):
            return operators.is_true(op, value, text, case_sensitive)
        case Matches(_, pattern):
            return re.search(pattern, value) is not None
    raise AssertionError(leaf)


def _compared(value: Any, op: str, other: Any) -> bool:
    if isinstance(value, float) and isinstance(other, float) and (math.isnan(value) or math.isnan(other)):
        return op == "!="
    if isinstance(value, str):
        value, other = value.encode(), other.encode()
    return {
        "==": value == other,
        "!=": value != other,
        "<": value < other,
        "<=": value <= other,
        ">": value > other,
        ">=": value >= other,
    }[op]
