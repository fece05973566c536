"""Comparisons of engines that count NaN as larger than all numbers, as predicates of ours."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final, Literal, TypeAlias

import pyarrow as pa

from amudai.predicate import Predicate, col, is_text

__all__ = ["TURNED", "Operator", "compared", "same_kind"]

Operator: TypeAlias = Literal["eq", "ne", "lt", "le", "gt", "ge"]

# The operator if both sides change places.
TURNED: Final[dict[Operator, Operator]] = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
# Doubles hold all integers up to this one.
_EXACT: Final = 1 << 53


def compared(path: str, kind: pa.DataType, operator: Operator, value: Any) -> Predicate | None:
    """A predicate that is true, false and null exactly where an engine says so; None if there is none.

    >>> compared("n", pa.int64(), "gt", 5)
    col("n") > 5
    >>> compared("x", pa.float64(), "gt", 5) is None  # it is true for NaN, and ours is not
    True
    """
    if pa.types.is_floating(kind):
        if operator in ("gt", "ge") or value != value or not isinstance(value, int | float) or abs(value) > _EXACT:
            return None
        value = float(value)
    elif not same_kind(kind, value):
        return None
    found: Predicate = getattr(col(path), f"__{operator}__")(value)
    return found


def same_kind(kind: pa.DataType, value: Any) -> bool:
    """Whether an engine and a scan compare a column that holds no floats with a value alike."""
    types = pa.types
    if isinstance(value, bool):
        return bool(types.is_boolean(kind))
    if isinstance(value, int):
        return bool(types.is_integer(kind))
    if isinstance(value, str):
        return is_text(kind)
    if isinstance(value, pa.Scalar):
        return bool(types.is_timestamp(kind)) and kind.equals(value.type)
    return isinstance(value, dt.date) and not isinstance(value, dt.datetime) and bool(types.is_date32(kind))
