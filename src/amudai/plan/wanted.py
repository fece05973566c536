"""The stored values for which a leaf is true, for leaves that can be answered without decoding blocks."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai.encoding import ByteKeys, NumberRanges, Wanted
from amudai.index import Between
from amudai.plan.leaf import LeafQuestion
from amudai.predicate import Text
from amudai.types import BYTES, WIDTHS

__all__ = ["wanted_values"]

# Each value is compared with every key. With more keys, the hash table of Arrow's `is_in` is faster.
_MOST_KEYS: Final = 16


def wanted_values(question: LeafQuestion) -> Wanted | None:
    """The stored values for which the leaf is true; None if decoded values are needed to answer it."""
    if question.node.basic_type in WIDTHS:
        return _numbers(question)
    if question.node.basic_type in BYTES:
        return _bytes(question)
    return None


def _numbers(question: LeafQuestion) -> NumberRanges | None:
    dtype = np.dtype(question.node.dtype)
    if question.between is not None:
        between, exact = question.between
        return _range(between, dtype) if exact else None
    keys = question.keys
    if keys is None or len(keys) > _MOST_KEYS:
        return None
    numbers = np.frombuffer(b"".join(keys), dtype)
    return NumberRanges(numbers, numbers)


def _range(between: Between, dtype: np.dtype[Any]) -> NumberRanges | None:
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


def _bytes(question: LeafQuestion) -> ByteKeys | None:
    match question.plain.leaf:
        case Text(_, "startswith" | "equals" as op, text, True):
            return ByteKeys((text.encode(),), prefixes=op == "startswith")
    keys = question.keys
    return None if keys is None or len(keys) > _MOST_KEYS else ByteKeys(keys)
