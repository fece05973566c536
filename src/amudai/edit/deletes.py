"""The operation that marks rows of an existing shard as deleted, or as live again.

The marker is an internal field of booleans. A stripe without deleted rows has no markers, and a shard without deleted
rows has no such field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from amudai.edit.columns import first_free_id
from amudai.edit.root import Root
from amudai.encoding import profile_of
from amudai.format import FieldDescriptor, StripeFieldDescriptor, changeable_schema, encode_schema
from amudai.rows import Rows
from amudai.shard import (
    BuildOptions,
    ShardMetadata,
    StoredArray,
    StripeBuilder,
    StripeMetadata,
    folded,
    place_fields,
)
from amudai.storage import SealedFile
from amudai.types import DELETED_RECORD, BasicType, SchemaNode

__all__ = ["with_deleted"]

# Most markers are zeros, and every scan reads all of them. Runs are nearly as small as what a compressor would make of
# them, and much faster to decode.
_PROFILE: Final = replace(profile_of("high_compression"), zstd_levels=(), lz4_level=0)
# How many markers are appended at a time: a multiple of 64.
_PART: Final = 1 << 20

Slots = tuple[bytes | None, ...]


def with_deleted(root: Root, deleted: Mapping[int, Rows], out: SealedFile, temp_folder: str | None = None) -> Root:
    """The root in which exactly these rows of these stripes are deleted.

    Parameters
    ----------
    deleted
        The deleted rows of a stripe, counted from its first row, by the number of the stripe. Deletes of stripes that
        are not mentioned stay as they are.
    out
        The new root file. The markers are written to it.
    """
    metadata = root.metadata
    nodes = changeable_schema(metadata.schema)
    known = next((node for node in nodes if node.internal == DELETED_RECORD), None)
    free = first_free_id(root)
    marker = known or SchemaNode(schema_id=free, name="", basic_type=BasicType.BOOLEAN, internal=DELETED_RECORD)
    options = BuildOptions(profile=_PROFILE, temp_folder=temp_folder)
    stripes = tuple(
        _marked(stripe, marker, deleted[ordinal], out, options) if ordinal in deleted else stripe
        for ordinal, stripe in enumerate(metadata.stripes)
    )
    if any(stripe.deleted for stripe in stripes):
        schema = encode_schema((*nodes, marker), free + 1) if known is None else metadata.schema
    elif known is None:
        return root
    else:
        schema = encode_schema([node for node in nodes if node is not known], free)
        stripes = tuple(_with_marker(stripe, marker, None, 0) for stripe in stripes)
    described = replace(
        metadata,
        schema=schema,
        stripes=stripes,
        fields=_with_slot(metadata.fields, marker.schema_id, _total(stripes, marker)),
        raw_data_size=_raw_size(metadata, stripes),
    )
    return replace(root, metadata=described)


def _marked(
    stripe: StripeMetadata, marker: SchemaNode, rows: Rows, out: SealedFile, options: BuildOptions
) -> StripeMetadata:
    """The stripe with these deleted rows. Their markers are written to `out`."""
    if not rows:
        return _with_marker(stripe, marker, None, 0)
    builder = StripeBuilder((marker,), options)
    with builder.spool:
        for start in range(0, stripe.rows, _PART):
            end = min(start + _PART, stripe.rows)
            builder.append([partial(_markers, marker, rows, start, end)], end - start)
        placed = place_fields(builder.finish(), "", out, builder.spool, {})
    return _with_marker(stripe, marker, placed[marker.schema_id], rows.count)


def _markers(marker: SchemaNode, rows: Rows, start: int, end: int) -> StoredArray:
    return StoredArray(node=marker, length=end - start, data=rows.bits(start, end))


def _with_marker(
    stripe: StripeMetadata, marker: SchemaNode, descriptor: StripeFieldDescriptor | None, deleted: int
) -> StripeMetadata:
    """The stripe with another descriptor of the marker, or with none."""
    old = _marker_of(stripe, marker)
    size = stripe.raw_data_size
    if size is not None:
        size += _size_of(descriptor) - _size_of(old)
    payload = None if descriptor is None else descriptor.encode()
    fields = _with_slot(stripe.fields, marker.schema_id, payload)
    return replace(stripe, deleted=deleted, raw_data_size=size, fields=fields)


def _marker_of(stripe: StripeMetadata, marker: SchemaNode) -> StripeFieldDescriptor | None:
    payload = stripe.fields[marker.schema_id] if marker.schema_id < len(stripe.fields) else None
    return None if payload is None else StripeFieldDescriptor.decode(payload)


def _size_of(descriptor: StripeFieldDescriptor | None) -> int:
    return 0 if descriptor is None else descriptor.field.raw_data_size or 0


def _total(stripes: tuple[StripeMetadata, ...], marker: SchemaNode) -> bytes | None:
    """The marker's descriptor for the whole shard; None if no stripe has markers."""
    total: FieldDescriptor | None = None
    for stripe in stripes:
        found = _marker_of(stripe, marker)
        total = total if found is None else folded(total, found.field)
    return None if total is None else total.encode()


def _with_slot(slots: Slots, schema_id: int, payload: bytes | None) -> Slots:
    """A field list with another descriptor in one slot. The list grows if it must."""
    if schema_id < len(slots):
        return (*slots[:schema_id], payload, *slots[schema_id + 1 :])
    return (*slots, *(None,) * (schema_id - len(slots)), payload)


def _raw_size(metadata: ShardMetadata, stripes: tuple[StripeMetadata, ...]) -> int | None:
    if metadata.raw_data_size is None:
        return None
    pairs = zip(stripes, metadata.stripes, strict=True)
    return metadata.raw_data_size + sum((new.raw_data_size or 0) - (old.raw_data_size or 0) for new, old in pairs)
