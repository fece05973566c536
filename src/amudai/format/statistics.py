"""The stored statistics of a field's values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self, TypeAlias

from amudai.format.message import Fact, same_names
from amudai.format.property_values import AnyValue
from amudai.format.wire import amudai_pb2 as wire

__all__ = [
    "BinaryStats",
    "BloomFilter",
    "BooleanStats",
    "Cardinality",
    "DecimalStats",
    "FloatingStats",
    "HllSketch",
    "ListStats",
    "RangeStats",
    "StringStats",
    "TypeStats",
    "set_type_stats",
    "type_stats",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeStats(Fact):
    """Bounds of the values that are neither null nor NaN; None if there is no such value."""

    min: AnyValue | None
    min_inclusive: bool = True
    max: AnyValue | None
    max_inclusive: bool = True

    @classmethod
    def of(cls, message: wire.RangeStats) -> Self:
        """The fact that `message` states."""
        return cls(
            min=AnyValue.of(message.min_value) if message.HasField("min_value") else None,
            min_inclusive=message.min_inclusive,
            max=AnyValue.of(message.max_value) if message.HasField("max_value") else None,
            max_inclusive=message.max_inclusive,
        )

    def parts(self) -> dict[str, Any]:
        """The fields of the message."""
        return {
            "min_value": None if self.min is None else self.min.parts(),
            "min_inclusive": self.min_inclusive,
            "max_value": None if self.max is None else self.max.parts(),
            "max_inclusive": self.max_inclusive,
        }

    def to_message(self) -> wire.RangeStats:
        """The message that states these bounds."""
        return wire.RangeStats(**self.parts())


@dataclass(frozen=True, slots=True, kw_only=True)
class StringStats(Fact):
    """Sizes in bytes of the strings that are not null, and how many of them are ASCII."""

    min_size: int
    min_non_empty_size: int | None
    max_size: int
    ascii_count: int | None

    @classmethod
    def of(cls, message: wire.StringStats) -> Self:
        """The fact that `message` states."""
        return cls(
            min_size=message.min_size,
            min_non_empty_size=message.min_non_empty_size if message.HasField("min_non_empty_size") else None,
            max_size=message.max_size,
            ascii_count=message.ascii_count if message.HasField("ascii_count") else None,
        )

    def to_message(self) -> wire.StringStats:
        """The message that states these sizes."""
        return same_names(wire.StringStats, self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListStats(Fact):
    """Lengths of the lists and maps that are not null."""

    min_length: int
    min_non_empty_length: int | None
    max_length: int

    @classmethod
    def of(cls, message: wire.ListStats) -> Self:
        """The fact that `message` states."""
        return cls(
            min_length=message.min_length,
            min_non_empty_length=message.min_non_empty_length if message.HasField("min_non_empty_length") else None,
            max_length=message.max_length,
        )

    def to_message(self) -> wire.ListStats:
        """The message that states these lengths."""
        return same_names(wire.ListStats, self)


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryStats(Fact):
    """Lengths in bytes of the binary values that are not null."""

    min_length: int
    min_non_empty_length: int | None
    max_length: int

    @classmethod
    def of(cls, message: wire.BinaryStats) -> Self:
        """The fact that `message` states."""
        return cls(
            min_length=message.min_length,
            min_non_empty_length=message.min_non_empty_length if message.HasField("min_non_empty_length") else None,
            max_length=message.max_length,
        )

    def to_message(self) -> wire.BinaryStats:
        """The message that states these lengths."""
        return same_names(wire.BinaryStats, self)


@dataclass(frozen=True, slots=True, kw_only=True)
class BooleanStats(Fact):
    """How many values are true and how many false."""

    true_count: int
    false_count: int

    @classmethod
    def of(cls, message: wire.BooleanStats) -> Self:
        """The fact that `message` states."""
        return cls(true_count=message.true_count, false_count=message.false_count)

    def to_message(self) -> wire.BooleanStats:
        """The message that states these counts."""
        return same_names(wire.BooleanStats, self)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecimalStats(Fact):
    """How many decimals there are of each sign. Infinities are counted by their sign."""

    zero_count: int
    positive_count: int
    negative_count: int
    nan_count: int

    @classmethod
    def of(cls, message: wire.DecimalStats) -> Self:
        """The fact that `message` states."""
        return cls(
            zero_count=message.zero_count,
            positive_count=message.positive_count,
            negative_count=message.negative_count,
            nan_count=message.nan_count,
        )

    def to_message(self) -> wire.DecimalStats:
        """The message that states these counts."""
        return same_names(wire.DecimalStats, self)


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatingStats(Fact):
    """How many finite floats there are of each sign, and how many floats are not finite."""

    zero_count: int
    positive_count: int
    negative_count: int
    nan_count: int
    positive_infinity_count: int
    negative_infinity_count: int

    @classmethod
    def of(cls, message: wire.FloatingStats) -> Self:
        """The fact that `message` states."""
        return cls(
            zero_count=message.zero_count,
            positive_count=message.positive_count,
            negative_count=message.negative_count,
            nan_count=message.nan_count,
            positive_infinity_count=message.positive_infinity_count,
            negative_infinity_count=message.negative_infinity_count,
        )

    def to_message(self) -> wire.FloatingStats:
        """The message that states these counts."""
        return same_names(wire.FloatingStats, self)


TypeStats: TypeAlias = StringStats | ListStats | BooleanStats | DecimalStats | FloatingStats | BinaryStats

_TYPE_STATS: Final[dict[str, type[TypeStats]]] = {
    "string_stats": StringStats,
    "list_stats": ListStats,
    "boolean_stats": BooleanStats,
    "decimal_stats": DecimalStats,
    "floating_stats": FloatingStats,
    "binary_stats": BinaryStats,
}
_STORED_AS: Final = {kind: name for name, kind in _TYPE_STATS.items()}


def type_stats(message: wire.FieldDescriptor) -> TypeStats | None:
    """The statistics for the field's type, if the descriptor has any."""
    stored = message.WhichOneof("type_specific")
    return None if stored is None else _TYPE_STATS[stored].of(getattr(message, stored))


