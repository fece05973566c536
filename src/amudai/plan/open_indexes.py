"""The indexes of a shard that this version can use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from amudai.errors import CorruptedData, StorageError, UnsupportedFeature, located
from amudai.format import IndexDescriptor
from amudai.index import IndexReader, IndexType, Question, index_type
from amudai.lazy import lazy
from amudai.plan.unusable import UnusableIndexes
from amudai.rows import Positions, Rows
from amudai.shard import ShardReader
from amudai.storage import Artifact
from amudai.types import NodePath

__all__ = ["OpenIndex", "open_indexes", "unknown_indexes"]


@dataclass(eq=False)
class OpenIndex:
    """An index of a shard. The first question opens it.

    Attributes
    ----------
    rows
        The rows that the index covers; None for all rows of the shard.
    unusable
        Where it is noted that the index cannot be used. Then it is not asked any more.
    """

    type: IndexType
    descriptor: IndexDescriptor
    shard: ShardReader
    anchor: Artifact
    rows: Rows | None
    unusable: UnusableIndexes
    _reader: IndexReader | None = field(default=None, repr=False)
    _is_unusable: bool = False

    @lazy
    def schema_ids(self) -> frozenset[int]:
        """The schema ids of the fields that the index covers."""
        return frozenset(each for ids in self.descriptor.indexed_fields for each in ids)

    def ask(self, path: NodePath, question: Question, rows: Rows) -> Positions | None:
        """The answer to a question about one field, for `rows`; None if the index cannot tell."""
        if self._is_unusable:
            return None
        try:
            with located(url=self.shard.url, index=self.type.name):
                if self._reader is None:
                    self._reader = self.type.open(self.descriptor, self.shard, self.anchor)
                return self._reader.answer(path, question, rows)
        except (CorruptedData, StorageError, UnsupportedFeature) as error:
            self.unusable.note(self.type.name, error)
            self._is_unusable = True
            return None


def open_indexes(shard: ShardReader, unusable: UnusableIndexes) -> tuple[OpenIndex, ...]:
    """The indexes of a shard and its stripes whose types are known."""
    found = []
    for descriptor, anchor, rows in _descriptors(shard):
        kind = index_type(descriptor.index_type)
        if kind is not None:
            found.append(OpenIndex(kind, descriptor, shard, anchor, rows, unusable))
    return tuple(found)


def unknown_indexes(shard: ShardReader) -> tuple[str, ...]:
    """The types of the indexes that this version does not know."""
    return tuple(each.index_type for each, _, _ in _descriptors(shard) if index_type(each.index_type) is None)


def _descriptors(shard: ShardReader) -> Iterator[tuple[IndexDescriptor, Artifact, Rows | None]]:
    for descriptor in shard.indexes:
        yield descriptor, shard.index_anchor, None
    for stripe in shard.stripes:
        if stripe.directory.indexes is not None:
            rows = stripe.extent
            for descriptor in stripe.indexes:
                yield descriptor, stripe.index_anchor, rows
