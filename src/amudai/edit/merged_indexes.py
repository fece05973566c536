"""The contract by which indexes of merged shards are carried along: the parts of a new index, and their numbers.

An index type that can merge its indexes gets parts and writes one index of them. It reads no values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from amudai.edit.merging import MergedSource, Merging
from amudai.errors import CorruptedData
from amudai.format import IndexDescriptor, MovedIndex
from amudai.shard import ShardReader
from amudai.storage import Artifact

__all__ = ["IndexPart", "index_parts"]


@dataclass(frozen=True, slots=True, eq=False)
class IndexPart:
    """An index of a whole shard, or of some of its rows, that becomes a part of an index of the new shard.

    Attributes
    ----------
    descriptor, anchor
        The index as the shard has it, and the file that its references are relative to.
    merging, source
        All shards that are merged, and the one that has the index.
    moved
        How the index numbers rows and fields if it was not built for this shard.
    """

    descriptor: IndexDescriptor
    anchor: Artifact
    merging: Merging
    source: MergedSource
    moved: MovedIndex | None

    @property
    def shard(self) -> ShardReader:
        """The shard that has the index."""
        return self.source.reader

    @property
    def rows(self) -> range:
        """The rows of its shard that the index covers."""
        if self.moved is None or self.moved.rows is None:
            return range(self.shard.num_positions)
        return range(self.moved.first_row, self.moved.first_row + self.moved.rows)

    @property
    def own_first_stripe(self) -> int:
        """The number of the index's stripe 0 in its shard."""
        return 0 if self.moved is None else self.moved.first_stripe

    @property
    def first_row(self) -> int:
        """The number of the index's row 0 in the new shard."""
        return self.source.first_row + (0 if self.moved is None else self.moved.first_row)

    @property
    def first_stripe(self) -> int:
        """The number of the index's stripe 0 in the new shard."""
        return self.source.first_stripe + self.own_first_stripe

    @property
    def ids(self) -> dict[int, int]:
        """The schema id in the new shard for each schema id in the index."""
        new = self.source.ids
        stored = self.descriptor.indexed_fields if self.moved is None else self.moved.fields
        found: dict[int, int] = {}
        for own, theirs in zip(self.descriptor.indexed_fields, stored, strict=True):
            for schema_id, each in zip(own, theirs, strict=True):
                if schema_id not in new:
                    raise CorruptedData(f"index: expected fields of the shard, found the schema id {schema_id}")
                found[each] = new[schema_id]
        return found


def index_parts(merging: Merging) -> Iterator[IndexPart]:
    """The indexes of whole shards, as parts of indexes of the new shard, in the order of their rows."""
    for source in merging.sources:
        reader = source.reader
        of_fields = reader.field_indexes() if source.root.of_fields else ()
        for descriptor, anchor in (*((each, reader.index_anchor) for each in reader.indexes), *of_fields):
            yield IndexPart(descriptor, anchor, merging, source, MovedIndex.of(descriptor))
