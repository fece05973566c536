"""The stored numbers for which a comparison is true: none too few in `possible`, none too many in `sure`."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pyarrow as pa
import pytest

from amudai.arrow import EPOCH
from amudai.index import Between
from amudai.plan.matching_numbers import MatchingNumbers, matching_numbers, matching_ticks
from amudai.types import TIMESPAN, BasicType, SchemaNode

DATETIME = SchemaNode(schema_id=0, name="at", basic_type=BasicType.DATETIME)
SPAN = SchemaNode(schema_id=0, name="took", basic_type=BasicType.INT64, signed=True, extension=TIMESPAN)
OPS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def holds(between: Between | None, number: int) -> bool:
    if between is None:
        return False
    return (between.low is None or between.low <= number) and (between.high is None or number <= between.high)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize(("node", "kind", "origin"), [(DATETIME, "timestamp", EPOCH), (SPAN, "duration", 0)])
def test_ticks_with_nanoseconds(op: str, node: SchemaNode, kind: str, origin: int) -> None:
    for value in (-201, -200, -199, -100, -1, 0, 1, 50, 99, 100, 101, 250):
        scalar = pa.scalar(value, getattr(pa, kind)("ns"))
        found = matching_ticks(op, scalar, node)
        assert found is not None
        for tick in range(-4, 5):
            answers = {OPS[op](100 * tick + after, value) for after in range(100)}
            assert holds(found.possible, origin + tick) >= (True in answers), (value, tick)
            assert holds(found.sure, origin + tick) <= (answers == {True}), (value, tick)
        doubtful = [n for n in range(-4, 5) if holds(found.possible, origin + n) and not holds(found.sure, origin + n)]
        assert doubtful in ([], [value // 100])
        assert not doubtful or op in ("==", "<=", ">") or value % 100


@pytest.mark.parametrize("op", OPS)
def test_ticks_without_nanoseconds(op: str) -> None:
    for value in (-150, -100, 0, 100, 150):
        found = matching_numbers(op, pa.scalar(value, pa.timestamp("ns")), DATETIME)
        assert found is not None
        assert found.is_exact
        for tick in range(-4, 5):
            assert holds(found.possible, EPOCH + tick) is OPS[op](100 * tick, value), (value, tick)


def test_a_range_is_as_sure_as_both_of_its_ends() -> None:
    low, high = Between(5, None), Between(None, 9)
    exact = MatchingNumbers.exactly(low).up_to(MatchingNumbers.exactly(high))
    assert exact.is_exact
    assert exact.possible == Between(5, 9)
    half = MatchingNumbers(low, Between(6, None)).up_to(MatchingNumbers.exactly(high))
    assert (half.possible, half.sure) == (Between(5, 9), Between(6, 9))
    none = MatchingNumbers(low, None).up_to(MatchingNumbers.exactly(high))
    assert (none.possible, none.sure) == (Between(5, 9), None)
