"""The stored values for which a leaf is true, for leaves that can be answered without decoding blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai.encoding import ByteKeys, NumberRanges, TextSearch, Wanted
from amudai.index import Between
from amudai.plan.leaf import LeafQuestion
from amudai.predicate import Text, is_text
from amudai.types import BYTES, WIDTHS, BasicType

__all__ = ["WantedValues", "wanted_values"]

# Each value is compared with every key. With more keys, the hash table of Arrow's `is_in` is faster.
_MOST_KEYS: Final = 16


@dataclass(frozen=True, slots=True, eq=False)
class WantedValues:
    """The stored values for which the plain leaf is true or may be.

    Attributes
    ----------
    possible
        For all other values the leaf is false.
    sure
        For these values, which are among `possible`, the leaf is true; None if there are none.
    """

    possible: Wanted
    sure: Wanted | None

    @property
    def is_exact(self) -> bool:
        """Whether no value is in doubt."""
        return self.sure is self.possible


def wanted_values(question: LeafQuestion) -> WantedValues | None:
    """The stored values for which the leaf is true or may be; None if only decoded values answer it."""
    if question.node.is_decimal:
        decimals = question.decimals
        return None if decimals is None else WantedValues(decimals, decimals)
    if question.node.basic_type in BYTES:
        found = _bytes(question)
        return None if found is None else WantedValues(found, found)
    if question.node.basic_type not in WIDTHS:
        return None
    if question.nanoseconds is None:
        numbers = _numbers(question)
        return None if numbers is None else WantedValues(numbers, numbers)
    return _ticks(question)


def _ticks(question: LeafQuestion) -> WantedValues | None:
    """The ticks of times that match, for a column with nanoseconds after its ticks."""
    wanted = question.between
    if wanted is None:
        keys = _keys(question)
        return None if keys is None else WantedValues(keys, None)
    dtype = np.dtype(question.node.dtype)
    possible = _range(wanted.possible, dtype)
    if wanted.is_exact:
        return WantedValues(possible, possible)
    return WantedValues(possible, None if wanted.sure is None else _range(wanted.sure, dtype))


def _numbers(question: LeafQuestion) -> NumberRanges | None:
    wanted = question.between
    if wanted is not None:
        return _range(wanted.possible, np.dtype(question.node.dtype)) if wanted.is_exact else None
    return _keys(question)


def _keys(question: LeafQuestion) -> NumberRanges | None:
    keys = question.keys
    if keys is None or len(keys) > _MOST_KEYS:
        return None
    numbers = np.frombuffer(b"".join(keys), question.node.dtype)
    return NumberRanges(numbers, numbers)


def _range(between: Between, dtype: np.dtype[Any]) -> NumberRanges:
    """The range, limited to what the type can hold."""
    if dtype.kind == "f":
        least, most = -np.inf, np.inf
    else:
        bits = 8 * dtype.itemsize
        least, most = (-1 << bits - 1, (1 << bits - 1) - 1) if dtype.kind == "i" else (0, (1 << bits) - 1)
    low = least if between.low is None else max(between.low, least)
    high = most if between.high is None else min(between.high, most)
    bounds: npt.NDArray[Any] = np.array([low, high] if low <= high else [], dtype)
    return NumberRanges(bounds[:1], bounds[1:])


def _bytes(question: LeafQuestion) -> ByteKeys | TextSearch | None:
    match question.plain.leaf:
        case Text(_, "startswith" | "equals" as op, text, True) if is_text(question.leaf.type):
            return ByteKeys((text.encode(),), prefixes=op == "startswith")
        case Text(_, op, text, case_sensitive) if question.node.basic_type is BasicType.STRING:
            return TextSearch(op, text, case_sensitive)
    keys = question.keys
    return None if keys is None or len(keys) > _MOST_KEYS else ByteKeys(keys)
