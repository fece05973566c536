"""Shards with a hash index, built as a writer builds them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pyarrow as pa

from amudai.arrow import schema_nodes, to_storage
from amudai.edit import Publication, Root
from amudai.encoding import profile_of
from amudai.format import IndexDescriptor
from amudai.index import BuildPlan
from amudai.index.hash.builder import HashIndexBuilder
from amudai.index.hash.reader import HashIndexReader
from amudai.index.hash.spec import HashIndex
from amudai.shard import BuildOptions, ShardBuilder, ShardReader, Sinks
from amudai.storage import open_store
from amudai.types import SchemaNode

Nodes = tuple[SchemaNode, ...]


def resolved(nodes: Nodes, path: str) -> Nodes:
    """The nodes of a path; the items of a list are named `item`."""
    found: list[SchemaNode] = []
    for step in path.split("."):
        node = next(node for node in nodes if (node.name or "item") == step)
        found.append(node)
        nodes = node.children
    return tuple(found)


def build(
    table: pa.Table,
    target: Path,
    *fields: str,
    memory: int = 1 << 26,
    two_level: bool = False,
    stripe_rows: int | None = None,
    batch_rows: int = 1 << 16,
) -> None:
    """Write a shard with a hash index over these fields."""
    nodes = schema_nodes(table.schema)
    plan = BuildPlan(tuple(resolved(nodes, path) for path in fields), memory, None, "balanced")
    sink = HashIndexBuilder(HashIndex(*fields), plan)
    options = BuildOptions(profile=profile_of("balanced"), two_level=two_level)
    store, url = open_store(target)
    publication = Publication(store, url, overwrite=True)
    builder = ShardBuilder(nodes, publication.sealing, publication.file, options, sinks=Sinks((sink,)))
    per_stripe = stripe_rows or max(1, table.num_rows)
    try:
        for first in range(0, table.num_rows, per_stripe):
            stripe = table.slice(first, per_stripe)
            for at in range(0, stripe.num_rows, batch_rows):
                part = stripe.slice(at, batch_rows).combine_chunks()
                columns = [column.chunk(0) for column in part.columns]
                work = [partial(to_storage, each, node, node.name) for each, node in zip(columns, nodes, strict=True)]
                builder.append(work, part.num_rows)
            builder.end_stripe()
        publication.publish(Root(url=url, metadata=builder.finish()))
    finally:
        publication.close()


def opened(target: Path, *, verify: bool = True) -> tuple[HashIndexReader, IndexDescriptor, Nodes]:
    """The index of a shard, what describes it, and the fields of the shard."""
    shard = ShardReader(target, verify=verify)
    descriptor = shard.indexes.descriptors[0]
    return HashIndexReader(descriptor, shard, shard.root), descriptor, tuple(shard.schema.fields())
