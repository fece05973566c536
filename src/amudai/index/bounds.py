"""The bounds of a `Between` question, expressed in values that a field can store.

The bounds of a question can be any numbers, but a field stores only numbers of its own type. A bound that the type
cannot represent moves inwards to the next number that it can. This is exact: no stored value changes sides.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Final

from amudai.errors import InvalidArgument
from amudai.index.questions import Between, Number
from amudai.types import WIDTHS, BasicType, SchemaNode

__all__ = ["StoredBounds", "has_order", "stored_bounds"]

_FLOATS: Final = frozenset({BasicType.FLOAT32, BasicType.FLOAT64})
# The low and the high bound, as the type of number that compares exactly with the stored values; None: no bound.
StoredBounds = tuple[Number | None, Number | None]


def has_order(node: SchemaNode) -> bool:
    """Whether the values of a field are numbers or times."""
    return node.basic_type in WIDTHS or node.is_decimal


def stored_bounds(node: SchemaNode, question: Between) -> StoredBounds | None:
    """The bounds of `question` for stored values of this field; None if no value can lie between them.

    >>> byte = SchemaNode(schema_id=0, name="n", basic_type=BasicType.INT8)
    >>> stored_bounds(byte, Between(-5, 2.5)), stored_bounds(byte, Between(1, 2**70))
    ((None, 2), (1, None))
    >>> stored_bounds(byte, Between(256, None)) is None
    True
    """
    if not has_order(node):
        raise InvalidArgument(f"{node.name!r}: expected a field of numbers or times, found {node}")
    low, high = question.low, question.high
    if any(bound is not None and bound != bound for bound in (low, high)):
        return None  # NaN
    if node.is_decimal:
        low, high = (None if bound is None else Decimal(bound) for bound in (low, high))
    elif node.basic_type in _FLOATS:
        low = None if low is None else _float(low, up=True)
        high = None if high is None else _float(high, up=False)
    else:
        bits, signed = 8 * WIDTHS[node.basic_type], node.dtype.startswith("i")
        least, greatest = (-1 << bits - 1, (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        low = least if low is None else _integer(low, up=True, least=least, greatest=greatest + 1)
        high = greatest if high is None else _integer(high, up=False, least=least - 1, greatest=greatest)
        if low > high:
            return None
        return None if low == least else low, None if high == greatest else high
    return None if low is not None and high is not None and low > high else (low, high)


def _integer(bound: Number, *, up: bool, least: int, greatest: int) -> int:
    """`bound` rounded to an integer, upwards if `up`, and limited to `least..greatest`."""
    if bound <= least:
        return least
    if bound >= greatest:
        return greatest
    return math.ceil(bound) if up else math.floor(bound)


def _float(bound: Number, *, up: bool) -> float:
    """`bound` rounded to a double, upwards if `up`, otherwise downwards."""
    try:
        found = float(bound)
    except OverflowError:
        found = math.inf if bound > 0 else -math.inf
    if up and found < bound:
        return math.nextafter(found, math.inf)
    return math.nextafter(found, -math.inf) if not up and found > bound else found
