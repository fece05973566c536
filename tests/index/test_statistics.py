"""Do statistics say none, some or all where plain Python does?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.format import AnyValue, FieldDescriptor, RangeStats
from amudai.index.questions import Between
from amudai.index.statistics import Matching, bloom_rules_out, could_hold
from amudai.types import BasicType, SchemaNode
from tests.effort import examples
from tests.oracle.statistics import collect

INT = SchemaNode(schema_id=0, name="n", basic_type=BasicType.INT32, signed=True)
DOUBLE = SchemaNode(schema_id=0, name="n", basic_type=BasicType.FLOAT64)
TEXT = SchemaNode(schema_id=0, name="s", basic_type=BasicType.STRING)
BOUND = st.none() | st.integers(-8, 8) | st.sampled_from([-math.inf, math.inf, 0.5, math.nan, 1 << 40])


def described(array: pa.Array, node: SchemaNode) -> FieldDescriptor:
    found = collect(array, node)
    return FieldDescriptor(
        position_count=found.position_count,
        null_count=found.null_count,
        range_stats=found.range_stats,
        type_stats=found.type_stats,
        bloom_filter=found.bloom_filter,
    )


def share(values: list[Any], low: Any, high: Any) -> Matching:
    hits = [
        value is not None and (low is None or low <= value) and (high is None or value <= high) and value == value
        for value in values
    ]
    return Matching.NONE if not any(hits) else Matching.ALL if all(hits) else Matching.SOME


@examples(300)
@given(st.lists(st.none() | st.integers(-6, 6), max_size=5), BOUND, BOUND)
def test_integers(values: list[int | None], low: Any, high: Any) -> None:
    truth = share(values, low, high)
    found = could_hold(described(pa.array(values, pa.int32()), INT), INT, Between(low, high))
    assert found in (truth, Matching.SOME)
    known = [value for value in values if value is not None]
    if (
        truth is Matching.ALL
        or not known
        or (low is not None and low > max(known))
        or (high is not None and high < min(known))
    ):
        assert found is truth


@examples(300)
@given(st.lists(st.none() | st.sampled_from([0.0, -0.0, 1.5, -2.0, math.nan, math.inf]), max_size=5), BOUND, BOUND)
def test_floats(values: list[float | None], low: Any, high: Any) -> None:
    truth = share(values, low, high)
    found = could_hold(described(pa.array(values, pa.float64()), DOUBLE), DOUBLE, Between(low, high))
    assert found in (truth, Matching.SOME)
    if truth is Matching.ALL or all(value is None or math.isnan(value) for value in values):
        assert found is truth


def stated(low: int | None, high: int | None, *, inclusive: bool = True, nulls: int | None = 0) -> FieldDescriptor:
    bounds = [None if bound is None else AnyValue("i64", bound) for bound in (low, high)]
    stats = RangeStats(min=bounds[0], min_inclusive=inclusive, max=bounds[1], max_inclusive=inclusive)
    return FieldDescriptor(position_count=9, null_count=nulls, range_stats=stats)


@pytest.mark.parametrize(
    ("descriptor", "low", "high", "expected"),
    [
        (stated(3, 9), 9, None, Matching.SOME),
        (stated(3, 9, inclusive=False), 9, None, Matching.NONE),
        (stated(3, 9, inclusive=False), None, 3, Matching.NONE),
        (stated(3, 9, inclusive=False), 3, 9, Matching.ALL),
        (stated(3, 9, nulls=None), 0, 10, Matching.SOME),
        (stated(3, 9, nulls=9), 0, 10, Matching.NONE),
        (stated(None, None), 0, 10, Matching.SOME),
        (stated(None, 4), 5, None, Matching.NONE),
        (stated(None, 4), None, 5, Matching.ALL),
        (FieldDescriptor(position_count=9), 0, 1, Matching.SOME),
        (FieldDescriptor(position_count=0), 0, 1, Matching.NONE),
        (FieldDescriptor(position_count=9, constant_value=AnyValue("i64", 5)), 5, 5, Matching.ALL),
        (FieldDescriptor(position_count=9, constant_value=AnyValue("i64", 5)), 6, None, Matching.NONE),
        (FieldDescriptor(position_count=9, constant_value=AnyValue("null", None)), None, None, Matching.NONE),
        (FieldDescriptor(position_count=9, constant_value=AnyValue("string", "x")), 1, 2, Matching.SOME),
    ],
)
def test_what_is_stated(descriptor: FieldDescriptor, low: Any, high: Any, expected: Matching) -> None:
    assert could_hold(descriptor, INT, Between(low, high)) is expected


def test_bloom_filters_rule_out_what_is_not_there() -> None:
    words = [f"word {number}" for number in range(500)]
    descriptor = described(pa.array(words), TEXT)
    assert not any(bloom_rules_out(descriptor, word.encode()) for word in words)
    absent = [f"other {number}".encode() for number in range(1000)]
    assert np.mean([bloom_rules_out(descriptor, word) for word in absent]) > 0.95
    assert not bloom_rules_out(FieldDescriptor(position_count=9), b"other")
