"""The statistics of a field, and the merging of stripes' statistics into a shard's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Self

from amudai.errors import InvalidArgument
from amudai.format import AnyValue, BloomFilter, Cardinality, FieldDescriptor, HllSketch, RangeStats, TypeStats
from amudai.stats.hashing import HASH_ALGORITHM
from amudai.stats.hll import Hll
from amudai.types import decimal128

__all__ = ["FieldStatistics", "merge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldStatistics:
    """The statistics of one field in a stripe or a shard. A statistic that is unknown is None.

    The attributes have the names and meanings of `FieldDescriptor`. The default stands for no positions: merging starts
    with it.
    """

    position_count: int = 0
    null_count: int | None = None
    raw_data_size: int | None = None
    range_stats: RangeStats | None = None
    type_stats: TypeStats | None = None
    cardinality: Cardinality | None = None
    bloom_filter: BloomFilter | None = None

    @classmethod
    def of(cls, descriptor: FieldDescriptor) -> Self:
        """The statistics in a descriptor."""
        return cls(
            position_count=descriptor.position_count,
            null_count=descriptor.null_count,
            raw_data_size=descriptor.raw_data_size,
            range_stats=descriptor.range_stats,
            type_stats=descriptor.type_stats,
            cardinality=descriptor.cardinality,
            bloom_filter=descriptor.bloom_filter,
        )


def merge(a: FieldStatistics, b: FieldStatistics) -> FieldStatistics:
    """Merge the statistics of one more stripe, `b`, into those of the stripes before it, `a`.

    Start with `FieldStatistics()`. A statistic that is unknown on one side stays unknown. Stripes without positions
    change nothing. A shard has no Bloom filter.
    """
    if not b.position_count:
        return replace(a, bloom_filter=None)
    if not a.position_count:
        return replace(b, bloom_filter=None)
    return FieldStatistics(
        position_count=a.position_count + b.position_count,
        null_count=_sum(a.null_count, b.null_count),
        raw_data_size=_sum(a.raw_data_size, b.raw_data_size),
        range_stats=_merged_range(a.range_stats, b.range_stats),
        type_stats=_merged_type_stats(a.type_stats, b.type_stats),
        cardinality=_merged_cardinality(a.cardinality, b.cardinality),
    )


def _estimated(sketch: Hll, seed: int) -> Cardinality:
    stored = HllSketch(
        hash_algorithm=HASH_ALGORITHM,
        hash_seed=seed,
        bits_per_index=sketch.bits_per_index,
        counters=sketch.counters.tobytes(),
    )
    return Cardinality(count=sketch.estimate(), is_estimate=True, sketch=stored)


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _least(a: int | None, b: int | None) -> int | None:
    return min((known for known in (a, b) if known is not None), default=None)


def _merged_range(a: RangeStats | None, b: RangeStats | None) -> RangeStats | None:
    if a is None or b is None or not (_comparable(a.min, b.min) and _comparable(a.max, b.max)):
        return None
    from_b = b.min is not None and (a.min is None or _less(b.min, a.min))
    low, low_inclusive = (b.min, b.min_inclusive) if from_b else (a.min, a.min_inclusive)
    from_b = b.max is not None and (a.max is None or _less(a.max, b.max))
    high, high_inclusive = (b.max, b.max_inclusive) if from_b else (a.max, a.max_inclusive)
    return RangeStats(min=low, min_inclusive=low_inclusive, max=high, max_inclusive=high_inclusive)


def _comparable(a: AnyValue | None, b: AnyValue | None) -> bool:
    """Whether bounds of two stripes are of the same kind. Bounds of different kinds say nothing together."""
    return a is None or b is None or a.kind == b.kind


def _less(a: AnyValue, b: AnyValue) -> bool:
    """Whether `a` is less than `b`. Values of different kinds, or of a kind without an order, count as equal."""
    if a.kind != b.kind or a.kind not in ("bool", "u64", "i64", "double", "string", "bytes", "decimal"):
        return False
    left: Any = a.value
    right: Any = b.value
    if a.kind == "decimal":
        left, right = decimal128.to_decimal(left), decimal128.to_decimal(right)
        if left.is_nan() or right.is_nan():
            return False
    return bool(left < right)


def _merged_type_stats(a: TypeStats | None, b: TypeStats | None) -> TypeStats | None:
    if a is None or b is None or type(a) is not type(b):
        return None
    rules: dict[str, Callable[[int, int], int | None]] = {"min": _least, "max": max}
    merged: dict[str, Any] = {}
    for name in (member.name for member in fields(a)):
        rule = rules.get(name.split("_")[0], _sum)  # everything that is not a bound is a count
        merged[name] = rule(getattr(a, name), getattr(b, name))
    return replace(a, **merged)


def _merged_cardinality(a: Cardinality | None, b: Cardinality | None) -> Cardinality | None:
    if a is None or b is None:
        return None
    left, right = _sketch(a), _sketch(b)
    if left is None or right is None or a.sketch is None or b.sketch is None:
        return _NOT_MERGEABLE
    if (left.bits_per_index, a.sketch.hash_seed) != (right.bits_per_index, b.sketch.hash_seed):
        return _NOT_MERGEABLE
    left.merge(right)
    return _estimated(left, a.sketch.hash_seed)


_NOT_MERGEABLE: Final = Cardinality(count=None, is_estimate=False, sketch=None)


def _sketch(cardinality: Cardinality) -> Hll | None:
    """The sketch as an `Hll`, which can be merged; None if it is missing or invalid."""
    stored = cardinality.sketch
    if stored is None or stored.hash_algorithm != HASH_ALGORITHM:
        return None
    try:
        return Hll.from_counters(stored.counters, stored.bits_per_index)
    except InvalidArgument:
        return None
