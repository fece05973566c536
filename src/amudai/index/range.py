"""Look-ups in the range index of a field.

A range index holds the least and the greatest value of each stretch of 256 positions. It is a buffer of the field, not
a member of an index collection, so it has a reader of its own. Its positions count from the start of the stripe.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from amudai.column import ColumnSource
from amudai.encoding import RangeIndex
from amudai.errors import CorruptedData
from amudai.index.bounds import StoredBounds, has_order, stored_bounds
from amudai.index.questions import Between
from amudai.rows import SLOTS, Positions, Rows
from amudai.types import SchemaNode, bounds_node, decimal128

__all__ = ["RangeProbe", "open_range"]

Bools = npt.NDArray[np.bool_]


class RangeProbe:
    """The range index of one field in one stripe. It finds the positions whose values lie between two bounds.

    Attributes
    ----------
    index
        The bounds of each stretch. No minimum is greater than its maximum.
    """

    def __init__(self, node: SchemaNode, index: RangeIndex) -> None:
        node = bounds_node(node)
        self._node = node
        self.index = index
        count = -(-index.span // index.size)
        self._empty: Bools | None = None  # stretches without a valid value: their least and greatest mean nothing
        self._sure: Bools | None = None  # stretches without an invalid value
        if index.invalid is not None:
            sizes = np.full(count, index.size, np.uint32)
            sizes[-1] = index.span - (count - 1) * index.size
            self._empty, self._sure = index.invalid == sizes, index.invalid == 0
        self._least: npt.NDArray[Any] = index.least
        self._greatest: npt.NDArray[Any] = index.greatest
        if node.is_decimal:
            self._least, self._greatest = (
                decimal128.by_value(np.ascontiguousarray(rows).reshape(-1)) for rows in (index.least, index.greatest)
            )
            wrong = _differences(self._least, self._greatest) > 0
        else:
            wrong = ~(self._least <= self._greatest)  # also true for NaN, which is not a valid bound
        if self._empty is not None:
            wrong &= ~self._empty
        if np.logical_or.reduce(wrong):
            at = int(np.argmax(wrong))
            raise CorruptedData(f"range index: expected minimum <= maximum, found a greater minimum in stretch {at}")

    def between(self, question: Between) -> Positions:
        """The positions of the field whose values lie between the bounds, counted from the start of the stripe."""
        bounds = stored_bounds(self._node, question)
        if bounds is None:
            return Positions.none(SLOTS)
        possible, within = self._compared(bounds)
        if self._empty is not None and self._sure is not None:
            possible &= ~self._empty
            within &= self._sure
        return Positions(self._slots(within), self._slots(possible & ~within))

    def _compared(self, bounds: StoredBounds) -> tuple[Bools, Bools]:
        """Which stretches may have a value between the bounds, and which have no value outside them."""
        low, high = bounds
        if low is None and high is None:
            return np.ones(len(self._least), np.bool_), np.ones(len(self._least), np.bool_)
        if low is None:
            return self._at_most(self._least, high), self._at_most(self._greatest, high)
        possible, within = self._at_least(self._greatest, low), self._at_least(self._least, low)
        if high is not None:
            possible &= self._at_most(self._least, high)
            within &= self._at_most(self._greatest, high)
        return possible, within & possible

    def _at_least(self, values: npt.NDArray[Any], bound: Any) -> Bools:
        if isinstance(bound, Decimal):
            return np.asarray(decimal128.compare(values, bound) >= 0)
        # float64, so that comparing with float32 values does not round the bound.
        return np.asarray(values >= (bound if isinstance(bound, int) else np.float64(bound)))

    def _at_most(self, values: npt.NDArray[Any], bound: Any) -> Bools:
        if isinstance(bound, Decimal):
            return np.asarray(decimal128.compare(values, bound) <= 0)
        return np.asarray(values <= (bound if isinstance(bound, int) else np.float64(bound)))

    def _slots(self, stretches: Bools) -> Rows:
        """The positions of these stretches."""
        found = Rows.of_mask(stretches)
        if not found:
            return found
        size, span = self.index.size, np.uint64(self.index.span)
        return Rows(found.starts * np.uint64(size), np.minimum(found.ends * np.uint64(size), span))


# A probe lives as long as its column: many predicates ask twice, once for each end of a range.
_PROBES: Final[WeakKeyDictionary[ColumnSource, RangeProbe]] = WeakKeyDictionary()


def open_range(source: ColumnSource) -> RangeProbe | None:
    """The range index of a column of a stripe; None if the column has no range index."""
    found = _PROBES.get(source)
    if found is None and has_order(bounds_node(source.node)):
        index = source.range_index()
        if index is not None:
            with source.place():
                found = _PROBES.setdefault(source, RangeProbe(source.node, index))
    return found


def _differences(left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
    """The signs of left - right, for rows of `decimal128.by_value`."""
    result = np.zeros(len(left), np.int8)
    for column in (2, 1, 0):
        result[left[:, column] < right[:, column]] = -1
        result[left[:, column] > right[:, column]] = 1
    return result
