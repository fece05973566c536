"""Folding the statistics of stripes into those of a shard: mostly those of all values together, and where not, why."""

from __future__ import annotations

import math
from decimal import Decimal
from functools import reduce
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.format.property_values import AnyValue
from amudai.format.statistics import Cardinality, HllSketch, ListStats, RangeStats, StringStats
from amudai.stats import HLL_SEED, FieldStatistics, merge
from amudai.types import DECIMAL, BasicType, SchemaNode
from tests.oracle.decimal128 import from_decimal
from tests.oracle.statistics import collect

INT = SchemaNode(schema_id=0, name="n", basic_type=BasicType.INT64, signed=True)
STRING = SchemaNode(schema_id=0, name="s", basic_type=BasicType.STRING)
DECIMALS = SchemaNode(schema_id=0, name="d", basic_type=BasicType.FIXED_SIZE_BINARY, fixed_size=16, extension=DECIMAL)


def node(kind: BasicType) -> SchemaNode:
    return SchemaNode(schema_id=0, name="f", basic_type=kind)


strings = st.lists(st.none() | st.text(max_size=4), min_size=1, max_size=10)


def fold(stripes: list[FieldStatistics]) -> FieldStatistics:
    return reduce(merge, stripes, FieldStatistics())


@given(st.lists(st.lists(st.none() | st.integers(-9, 9), max_size=10), max_size=4))
def test_integers_of_stripes_fold_to_those_of_the_whole(stripes: list[list[int | None]]) -> None:
    found = fold([collect(pa.array(stripe, pa.int64()), INT) for stripe in stripes])
    values = [value for stripe in stripes for value in stripe]
    if not values:
        assert found == FieldStatistics()
        return
    whole = collect(pa.array(values, pa.int64()), INT)
    assert found.range_stats == whole.range_stats
    assert (found.position_count, found.null_count) == (whole.position_count, whole.null_count)


@given(st.lists(strings.filter(lambda values: any(value is not None for value in values)), min_size=1, max_size=4))
def test_strings_of_stripes_fold_to_those_of_the_whole(stripes: list[list[str | None]]) -> None:
    found = fold([collect(pa.array(stripe, pa.string()), STRING) for stripe in stripes])
    whole = collect(pa.array([value for stripe in stripes for value in stripe], pa.string()), STRING)
    assert (found.type_stats, found.cardinality) == (whole.type_stats, whole.cardinality)
    assert found.bloom_filter is None


@given(
    st.lists(st.lists(st.sampled_from([None, 0.0, -0.0, 1.5, math.inf, math.nan]), min_size=1), min_size=1, max_size=4)
)
def test_floats_of_stripes_fold_to_those_of_the_whole(stripes: list[list[float | None]]) -> None:
    field = node(BasicType.FLOAT64)
    found = fold([collect(pa.array(stripe, pa.float64(), from_pandas=False), field) for stripe in stripes])
    values = [value for stripe in stripes for value in stripe]
    whole = collect(pa.array(values, pa.float64(), from_pandas=False), field)
    assert (found.type_stats, found.range_stats) == (whole.type_stats, whole.range_stats)


@given(st.lists(st.sampled_from(["0", "-0", "1.0", "1.00", "-3", "Infinity", "NaN", "12E+30"]), min_size=1, max_size=8))
def test_decimals_of_stripes_fold_to_those_of_the_whole(texts: list[str]) -> None:
    rows = [from_decimal(Decimal(text)) for text in texts]
    found = fold([collect(pa.array([row], pa.binary(16)), DECIMALS) for row in rows])
    whole = collect(pa.array(rows, pa.binary(16)), DECIMALS)
    assert (found.type_stats, found.range_stats) == (whole.type_stats, whole.range_stats)


@given(st.lists(st.lists(st.none() | st.lists(st.just(1), max_size=3), min_size=1), min_size=1, max_size=4))
def test_lists_of_stripes_fold_by_bounds(stripes: list[list[list[int] | None]]) -> None:
    each = [collect(pa.array(stripe, pa.list_(pa.int8())), node(BasicType.LIST)) for stripe in stripes]
    stats = [found.type_stats for found in each if isinstance(found.type_stats, ListStats)]
    shortest = [found.min_non_empty_length for found in stats if found.min_non_empty_length is not None]
    assert fold(each).type_stats == ListStats(
        min_length=min(found.min_length for found in stats),
        min_non_empty_length=min(shortest, default=None),
        max_length=max(found.max_length for found in stats),
    )


def test_stripes_without_positions_say_nothing() -> None:
    some, none = collect(pa.array(["a"]), STRING), collect(pa.array([], pa.string()), STRING)
    expected = fold([some])
    assert expected.bloom_filter is None
    assert fold([none, some]) == fold([some, none]) == expected
    assert fold([none]) == FieldStatistics()


