"""How does a shard refer to stripes that lie in the files of another?

A root that refers to stripes elsewhere has descriptors of its own; buffers stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from amudai.errors import UnsupportedFeature
from amudai.format import DataRef, EncodedBuffer, IndexDescriptor, NativeEncoding, StripeFieldDescriptor
from amudai.shard.build.metadata import PlacedStripe
from amudai.shard.reader import ShardReader
from amudai.shard.stripe import StripeReader
from amudai.storage import Artifact
from amudai.types import SchemaNode

__all__ = ["Naming", "referred_index", "referred_stripe"]

# What another root calls a file of this shard.
Naming = Callable[[Artifact], str]


def referred_stripe(stripe: StripeReader, nodes: tuple[SchemaNode, ...], naming: Naming) -> PlacedStripe:
    """A stripe as another root describes it."""
    shard = stripe.shard
    if stripe.directory.deleted_records:
        raise UnsupportedFeature("deleted records: a stripe that has some cannot be referred to", url=shard.url)
    stripe.prepare(nodes)
    fields: dict[int, StripeFieldDescriptor] = {}
    for node in nodes:
        descriptor = stripe.descriptor(node)
        if descriptor is not None:
            fields[node.schema_id] = _referred(descriptor, stripe, naming)
    indexes = tuple(referred_index(each, shard, stripe.index_anchor, naming) for each in stripe.indexes)
    noted = stripe.properties
    return PlacedStripe(stripe.num_rows, "", 0, fields, noted.custom, noted.standard, indexes)


def _referred(descriptor: StripeFieldDescriptor, stripe: StripeReader, naming: Naming) -> StripeFieldDescriptor:
    encodings = []
    for encoding in descriptor.encodings:
        if not isinstance(encoding, NativeEncoding):
            raise UnsupportedFeature("stored values: only the format's own encodings can be referred to")
        buffers = tuple(_buffer(buffer, stripe, naming) for buffer in encoding.buffers)
        encodings.append(replace(encoding, buffers=buffers))
    return replace(descriptor, encodings=tuple(encodings))


def _buffer(buffer: EncodedBuffer, stripe: StripeReader, naming: Naming) -> EncodedBuffer:
    url = naming(stripe.artifact_of(buffer.buffer))
    return replace(buffer, buffer=_at(buffer.buffer, url), block_map=_at(buffer.block_map, url))


def _at(ref: DataRef | None, url: str) -> DataRef | None:
    return None if ref is None else replace(ref, url=url)


def referred_index(index: IndexDescriptor, shard: ShardReader, anchor: Artifact, naming: Naming) -> IndexDescriptor:
    """An index as another root describes it."""
    artifacts = tuple(
        replace(each, data=replace(each.data, url=naming(shard.artifact(each.data.url, anchor))))
        for each in index.artifacts
    )
    return replace(index, artifacts=artifacts)
