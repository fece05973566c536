"""The metadata of a shard, and writing it."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from amudai.format import (
    DataRef,
    FieldList,
    IdentityHash,
    IndexCollection,
    ShardDirectory,
    StripeDirectory,
    StripeList,
    UrlList,
    field_with_indexes,
    frame,
    frame_directory,
    with_indexed_fields,
)
from amudai.storage import SealedFile

__all__ = ["ShardMetadata", "StripeMetadata", "WrittenDirectory", "with_field_indexes", "write_metadata"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeMetadata:
    """The metadata of one stripe in a root. Messages are encoded payloads, so that nothing in them is lost.

    Attributes
    ----------
    rows, deleted
        How many records the stripe has, and how many of them are deleted.
    fields
        A `StripeFieldDescriptor` by schema id; None if the stripe has none.
    properties, indexes
        A `StripeProperties` and an `IndexCollection`; empty if there are none.
    unknown, unknown_in_field_list
        Fields of a later version in the stripe's directory and in its field list, as stored.
    """

    rows: int
    deleted: int = 0
    raw_data_size: int | None = None
    fields: tuple[bytes | None, ...]
    properties: bytes = b""
    indexes: bytes = b""
    unknown: bytes = b""
    unknown_in_field_list: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardMetadata:
    """The metadata in a root. Messages are encoded payloads, so that nothing in them is lost.

    References are relative to the folder of the root. The empty URL is the root itself.

    Attributes
    ----------
    schema
        The encoded schema.
    fields
        A `FieldDescriptor` by schema id: counts and statistics over the whole shard; None if there is none.
    properties, indexes
        A `ShardProperties` and an `IndexCollection`; empty if there are none.
    urls
        Names of the shard's other files.
    unknown
        Fields of a later version, as stored, by the name of their message: `ShardDirectory`, `StripeList`, `UrlList`,
        `DataRefArray`.
    """

    schema: bytes
    stripes: tuple[StripeMetadata, ...]
    fields: tuple[bytes | None, ...]
    properties: bytes = b""
    indexes: bytes = b""
    urls: Set[str] = frozenset()
    raw_data_size: int | None = None
    unknown: tuple[tuple[str, bytes], ...] = ()


def with_field_indexes(metadata: ShardMetadata, indexes: IndexCollection) -> ShardMetadata:
    """The metadata with indexes in the descriptors of their fields.

    A shard without rows has no descriptors. Then they are indexes of the shard.
    """
    fields = list(metadata.fields)
    others = []
    for index in indexes:
        schema_id = index.indexed_fields[0][0]
        payload = fields[schema_id]
        if payload is None:
            others.append(index)
        else:
            fields[schema_id] = field_with_indexes(payload, IndexCollection((index,)))
    placed = [index.indexed_fields[0][0] for index in indexes if index not in others]
    return replace(
        metadata,
        fields=tuple(fields),
        # The concatenation of two payloads is one message with the repeated fields of both.
        indexes=metadata.indexes + IndexCollection(tuple(others)).encode(),
        properties=with_indexed_fields(metadata.properties, placed) if placed else metadata.properties,
    )


@dataclass(frozen=True, slots=True)
class WrittenDirectory:
    """A shard directory that was written: its place, and its identity if it has one."""

    place: DataRef
    identity: bytes | None


def write_metadata(out: SealedFile, metadata: ShardMetadata, *, identified: bool = False) -> WrittenDirectory:
    """Write descriptors, lists, schema and directory.

    With `identified`, the directory notes a hash of all messages before it. They note the identities of all buffers,
    so this hash identifies the whole shard.
    """
    unknown = dict(metadata.unknown)
    frames = _Frames(out)
    directories: list[StripeDirectory] = []
    position = 0
    for stripe in metadata.stripes:
        listed = frames.field_list(stripe.fields, stripe.unknown_in_field_list)
        directories.append(
            StripeDirectory(
                field_list=listed,
                properties=frames.put(stripe.properties) if stripe.properties else None,
                indexes=frames.put(stripe.indexes) if stripe.indexes else None,
                shard_position=position,
                total_records=stripe.rows,
                deleted_records=stripe.deleted,
                raw_data_size=stripe.raw_data_size,
                unknown=stripe.unknown,
            )
        )
        position += stripe.rows
    stripe_list = frames.put(StripeList(directories).encode() + unknown.get("StripeList", b""))
    url_list = frames.put(UrlList(tuple(sorted(metadata.urls))).encode() + unknown.get("UrlList", b""))
    field_list = frames.field_list(metadata.fields, unknown.get("DataRefArray", b""))
    directory = ShardDirectory(
        properties=frames.put(metadata.properties) if metadata.properties else None,
        schema=frames.put(metadata.schema),
        field_list=field_list,
        stripe_list=stripe_list,
        indexes=frames.put(metadata.indexes) if metadata.indexes else None,
        url_list=url_list,
        total_records=position,
        deleted_records=sum(stripe.deleted for stripe in metadata.stripes),
        stripe_count=len(directories),
        raw_data_size=metadata.raw_data_size,
        identity=frames.hash.digest() if identified else None,
    )
    place = frames.write(frame_directory(directory.encode() + unknown.get("ShardDirectory", b"")))
    return WrittenDirectory(place, directory.identity)


class _Frames:
    """Writes messages in their frames, and hashes them."""

    def __init__(self, out: SealedFile) -> None:
        self._out = out
        self.hash = IdentityHash()

    def field_list(self, descriptors: Sequence[bytes | None], unknown: bytes) -> DataRef:
        """Write descriptors and the list that refers to them; return the place of the list."""
        # Written together: a root may have very many descriptors.
        frames = [None if each is None else frame(each) for each in descriptors]
        ends = list(accumulate((0 if each is None else len(each) for each in frames), initial=self._out.tell()))
        refs = [
            None if each is None else DataRef("", start, end)
            for each, (start, end) in zip(frames, pairwise(ends), strict=True)
        ]
        self._append(b"".join(each for each in frames if each is not None))
        return self.put(FieldList.from_refs(refs).encode() + unknown)

    def put(self, payload: bytes) -> DataRef:
        """Write a message; return its place."""
        framed = frame(payload)
        start = self._out.tell()
        self._append(framed)
        return DataRef("", start, start + len(framed))

    def _append(self, framed: bytes) -> None:
        self.hash.update(framed)
        self._out.write(framed)

    def write(self, framed: bytes) -> DataRef:
        """Write a message that is in its frame already; return its place."""
        start = self._out.tell()
        self._out.write(framed)
        return DataRef("", start, self._out.tell())
