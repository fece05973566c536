"""The stored numbers for which a comparison is true."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from amudai.index import Between
from amudai.plan.stored_values import next_number, stored_number
from amudai.types import SchemaNode

__all__ = ["MatchingNumbers", "matching_decimals", "matching_numbers", "matching_ticks"]


@dataclass(frozen=True, slots=True)
class MatchingNumbers:
    """The stored numbers for which a comparison is true or may be.

    Attributes
    ----------
    possible
        A range of numbers: for all others the comparison is false.
    sure
        A range of numbers, within `possible`, for which the comparison is true; None if there is none.
    """

    possible: Between
    sure: Between | None

    @classmethod
    def exactly(cls, between: Between) -> MatchingNumbers:
        """All numbers of the range match, and no others."""
        return cls(between, between)

    @property
    def is_exact(self) -> bool:
        """Whether no number is in doubt."""
        return self.sure is self.possible

    def up_to(self, high: MatchingNumbers) -> MatchingNumbers:
        """The numbers that match both: `self` is about a lower bound, `high` about an upper one."""
        possible = Between(self.possible.low, high.possible.high)
        if self.is_exact and high.is_exact:
            return MatchingNumbers.exactly(possible)
        if self.sure is None or high.sure is None:
            return MatchingNumbers(possible, None)
        return MatchingNumbers(possible, Between(self.sure.low, high.sure.high))


def matching_numbers(op: str, scalar: pa.Scalar, node: SchemaNode) -> MatchingNumbers | None:
    """The stored numbers that compare with a value in this way; None if they are not a range."""
    found = stored_number(scalar, node)
    if found is None:
        return None
    low, high = found
    match op:
        case "==":
            return MatchingNumbers.exactly(Between(high, low))
        case "<=":
            return MatchingNumbers.exactly(Between(None, low))
        case ">=":
            return MatchingNumbers.exactly(Between(high, None))
        case "<":
            before = next_number(low, node, -1) if low == high else low
            if before is None:
                return MatchingNumbers(Between(None, low), None)
            return MatchingNumbers.exactly(Between(None, before))
        case ">":
            behind = next_number(high, node, 1) if low == high else high
            if behind is None:
                return MatchingNumbers(Between(high, None), None)
            return MatchingNumbers.exactly(Between(behind, None))
    return None


def matching_decimals(op: str, value: Decimal | None) -> MatchingNumbers | None:
    """The decimals that compare with a value in this way. Their bounds may be rounded, so `<` and `>` stay in doubt."""
    if value is None:
        return None
    match op:
        case "==":
            return MatchingNumbers.exactly(Between(value, value))
        case "<=":
            return MatchingNumbers.exactly(Between(None, value))
        case ">=":
            return MatchingNumbers.exactly(Between(value, None))
        case "<":
            return MatchingNumbers(Between(None, value), None)
        case ">":
            return MatchingNumbers(Between(value, None), None)
    return None


def matching_ticks(op: str, scalar: pa.Scalar, node: SchemaNode) -> MatchingNumbers | None:
    """The ticks of times that compare with a value in this way. A time is up to 99 ns after its tick.

    Only the tick that the value is in can be in doubt, and not even this one for `<` and `>=` if the value is a tick.
    """
    found = stored_number(scalar, node)
    if found is None:
        return None
    tick, ceiling = found
    assert isinstance(tick, int)
    is_whole = tick == ceiling
    match op:
        case "==":
            return MatchingNumbers(Between(tick, tick), None)
        case "<" if is_whole:
            return MatchingNumbers.exactly(Between(None, tick - 1))
        case ">=" if is_whole:
            return MatchingNumbers.exactly(Between(tick, None))
        case "<" | "<=":
            return MatchingNumbers(Between(None, tick), Between(None, tick - 1))
        case ">" | ">=":
            return MatchingNumbers(Between(tick, None), Between(tick + 1, None))
    return None
