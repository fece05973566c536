"""How are statistics noted in a descriptor?

The forge's columns note counts and bounds only. Where a test needs everything that a writer notes, `described` adds it
from the oracle, and `folded` makes the shard's own descriptor of the stripes'.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import reduce

import pyarrow as pa

from amudai.format import BinaryStats, BooleanStats, DecimalStats, FloatingStats, ListStats, StringStats
from amudai.format.property_values import AnyValue
from amudai.format.wire import amudai_pb2 as wire
from amudai.stats import FieldStatistics, merge
from amudai.types import SchemaNode
from tests.forge.content import FieldContent, any_value
from tests.oracle.statistics import collect

_TYPE_STATS = {
    StringStats: "string_stats",
    ListStats: "list_stats",
    BooleanStats: "boolean_stats",
    DecimalStats: "decimal_stats",
    FloatingStats: "floating_stats",
    BinaryStats: "binary_stats",
}


def described(content: FieldContent, node: SchemaNode, array: pa.Array) -> FieldStatistics:
    """Note the statistics of these values, which are in their stored form, in the content's descriptor."""
    found = collect(array, node)
    descriptor = message_of(found)
    if content.descriptor.HasField("dictionary_size"):
        descriptor.dictionary_size = content.descriptor.dictionary_size
    if content.descriptor.HasField("constant_value"):
        descriptor.constant_value.CopyFrom(content.descriptor.constant_value)
    content.descriptor.CopyFrom(descriptor)
    return found


def folded(stripes: Sequence[FieldStatistics]) -> wire.FieldDescriptor:
    """The shard's descriptor of a field, from those of its stripes."""
    return message_of(reduce(merge, stripes, FieldStatistics()))


def message_of(stats: FieldStatistics) -> wire.FieldDescriptor:
    """The descriptor that states these facts."""
    message = wire.FieldDescriptor(
        position_count=stats.position_count, null_count=stats.null_count, raw_data_size=stats.raw_data_size
    )
    if (bounds := stats.range_stats) is not None:
        message.range_stats.min_inclusive = bounds.min_inclusive
        message.range_stats.max_inclusive = bounds.max_inclusive
        if bounds.min is not None:
            message.range_stats.min_value.CopyFrom(_value(bounds.min))
        if bounds.max is not None:
            message.range_stats.max_value.CopyFrom(_value(bounds.max))
    if stats.type_stats is not None:
        target = getattr(message, _TYPE_STATS[type(stats.type_stats)])
        target.SetInParent()
        for name, value in dataclasses.asdict(stats.type_stats).items():
            if value is not None:
                setattr(target, name, value)
    if (cardinality := stats.cardinality) is not None:
        message.cardinality.is_estimate = cardinality.is_estimate
        if cardinality.count is not None:
            message.cardinality.count = cardinality.count
        if cardinality.sketch is not None:
            message.cardinality.hll_sketch.CopyFrom(wire.HllSketchV1(**dataclasses.asdict(cardinality.sketch)))
    if stats.bloom_filter is not None:
        message.membership_filters.sbbf.CopyFrom(wire.SplitBlockBloomFilter(**dataclasses.asdict(stats.bloom_filter)))
    return message


def _value(value: AnyValue) -> wire.AnyValue:
    return any_value(value.value, value.kind)
