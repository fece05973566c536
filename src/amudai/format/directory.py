"""The directory of a shard, its list of stripes, and their properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

from amudai.errors import CorruptedData
from amudai.format.container import Bytes
from amudai.format.identity import identity_fields, identity_in
from amudai.format.message import Fact, parse, require
from amudai.format.property_values import AnyValue, Properties, pairs_of, properties_of
from amudai.format.references import DataRef
from amudai.format.wire import amudai_pb2 as wire
from amudai.frozen import quick_init

__all__ = ["ShardDirectory", "ShardProperties", "StripeDirectory", "StripeList", "StripeProperties", "with_property"]

# What Arrow and Python can count.
_MAX_RECORDS: Final = (1 << 62) - 1


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class ShardDirectory(Fact):
    """The table of contents at the end of a shard. The directory of an index artifact has an `identity`."""

    schema: DataRef
    field_list: DataRef
    stripe_list: DataRef
    url_list: DataRef
    properties: DataRef | None = None
    indexes: DataRef | None = None
    total_records: int
    deleted_records: int = 0
    stripe_count: int
    raw_data_size: int | None = None
    identity: bytes | None = None

    @classmethod
    def decode(cls, payload: Bytes) -> Self:
        """The directory in the payload of a frame."""
        message = parse(wire.ShardDirectory, payload)
        has = message.HasField
        if not (has("schema_ref") and has("field_list_ref") and has("stripe_list_ref") and has("url_list_ref")):
            for field in ("schema_ref", "field_list_ref", "stripe_list_ref", "url_list_ref"):
                require(message, field)
        _check_deleted(message)
        total = message.total_record_count
        if total > _MAX_RECORDS:
            raise CorruptedData(f"ShardDirectory.total_record_count: expected at most {_MAX_RECORDS}, found {total}")
        return cls(
            schema=DataRef.of(message.schema_ref),
            field_list=DataRef.of(message.field_list_ref),
            stripe_list=DataRef.of(message.stripe_list_ref),
            url_list=DataRef.of(message.url_list_ref),
            properties=DataRef.of(message.properties_ref) if message.HasField("properties_ref") else None,
            indexes=DataRef.of(message.indexes_ref) if message.HasField("indexes_ref") else None,
            total_records=total,
            deleted_records=message.deleted_record_count,
            stripe_count=message.stripe_count,
            raw_data_size=message.raw_data_size if message.HasField("raw_data_size") else None,
            identity=identity_in(message),
        )

    def to_message(self) -> wire.ShardDirectory:
        """The message that states this directory."""
        return wire.ShardDirectory(
            schema_ref=self.schema.to_message(),
            properties_ref=_stated(self.properties),
            field_list_ref=self.field_list.to_message(),
            stripe_list_ref=self.stripe_list.to_message(),
            url_list_ref=self.url_list.to_message(),
            indexes_ref=_stated(self.indexes),
            total_record_count=self.total_records,
            deleted_record_count=self.deleted_records,
            stripe_count=self.stripe_count,
            raw_data_size=self.raw_data_size,
            **identity_fields(self.identity),
        )


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class StripeDirectory(Fact):
    """One stripe in the shard's stripe list.

    `unknown` holds fields of a later version, as stored, to be written again. Decoding leaves it empty: reading values
    does not need them. `unknown_fields_of_stripes` returns them.
    """

    field_list: DataRef
    properties: DataRef | None = None
    indexes: DataRef | None = None
    shard_position: int
    total_records: int
    deleted_records: int = 0
    raw_data_size: int | None = None
    unknown: bytes = b""

    @classmethod
    def of(cls, message: wire.StripeDirectory) -> Self:
        """The fact that `message` states."""
        require(message, "field_list_ref")
        _check_deleted(message)
        return cls(
            field_list=DataRef.of(message.field_list_ref),
            properties=DataRef.of(message.properties_ref) if message.HasField("properties_ref") else None,
            indexes=DataRef.of(message.indexes_ref) if message.HasField("indexes_ref") else None,
            shard_position=message.shard_position,
            total_records=message.total_record_count,
            deleted_records=message.deleted_record_count,
            raw_data_size=message.raw_data_size if message.HasField("raw_data_size") else None,
        )

    def to_message(self) -> wire.StripeDirectory:
        """The message that states this stripe."""
        message = wire.StripeDirectory(
            properties_ref=_stated(self.properties),
            field_list_ref=self.field_list.to_message(),
            indexes_ref=_stated(self.indexes),
            total_record_count=self.total_records,
            deleted_record_count=self.deleted_records,
            raw_data_size=self.raw_data_size,
            shard_position=self.shard_position,
        )
        message.MergeFromString(self.unknown)
        return message


class StripeList(tuple[StripeDirectory, ...], Fact):
    """The stripes of a shard, in the order of their positions."""

    __slots__ = ()

    @classmethod
    def decode(cls, payload: Bytes, expected_count: int) -> Self:
        """The list in the payload of a frame. `expected_count` is the `stripe_count` of the shard directory."""
        message = parse(wire.StripeList, payload)
        if len(message.stripes) != expected_count:
            raise CorruptedData(f"StripeList: expected {expected_count} stripes, found {len(message.stripes)}")
        return cls(StripeDirectory.of(stripe) for stripe in message.stripes)

    def to_message(self) -> wire.StripeList:
        """The message that states this list."""
        return wire.StripeList(stripes=[stripe.to_message() for stripe in self])

    def check_positions(self, total_records: int) -> None:
        """Raise an error if stripes leave a gap, overlap, or do not add up to the directory's `total_records`."""
        position = 0
        for ordinal, stripe in enumerate(self):
            if stripe.shard_position != position:
                found = f"expected {position}, found {stripe.shard_position}"
                raise CorruptedData(f"StripeDirectory.shard_position: {found}", stripe=ordinal)
            position += stripe.total_records
        if position != total_records:
            raise CorruptedData(f"StripeList: expected {total_records} records in all stripes, found {position}")

    def check_deleted(self, deleted_records: int) -> None:
        """Raise an error if the deleted records of stripes do not add up to the directory's `deleted_records`."""
        found = sum(stripe.deleted_records for stripe in self)
        if found != deleted_records:
            raise CorruptedData(f"deleted records: expected {deleted_records} in all stripes, found {found}")


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class ShardProperties(Fact):
    """Properties of the shard, from the writer and its application. Ticks are 100 ns from the first day of year 1."""

    creation_min: int | None = None
    creation_max: int | None = None
    standard: Properties = ()
    custom: Properties = ()

    @classmethod
    def decode(cls, payload: Bytes) -> Self:
        """The properties in the payload of a frame."""
        message = parse(wire.ShardProperties, payload)
        return cls(
            creation_min=message.creation_min.ticks if message.HasField("creation_min") else None,
            creation_max=message.creation_max.ticks if message.HasField("creation_max") else None,
            standard=properties_of(message.standard_properties),
            custom=properties_of(message.custom_properties),
        )

    def to_message(self) -> wire.ShardProperties:
        """The message that states these properties."""
        return wire.ShardProperties(
            creation_min=None if self.creation_min is None else wire.DateTimeUtc(ticks=self.creation_min),
            creation_max=None if self.creation_max is None else wire.DateTimeUtc(ticks=self.creation_max),
            standard_properties=pairs_of(self.standard),
            custom_properties=pairs_of(self.custom),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeProperties(Fact):
    """Properties of a stripe, from the writer and its application."""

    standard: Properties = ()
    custom: Properties = ()

    @classmethod
    def decode(cls, payload: Bytes) -> Self:
        """The properties in the payload of a frame."""
        message = parse(wire.StripeProperties, payload)
        return cls(standard=properties_of(message.standard_properties), custom=properties_of(message.custom_properties))

    def to_message(self) -> wire.StripeProperties:
        """The message that states these properties."""
        return wire.StripeProperties(
            standard_properties=pairs_of(self.standard), custom_properties=pairs_of(self.custom)
        )


def with_property(payload: Bytes, name: str, value: AnyValue | None) -> bytes:
    """The payload of a `ShardProperties` message with this value of the custom property `name`; None removes it."""
    message = parse(wire.ShardProperties, payload)
    others = [pair for pair in message.custom_properties if pair.name != name]
    stated = [] if value is None else pairs_of(((name, value),))
    del message.custom_properties[:]
    message.custom_properties.extend([*others, *stated])
    return message.SerializeToString(deterministic=True)


def _stated(ref: DataRef | None) -> wire.DataRef | None:
    return None if ref is None else ref.to_message()


def _check_deleted(message: wire.ShardDirectory | wire.StripeDirectory) -> None:
    total, deleted = message.total_record_count, message.deleted_record_count
    if deleted > total:
        name = message.DESCRIPTOR.name
        raise CorruptedData(f"{name}.deleted_record_count: expected at most {total}, found {deleted}")