def set_type_stats(message: wire.FieldDescriptor, stats: TypeStats) -> None:
    """State `stats` in a descriptor's message."""
    getattr(message, _STORED_AS[type(stats)]).CopyFrom(stats.to_message())


@dataclass(frozen=True, slots=True, kw_only=True)
class HllSketch(Fact):
    """A HyperLogLog sketch of the distinct values, as stored. `stats` evaluates it."""

    hash_algorithm: str
    hash_seed: int
    bits_per_index: int
    counters: bytes

    @classmethod
    def of(cls, message: wire.HllSketchV1) -> Self:
        """The fact that `message` states."""
        return cls(
            hash_algorithm=message.hash_algorithm,
            hash_seed=message.hash_seed,
            bits_per_index=message.bits_per_index,
            counters=message.counters,
        )

    def to_message(self) -> wire.HllSketchV1:
        """The message that states this sketch."""
        return same_names(wire.HllSketchV1, self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cardinality(Fact):
    """How many distinct values there are, not counting null."""

    count: int | None
    is_estimate: bool
    sketch: HllSketch | None = None

    @classmethod
    def of(cls, message: wire.CardinalityInfo) -> Self:
        """The fact that `message` states."""
        return cls(
            count=message.count if message.HasField("count") else None,
            is_estimate=message.is_estimate,
            sketch=HllSketch.of(message.hll_sketch) if message.HasField("hll_sketch") else None,
        )

    def to_message(self) -> wire.CardinalityInfo:
        """The message that states this number."""
        return wire.CardinalityInfo(
            count=self.count,
            is_estimate=self.is_estimate,
            hll_sketch=None if self.sketch is None else self.sketch.to_message(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BloomFilter(Fact):
    """A split-block Bloom filter of the values, as stored. `stats` evaluates it."""

    num_blocks: int
    target_fpp: float
    num_values: int
    hash_algorithm: str
    hash_seed: int
    data: bytes

    @classmethod
    def of(cls, message: wire.SplitBlockBloomFilter) -> Self:
        """The fact that `message` states."""
        return cls(
            num_blocks=message.num_blocks,
            target_fpp=message.target_fpp,
            num_values=message.num_values,
            hash_algorithm=message.hash_algorithm,
            hash_seed=message.hash_seed,
            data=message.data,
        )

    def to_message(self) -> wire.SplitBlockBloomFilter:
        """The message that states this filter."""
        return same_names(wire.SplitBlockBloomFilter, self)
