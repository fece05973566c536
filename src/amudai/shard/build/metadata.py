"""The metadata of a shard, and writing it."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from amudai.format import (
    DataRef,
    FieldList,
    ShardDirectory,
    StripeDirectory,
    StripeList,
    UrlList,
    frame,
    frame_directory,
)
from amudai.storage import SealedFile

__all__ = ["ShardMetadata", "StripeMetadata", "write_metadata"]


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


def write_metadata(out: SealedFile, metadata: ShardMetadata) -> DataRef:
    """Write descriptors, lists, schema and directory; return the place of the directory."""
    unknown = dict(metadata.unknown)
    directories: list[StripeDirectory] = []
    position = 0
    for stripe in metadata.stripes:
        listed = _field_list(out, stripe.fields, stripe.unknown_in_field_list)
        directories.append(
            StripeDirectory(
                field_list=listed,
                properties=_put(out, stripe.properties) if stripe.properties else None,
                indexes=_put(out, stripe.indexes) if stripe.indexes else None,
                shard_position=position,
                total_records=stripe.rows,
                deleted_records=stripe.deleted,
                raw_data_size=stripe.raw_data_size,
                unknown=stripe.unknown,
            )
        )
        position += stripe.rows
    stripe_list = _put(out, StripeList(directories).encode() + unknown.get("StripeList", b""))
    url_list = _put(out, UrlList(tuple(sorted(metadata.urls))).encode() + unknown.get("UrlList", b""))
    field_list = _field_list(out, metadata.fields, unknown.get("DataRefArray", b""))
    directory = ShardDirectory(
        properties=_put(out, metadata.properties) if metadata.properties else None,
        schema=_put(out, metadata.schema),
        field_list=field_list,
        stripe_list=stripe_list,
        indexes=_put(out, metadata.indexes) if metadata.indexes else None,
        url_list=url_list,
        total_records=position,
        deleted_records=sum(stripe.deleted for stripe in metadata.stripes),
        stripe_count=len(directories),
        raw_data_size=metadata.raw_data_size,
    )
    return _write(out, frame_directory(directory.encode() + unknown.get("ShardDirectory", b"")))


def _field_list(out: SealedFile, descriptors: Sequence[bytes | None], unknown: bytes) -> DataRef:
    """Write descriptors and the list that refers to them; return the place of the list."""
    refs = [None if each is None else _put(out, each) for each in descriptors]
    return _put(out, FieldList.from_refs(refs).encode() + unknown)


def _put(out: SealedFile, payload: bytes) -> DataRef:
    """Write a message; return its place."""
    return _write(out, frame(payload))


def _write(out: SealedFile, framed: bytes) -> DataRef:
    start = out.tell()
    out.write(framed)
    return DataRef("", start, out.tell())
