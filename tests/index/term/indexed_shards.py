"""Shards with a term index, made by the builder alone: no other room is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from amudai.arrow import schema_nodes, to_storage
from amudai.edit import Publication, Root
from amudai.encoding import profile_of
from amudai.format import IndexDescriptor
from amudai.index import BuildPlan, TermIndex
from amudai.index.term.builder import TermBuilder
from amudai.index.term.reader import TermReader, open_term_index
from amudai.index.term.tuning import Tuning, tuning_of
from amudai.shard import BuildOptions, ShardBuilder, ShardReader, Sinks
from amudai.storage import open_store
from amudai.threads import Crew, one_by_one
from amudai.types import SchemaNode

__all__ = ["Indexed", "indexed", "path_of"]

SMALL = Tuning(page_terms=3, fan_out=3, list_values=1024)


def path_of(nodes: Sequence[SchemaNode], path: str) -> tuple[SchemaNode, ...]:
    """The nodes on the way to a field; steps are names, or `item`, `key`, `value`."""
    found: list[SchemaNode] = []
    for step in path.split("."):
        among = found[-1].children if found else nodes
        roles = {"item": 0, "key": 0, "value": 1}
        named = [node for node in among if node.name == step]
        found.append(named[0] if named else among[roles[step]])
    return tuple(found)


class Indexed:
    """An open shard and the reader of its one index."""

    def __init__(self, location: str, nodes: Sequence[SchemaNode]) -> None:
        self.location = location
        self.nodes = nodes
        self.shard = ShardReader(location)
        (self.descriptor,) = self.shard.indexes

    def reader(self, descriptor: IndexDescriptor | None = None, **options: bool) -> TermReader:
        """A reader that has seen nothing yet."""
        return open_term_index(descriptor or self.descriptor, self.shard, self.shard.root, **options)

    def path(self, path: str) -> tuple[SchemaNode, ...]:
        return path_of(self.nodes, path)


def indexed(
    table: pa.Table,
    spec: TermIndex,
    location: Path,
    *,
    stripe_rows: int | None = None,
    batch_rows: int = 1000,
    memory: int = 64 << 20,
    tuning: Tuning | None = None,
    two_level: bool = False,
    profile: str = "balanced",
    each: Callable[[Callable[[int], None], int], None] = one_by_one,
    threads: int = 1,
) -> Indexed:
    """Write a table with one term index, and open it."""
    nodes = schema_nodes(list(table.schema))
    paths = tuple(path_of(nodes, field) for field in spec.fields)
    plan = BuildPlan(paths=paths, memory=memory, temp_folder=None, profile=profile, crew=Crew(threads))
    sink = TermBuilder(spec, plan, tuning or tuning_of(profile))
    options = BuildOptions(profile=profile_of(profile), two_level=two_level, stripe_rows=stripe_rows)
    store, url = open_store(str(location), None)
    with Publication(store, url) as publication:
        builder = ShardBuilder(nodes, publication.sealing, publication.file, options, each, Sinks((sink,)))
        at = 0
        while at < table.num_rows:
            left = builder.rows_left
            rows = min(batch_rows, table.num_rows - at, batch_rows if left is None else left)
            part = table.slice(at, rows).combine_chunks()
            columns = [part.column(i).combine_chunks() for i in range(part.num_columns)]
            works = [
                lambda array=array, node=node: to_storage(array, node, node.name)  # type: ignore[misc]
                for array, node in zip(columns, nodes, strict=True)
            ]
            builder.append(works, rows)
            at += rows
        publication.publish(Root(url=url, metadata=builder.finish()))
        builder.close()
    return Indexed(str(location), nodes)
