"""Columns of forged shards, opened as sources."""

from __future__ import annotations

from amudai.column import ColumnSource
from amudai.shard import ShardReader
from amudai.storage import MemoryStore
from tests.forge import Column, Forge

__all__ = ["opened", "reader_of"]


def reader_of(columns: dict[str, Column]) -> ShardReader:
    """The reader of a shard with one stripe of these columns."""
    forge = Forge.of(columns)
    return ShardReader(forge.name, MemoryStore(forge.files()))


def opened(column: Column, name: str = "c") -> ColumnSource:
    """The source of a single column."""
    reader = reader_of({name: column})
    (node,) = reader.schema.fields()
    return reader.stripes[0].column(node)