def test_what_is_unknown_once_stays_unknown() -> None:
    known = collect(pa.array([1]), INT)
    unknown = FieldStatistics(position_count=1)
    assert fold([known, unknown, known]) == FieldStatistics(position_count=3)
    assert fold([unknown, known]) == FieldStatistics(position_count=2)
    text, nothing = collect(pa.array(["a"]), STRING), collect(pa.array([None], pa.string()), STRING)
    assert fold([text, nothing]).cardinality is None
    assert fold([text, nothing]).type_stats == StringStats(min_size=0, min_non_empty_size=1, max_size=1, ascii_count=1)


def test_type_statistics_of_another_kind_or_of_some_rows_say_nothing_about_all() -> None:
    text, flag = collect(pa.array(["a"]), STRING), collect(pa.array([True]), node(BasicType.BOOLEAN))
    assert merge(text, flag).type_stats is None
    assert merge(flag, FieldStatistics(position_count=1)).type_stats is None
    assert merge(FieldStatistics(position_count=1), flag).type_stats is None
    uncounted = StringStats(min_size=3, min_non_empty_size=None, max_size=3, ascii_count=None)
    merged = merge(text, FieldStatistics(position_count=1, type_stats=uncounted)).type_stats
    assert merged == StringStats(min_size=1, min_non_empty_size=1, max_size=3, ascii_count=None)


def ranged(kind: Any, value: object, inclusive: bool = True) -> FieldStatistics:
    bound = AnyValue(kind, value)
    stats = RangeStats(min=bound, min_inclusive=inclusive, max=bound, max_inclusive=inclusive)
    return FieldStatistics(position_count=1, range_stats=stats)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("i64", [-5, 3, 7]),
        ("u64", [0, 3, 2**64 - 1]),
        ("double", [-math.inf, -0.5, 2.0]),
        ("string", ["", "Z", "a", "é", "語"]),
        ("bool", [False, True]),
        (
            "decimal",
            [from_decimal(Decimal(text)) for text in ("-Infinity", "-9", "0E-6176", "0.1", "1E+9", "Infinity")],
        ),
    ],
)
def test_the_winning_bound_brings_its_flag(kind: Any, values: list[object]) -> None:
    for low, high in pairwise(values):
        for a, b in ((ranged(kind, low, False), ranged(kind, high)), (ranged(kind, high), ranged(kind, low, False))):
            assert merge(a, b).range_stats == RangeStats(
                min=AnyValue(kind, low), min_inclusive=False, max=AnyValue(kind, high), max_inclusive=True
            )


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (ranged("double", 1.0), ranged("double", math.nan)),
        (ranged("decimal", from_decimal(Decimal(1))), ranged("decimal", from_decimal(Decimal("sNaN")))),
        (ranged("decimal", from_decimal(Decimal("1.0"))), ranged("decimal", from_decimal(Decimal("1.00")))),
        (ranged("double", 0.0), ranged("double", -0.0)),
    ],
)
def test_bounds_without_order_leave_the_first(a: FieldStatistics, b: FieldStatistics) -> None:
    merged = merge(a, b).range_stats
    assert repr(merged) == repr(a.range_stats)


def test_bounds_of_different_kinds_are_no_bounds_together() -> None:
    assert merge(ranged("i64", 1), ranged("u64", 0)).range_stats is None
    assert merge(ranged("bytes", b"7"), ranged("decimal", from_decimal(Decimal(1)))).range_stats is None


def sketched(**changes: Any) -> FieldStatistics:
    fact: dict[str, Any] = {
        "hash_algorithm": "xxh3_64",
        "hash_seed": HLL_SEED,
        "bits_per_index": 7,
        "counters": bytes(128),
    } | changes
    return FieldStatistics(
        position_count=1, cardinality=Cardinality(count=9, is_estimate=True, sketch=HllSketch(**fact))
    )


@pytest.mark.parametrize(
    "other",
    [
        sketched(hash_algorithm="md5"),
        sketched(hash_seed=1),
        sketched(bits_per_index=8, counters=bytes(256)),
        sketched(bits_per_index=3, counters=bytes(8)),
        sketched(bits_per_index=4_000_000_000),
        sketched(counters=bytes(127)),
        FieldStatistics(position_count=1, cardinality=Cardinality(count=9, is_estimate=True, sketch=None)),
    ],
)
def test_sketches_that_do_not_fit_leave_an_empty_cardinality(other: FieldStatistics) -> None:
    empty = Cardinality(count=None, is_estimate=False, sketch=None)
    assert merge(sketched(), other).cardinality == empty
    assert merge(other, sketched()).cardinality == empty


def test_equal_sketches_of_another_seed_merge() -> None:
    merged = merge(sketched(hash_seed=1), sketched(hash_seed=1)).cardinality
    assert merged is not None
    assert merged.sketch is not None
    assert (merged.count, merged.is_estimate, merged.sketch.hash_seed) == (0, True, 1)
