"""Which indexes does the shard carry, and where?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from amudai.format.container import Bytes
from amudai.format.message import Fact, parse
from amudai.format.references import DataRef
from amudai.format.values import Properties, pairs_of, properties_of
from amudai.format.wire import amudai_pb2 as wire

__all__ = ["IndexArtifact", "IndexCollection", "IndexDescriptor"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexArtifact(Fact):
    """One piece of an index: a shard or a byte range of its own."""

    name: str
    properties: Properties = ()
    data: DataRef

    @classmethod
    def of(cls, message: wire.IndexArtifact) -> Self:
        """The fact that `message` states."""
        return cls(name=message.name, properties=properties_of(message.properties), data=DataRef.of(message.data_ref))

    def to_message(self) -> wire.IndexArtifact:
        """The message that states this piece."""
        return wire.IndexArtifact(name=self.name, properties=pairs_of(self.properties), data_ref=self.data.to_message())


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexDescriptor(Fact):
    """One index: its type, what it covers, where it lies.

    A reader that does not know the type goes without the index, unless it is `required`.
    """

    index_type: str
    properties: Properties = ()
    indexed_fields: tuple[tuple[int, ...], ...]
    artifacts: tuple[IndexArtifact, ...]
    index_size: int | None = None

    @property
    def required(self) -> bool:
        """Whether the shard must not be read without this index."""
        return any(name == "required" and value.value is True for name, value in self.properties)

    @classmethod
    def of(cls, message: wire.IndexDescriptor) -> Self:
        """The fact that `message` states."""
        return cls(
            index_type=message.index_type,
            properties=properties_of(message.properties),
            indexed_fields=tuple(tuple(field.schema_ids) for field in message.indexed_fields),
            artifacts=tuple(IndexArtifact.of(artifact) for artifact in message.artifacts),
            index_size=message.index_size if message.HasField("index_size") else None,
        )

    def to_message(self) -> wire.IndexDescriptor:
        """The message that states this index."""
        return wire.IndexDescriptor(
            index_type=self.index_type,
            properties=pairs_of(self.properties),
            indexed_fields=[wire.IndexedField(schema_ids=ids) for ids in self.indexed_fields],
            artifacts=[artifact.to_message() for artifact in self.artifacts],
            index_size=self.index_size,
        )


@dataclass(frozen=True, slots=True)
class IndexCollection(Fact):
    """The indexes of a shard, a stripe or a field."""

    descriptors: tuple[IndexDescriptor, ...]

    def __len__(self) -> int:
        return len(self.descriptors)

    def __iter__(self) -> Iterator[IndexDescriptor]:
        return iter(self.descriptors)

    @classmethod
    def decode(cls, payload: Bytes) -> Self:
        """The collection in the payload of a frame."""
        return cls.of(parse(wire.IndexCollection, payload))

    @classmethod
    def of(cls, message: wire.IndexCollection) -> Self:
        """The fact that `message` states."""
        return cls(tuple(IndexDescriptor.of(descriptor) for descriptor in message.index_descriptors))

    def to_message(self) -> wire.IndexCollection:
        """The message that states this collection."""
        return wire.IndexCollection(index_descriptors=[each.to_message() for each in self.descriptors])
