"""The descriptors of a field: its statistics, and how it is stored in a stripe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Self

from amudai.errors import CorruptedData
from amudai.format.container import Bytes
from amudai.format.encodings import DataEncoding, encoding_of, encoding_parts
from amudai.format.indexes import IndexCollection
from amudai.format.message import Fact, LazyFact, parse, require, serialized
from amudai.format.property_values import AnyValue, Properties, pairs_of, properties_of
from amudai.format.statistics import BloomFilter, Cardinality, RangeStats, TypeStats, set_type_stats, type_stats
from amudai.format.wire import amudai_pb2 as wire
from amudai.frozen import quick_init

__all__ = ["FieldDescriptor", "StripeFieldDescriptor", "field_with_indexes", "true_count", "without_field_indexes"]

# The tag of `FieldDescriptor.indexes`. A payload without this byte has no indexes.
_INDEXES: Final = b"\x4a"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDescriptor(LazyFact):
    """Counts and statistics of a field in a stripe or in the shard."""

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
    message: wire.FieldDescriptor | None = field(default=None, repr=False, compare=False)

    @classmethod
    def decode(cls, payload: Bytes) -> Self:
        """The descriptor in the payload of a frame."""
        return cls.of(parse(wire.FieldDescriptor, payload)).whole()

    @classmethod
    def of(cls, message: wire.FieldDescriptor) -> Self:
        """The fact that `message` states."""
        _check_counts(message)
        has = message.HasField
        return cls.lazily(
            message,
            position_count=message.position_count,
            null_count=message.null_count if has("null_count") else None,
            constant_value=AnyValue.of(message.constant_value) if has("constant_value") else None,
            # Every reader of the field asks for these two, too.
            dictionary_size=message.dictionary_size if has("dictionary_size") else None,
            indexes=IndexCollection.of(message.indexes) if has("indexes") else None,
        )

    def to_message(self) -> wire.FieldDescriptor:
        """The message that states this descriptor."""
        bloom, indexes = self.bloom_filter, self.indexes
        message = wire.FieldDescriptor(
            position_count=self.position_count,
            null_count=self.null_count,
            constant_value=None if self.constant_value is None else self.constant_value.to_message(),
            dictionary_size=self.dictionary_size,
            range_stats=None if self.range_stats is None else self.range_stats.parts(),
            cardinality=None if self.cardinality is None else self.cardinality.to_message(),
            membership_filters=None if bloom is None else wire.MembershipFilters(sbbf=bloom.to_message()),
            indexes=None if indexes is None else indexes.to_message(),
            standard_properties=pairs_of(self.standard),
            custom_properties=pairs_of(self.custom),
            raw_data_size=self.raw_data_size,
        )
        if self.type_stats is not None:
            set_type_stats(message, self.type_stats)
        return message


def _check_counts(message: wire.FieldDescriptor) -> None:
    """Raise CorruptedData if more values are null than there are."""
    if message.null_count > message.position_count:
        found = f"expected at most {message.position_count}, found {message.null_count}"
        raise CorruptedData(f"FieldDescriptor.null_count: {found}")


def true_count(payload: Bytes) -> int | None:
    """How many values of a boolean field are true, by its descriptor in the payload of a frame; None if unknown."""
    message = parse(wire.FieldDescriptor, payload)
    _check_counts(message)
    return message.boolean_stats.true_count if message.HasField("boolean_stats") else None


def _bloom_filter(message: wire.FieldDescriptor) -> BloomFilter | None:
    filters = message.membership_filters
    return BloomFilter.of(filters.sbbf) if filters.HasField("sbbf") else None


FieldDescriptor.PARTS = {
    "range_stats": lambda of: RangeStats.of(of.range_stats) if of.HasField("range_stats") else None,
    "type_stats": type_stats,
    "cardinality": lambda of: Cardinality.of(of.cardinality) if of.HasField("cardinality") else None,
    "bloom_filter": _bloom_filter,
    "standard": lambda of: properties_of(of.standard_properties),
    "custom": lambda of: properties_of(of.custom_properties),
    "raw_data_size": lambda of: of.raw_data_size if of.HasField("raw_data_size") else None,
}


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class StripeFieldDescriptor(Fact):
    """A field in one stripe: its statistics, and the encodings of its values, best first."""

    field: FieldDescriptor
    encodings: tuple[DataEncoding, ...]

    @classmethod
    def decode(cls, payload: Bytes) -> Self:
        """The descriptor in the payload of a frame."""
        message = parse(wire.StripeFieldDescriptor, payload)
        require(message, "field")
        return cls(
            field=FieldDescriptor.of(message.field),
            encodings=tuple([encoding_of(encoding) for encoding in message.encodings]),
        )

    def to_message(self) -> wire.StripeFieldDescriptor:
        """The message that states this descriptor."""
        return wire.StripeFieldDescriptor(
            field=self.field.to_message(), encodings=[encoding_parts(encoding) for encoding in self.encodings]
        )

    def encode_alone(self) -> tuple[bytes, bytes]:
        """The payload of the message, and that of the descriptor of the field in a shard of this stripe alone."""
        message = self.to_message()
        stripe = serialized(message)
        for name in _OF_STRIPES:
            message.field.ClearField(name)
        return stripe, serialized(message.field)


# What the descriptor of a field says about a stripe, and not about a shard.
_OF_STRIPES: Final = ("dictionary_size", "membership_filters", "indexes", "standard_properties")


def field_with_indexes(payload: Bytes, indexes: IndexCollection) -> bytes:
    """The payload of a `FieldDescriptor` with more indexes. All other fields are kept, unknown ones, too."""
    # The concatenation of two payloads is one message with the repeated fields of both.
    return bytes(payload) + wire.FieldDescriptor(indexes=indexes.to_message()).SerializeToString(deterministic=True)


def without_field_indexes(kind: str, payload: bytes, schema_id: int) -> tuple[bytes, bytes]:
    """The payload of a descriptor without those of its indexes that name its field, and these as a collection.

    `kind` is the name of the message: a `FieldDescriptor` or a `StripeFieldDescriptor`.
    """
    if _INDEXES not in payload:
        return payload, b""
    message = parse(getattr(wire, kind), payload)
    field = message.field if kind == "StripeFieldDescriptor" else message
    if not field.HasField("indexes"):
        return payload, b""
    named, others = wire.IndexCollection(), wire.IndexCollection()
    for index in field.indexes.index_descriptors:
        names = any(schema_id in entry.schema_ids for entry in index.indexed_fields)
        (named if names else others).index_descriptors.append(index)
    field.ClearField("indexes")
    if others.index_descriptors:
        field.indexes.CopyFrom(others)
    return message.SerializeToString(deterministic=True), named.SerializeToString(deterministic=True)
