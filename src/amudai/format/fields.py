"""What is known of a field, and how is it stored in a stripe?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from amudai.errors import CorruptedData
from amudai.format.container import Bytes
from amudai.format.encodings import DataEncoding, encoding_of
from amudai.format.indexes import IndexCollection
from amudai.format.message import parse, require
from amudai.format.statistics import BloomFilter, Cardinality, RangeStats, TypeStats, type_stats
from amudai.format.values import AnyValue, Properties, properties_of
from amudai.format.wire import amudai_pb2 as wire

__all__ = ["FieldDescriptor", "StripeFieldDescriptor"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDescriptor:
    """Counts and statistics of a field, over a stripe or over the shard.

    `message` is what was decoded, so that whoever rewrites metadata keeps what a later version put there.
    """

    position_count: int
    null_count: int | None = None
    constant_value: AnyValue | None = None
    dictionary_size: int | None = None
    range_stats: RangeStats | None = None
    type_stats: TypeStats | None = None
    cardinality: Cardinality | None = None
    bloom_filter: BloomFilter | None = None
    indexes: IndexCollection | None = None
    standard: Properties = ()
    custom: Properties = ()
    raw_data_size: int | None = None
    message: wire.FieldDescriptor = field(repr=False, compare=False)

    @classmethod
    def decode(cls, payload: Bytes) -> Self:
        """The descriptor in the payload of a frame."""
        return cls.of(parse(wire.FieldDescriptor, payload))

    @classmethod
    def of(cls, message: wire.FieldDescriptor) -> Self:
        """The fact that `message` states."""
        has = message.HasField
        positions, nulls = message.position_count, message.null_count
        if nulls > positions:
            raise CorruptedData(f"FieldDescriptor.null_count: expected at most {positions}, found {nulls}")
        filters = message.membership_filters
        return cls(
            position_count=positions,
            null_count=nulls if has("null_count") else None,
            constant_value=AnyValue.of(message.constant_value) if has("constant_value") else None,
            dictionary_size=message.dictionary_size if has("dictionary_size") else None,
            range_stats=RangeStats.of(message.range_stats) if has("range_stats") else None,
            type_stats=type_stats(message),
            cardinality=Cardinality.of(message.cardinality) if has("cardinality") else None,
            bloom_filter=BloomFilter.of(filters.sbbf) if filters.HasField("sbbf") else None,
            indexes=IndexCollection.of(message.indexes) if has("indexes") else None,
            standard=properties_of(message.standard_properties),
            custom=properties_of(message.custom_properties),
            raw_data_size=message.raw_data_size if has("raw_data_size") else None,
            message=message,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeFieldDescriptor:
    """A field in one stripe: what is known of it, and the ways in which its values are stored, best first."""

    field: FieldDescriptor
    encodings: tuple[DataEncoding, ...]

    @classmethod
    def decode(cls, payload: Bytes) -> Self:
        """The descriptor in the payload of a frame."""
        message = parse(wire.StripeFieldDescriptor, payload)
        require(message, "field")
        return cls(
            field=FieldDescriptor.of(message.field),
            encodings=tuple(encoding_of(encoding) for encoding in message.encodings),
        )
