"""Answers from the statistics and the Bloom filter of a field."""

from __future__ import annotations

from enum import Enum
from typing import Final

from amudai.errors import CorruptedData
from amudai.format import AnyValue, DecimalStats, FieldDescriptor, FloatingStats
from amudai.index.bounds import StoredBounds, stored_bounds
from amudai.index.questions import Between, Number
from amudai.stats import BLOOM_SEED, HASH_ALGORITHM, hash_value, probe
from amudai.types import BasicType, SchemaNode, bounds_node, decimal128

__all__ = ["Matching", "bloom_rules_out", "could_hold"]

_NUMBERS: Final = frozenset({"u64", "i64", "double", "datetime", "timespan"})
_WITH_NAN: Final = frozenset({BasicType.FLOAT32, BasicType.FLOAT64})


class Matching(Enum):
    """Which positions of a field match a question: none, perhaps some, or all."""

    NONE = "none"
    SOME = "some"
    ALL = "all"


def could_hold(descriptor: FieldDescriptor, node: SchemaNode, question: Between) -> Matching:
    """Whether none, perhaps some, or all positions of a field have a value between the bounds.

    Nulls and NaN are never between bounds. The descriptor can be that of a stripe or of a whole shard.
    """
    bounds = stored_bounds(bounds_node(node), question)
    if bounds is None or descriptor.position_count == 0:
        return Matching.NONE
    if descriptor.constant_value is not None and descriptor.dictionary_size is None:
        return _matching_constant(descriptor.constant_value, bounds)
    nulls, nans = descriptor.null_count, _nans(descriptor, node)
    if nulls is not None and nulls + (nans or 0) >= descriptor.position_count:
        return Matching.NONE
    stats = descriptor.range_stats
    if stats is None:
        return Matching.SOME
    low, high = bounds
    least = None if stats.min is None else _number(stats.min)
    greatest = None if stats.max is None else _number(stats.max)
    if least is not None and high is not None and (high < least or (high == least and not stats.min_inclusive)):
        return Matching.NONE
    if greatest is not None and low is not None and (low > greatest or (low == greatest and not stats.max_inclusive)):
        return Matching.NONE
    sure_low = low is None or (least is not None and low <= least)
    sure_high = high is None or (greatest is not None and greatest <= high)
    return Matching.ALL if sure_low and sure_high and nulls == 0 and nans == 0 else Matching.SOME


def bloom_rules_out(descriptor: FieldDescriptor, value: bytes) -> bool:
    """Whether the Bloom filter of the field proves that no position has this value, given as stored bytes."""
    found = descriptor.bloom_filter
    # A filter with another hash or seed cannot be probed with our hash.
    if found is None or found.hash_algorithm != HASH_ALGORITHM or found.hash_seed != BLOOM_SEED:
        return False
    if len(found.data) != 32 * found.num_blocks:
        expected = f"{found.num_blocks} blocks of 32 bytes"
        raise CorruptedData(f"Bloom filter: expected {expected}, found {len(found.data)} bytes")
    return not probe(found.data, hash_value(value, BLOOM_SEED))


def _matching_constant(value: AnyValue, bounds: StoredBounds) -> Matching:
    if value.kind == "null":
        return Matching.NONE
    number = _number(value)
    if number is None:
        return Matching.SOME  # NaN, or a kind that does not fit the field: the values decide
    low, high = bounds
    inside = (low is None or low <= number) and (high is None or number <= high)
    return Matching.ALL if inside else Matching.NONE


def _nans(descriptor: FieldDescriptor, node: SchemaNode) -> int | None:
    """How many values are NaN; None if the statistics do not say."""
    if node.basic_type not in _WITH_NAN and not node.is_decimal:
        return 0
    stats = descriptor.type_stats
    return stats.nan_count if isinstance(stats, FloatingStats | DecimalStats) else None


def _number(value: AnyValue) -> Number | None:
    """A bound or a constant as a number; None for NaN and for values that are not numbers."""
    found = value.value
    if value.kind == "decimal" and isinstance(found, bytes):
        number = decimal128.to_decimal(found)
        return None if number.is_nan() else number
    if value.kind in _NUMBERS and isinstance(found, int | float):
        return None if found != found else found
    return None
