"""Which stored values lie between two numbers?

A question's bounds are any numbers; a field holds those of its type. Here the one becomes the other, exactly: a bound
that no stored value can have moves to the next one inside.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Final

from amudai.errors import InvalidArgument
from amudai.index.questions import Between, Number
from amudai.types import WIDTHS, BasicType, SchemaNode

__all__ = ["Bounds", "bounds_of", "has_order"]

_FLOATS: Final = frozenset({BasicType.FLOAT32, BasicType.FLOAT64})
# Low and high in numbers that compare exactly with stored ones (int, float, Decimal by the field's type); None: open.
Bounds = tuple[Number | None, Number | None]


def has_order(node: SchemaNode) -> bool:
    """Whether a field's values are numbers or times."""
    return node.basic_type in WIDTHS or node.is_decimal


def bounds_of(node: SchemaNode, question: Between) -> Bounds | None:
    """The bounds for values of this field; None where no value can lie between them.

    >>> byte = SchemaNode(schema_id=0, name="n", basic_type=BasicType.INT8)
    >>> bounds_of(byte, Between(-5, 2.5)), bounds_of(byte, Between(256, None)), bounds_of(byte, Between(1, 2**70))
    ((None, 2), None, (1, None))
    """
    if not has_order(node):
        raise InvalidArgument(f"{node.name!r}: expected numbers or times to look between, found {node}")
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
    """The next integer from `bound`, inside of `least..greatest`."""
    if bound <= least:
        return least
    if bound >= greatest:
        return greatest
    return math.ceil(bound) if up else math.floor(bound)


def _float(bound: Number, *, up: bool) -> float:
    """The next double from `bound`."""
    try:
        found = float(bound)
    except OverflowError:
        found = math.inf if bound > 0 else -math.inf
    if up and found < bound:
        return math.nextafter(found, math.inf)
    return math.nextafter(found, -math.inf) if not up and found > bound else found
