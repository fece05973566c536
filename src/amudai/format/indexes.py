"""The descriptors of the indexes of a shard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Self

from amudai.format.container import Bytes
from amudai.format.identity import identity_fields, identity_in
from amudai.format.message import Fact, LazyFact, parse
from amudai.format.property_values import Properties, pairs_of, properties_of, values_of
from amudai.format.references import DataRef
from amudai.format.wire import amudai_pb2 as wire

__all__ = ["IndexArtifact", "IndexCollection", "IndexDescriptor", "changed_indexes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexArtifact(LazyFact):
    """One part of an index, stored as a shard or a byte range of its own.

    `identity` is what the directory of that shard has; None if it has none.
    """

    name: str
    properties: Properties = ()
    data: DataRef
    identity: bytes | None = None
    message: wire.IndexArtifact | None = field(default=None, repr=False, compare=False)

    @property
    def values(self) -> dict[str, object]:
        """The values of the properties by their names."""
        return _values(self)

    @classmethod
    def of(cls, message: wire.IndexArtifact) -> Self:
        """The fact that `message` states."""
        return cls.lazily(message)

    def to_message(self) -> wire.IndexArtifact:
        """The message that states this part."""
        return wire.IndexArtifact(
            name=self.name,
            properties=pairs_of(self.properties),
            data_ref=self.data.to_message(),
            **identity_fields(self.identity),
        )


IndexArtifact.PARTS = {
    "name": lambda of: of.name,
    "properties": lambda of: properties_of(of.properties),
    "data": lambda of: DataRef.of(of.data_ref),
    "identity": identity_in,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexDescriptor(LazyFact):
    """One index: its type, what it covers, and where it is stored.

    A reader that does not know the type ignores the index, unless it is `required`.
    """

    index_type: str
    properties: Properties = ()
    indexed_fields: tuple[tuple[int, ...], ...]
    artifacts: tuple[IndexArtifact, ...]
    index_size: int | None = None
    message: wire.IndexDescriptor | None = field(default=None, repr=False, compare=False)

    @property
    def values(self) -> dict[str, object]:
        """The values of the properties by their names."""
        return _values(self)

    @property
    def required(self) -> bool:
        """Whether the shard must not be read without this index."""
        return any(name == "required" and value.value is True for name, value in self.properties)

    @classmethod
    def of(cls, message: wire.IndexDescriptor) -> Self:
        """The fact that `message` states."""
        return cls.lazily(message, index_type=message.index_type)

    def whole(self) -> Self:
        """The same descriptor with all attributes decoded, including those of its artifacts."""
        for artifact in self.artifacts:
            artifact.whole()
        return LazyFact.whole(self)

    def to_message(self) -> wire.IndexDescriptor:
        """The message that states this index."""
        return wire.IndexDescriptor(
            index_type=self.index_type,
            properties=pairs_of(self.properties),
            indexed_fields=[wire.IndexedField(schema_ids=ids) for ids in self.indexed_fields],
            artifacts=[artifact.to_message() for artifact in self.artifacts],
            index_size=self.index_size,
        )


IndexDescriptor.PARTS = {
    "properties": lambda of: properties_of(of.properties),
    "indexed_fields": lambda of: tuple([tuple(each.schema_ids) for each in of.indexed_fields]),
    "artifacts": lambda of: tuple([IndexArtifact.lazily(artifact) for artifact in of.artifacts]),
    "index_size": lambda of: of.index_size if of.HasField("index_size") else None,
}


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
        return cls(tuple([IndexDescriptor.of(descriptor) for descriptor in message.index_descriptors]))

    def whole(self) -> Self:
        """The same collection with all attributes decoded, so that errors are raised now rather than later."""
        for descriptor in self.descriptors:
            descriptor.whole()
        return self

    def to_message(self) -> wire.IndexCollection:
        """The message that states this collection."""
        return wire.IndexCollection(index_descriptors=[each.to_message() for each in self.descriptors])


def _values(fact: IndexArtifact | IndexDescriptor) -> dict[str, object]:
    try:
        properties: Properties = object.__getattribute__(fact, "properties")
    except AttributeError:
        # They are not decoded yet: then no value needs a fact of its own.
        assert fact.message is not None
        return values_of(fact.message.properties)
    return {name: value.value for name, value in reversed(properties)}


def changed_indexes(payload: Bytes, change: Callable[[IndexDescriptor], IndexDescriptor | None]) -> bytes:
    """The payload of an `IndexCollection` with every descriptor changed. Fields of a later version are kept.

    Parameters
    ----------
    change
        Returns the descriptor as it is, or with more properties, or with other ids in `indexed_fields`; None removes
        it. Other changes are not made.
    """
    message = parse(wire.IndexCollection, payload)
    kept = []
    for stated in message.index_descriptors:
        old = IndexDescriptor.of(stated)
        new = change(old)
        if new is None:
            continue
        stated.properties.extend(pairs_of(new.properties[len(old.properties) :]))
        for entry, ids in zip(stated.indexed_fields, new.indexed_fields, strict=True):
            entry.schema_ids[:] = ids
        kept.append(stated)
    if len(kept) < len(message.index_descriptors):
        kept = [wire.IndexDescriptor.FromString(each.SerializeToString()) for each in kept]
        del message.index_descriptors[:]
        message.index_descriptors.extend(kept)
    return message.SerializeToString(deterministic=True)
