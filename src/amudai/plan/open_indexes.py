"""The indexes of a shard that this version can use."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from amudai.errors import CorruptedData, StorageError, located
from amudai.format import IndexDescriptor, MovedIndex
from amudai.index import IndexReader, IndexType, Question, index_type
from amudai.lazy import lazy
from amudai.plan.request import OnDamage
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
    part
        What these rows are: a `"stripe"`, or a `"part"` of the shard that was a shard of its own.
    on_damage
        `"raise"` makes damage an error. `"ignore"` makes it a warning, and the index is not used any more.
    """

    type: IndexType
    descriptor: IndexDescriptor
    shard: ShardReader
    anchor: Artifact
    rows: Rows | None
    part: str = "stripe"
    on_damage: OnDamage = "raise"
    _reader: IndexReader | None = field(default=None, repr=False)
    _damaged: bool = False

    @lazy
    def schema_ids(self) -> frozenset[int]:
        """The schema ids of the fields that the index covers."""
        return frozenset(each for ids in self.descriptor.indexed_fields for each in ids)

    def ask(self, path: NodePath, question: Question, rows: Rows) -> Positions | None:
        """The answer to a question about one field, for `rows`; None if the index cannot tell."""
        if self._damaged:
            return None
        try:
            with located(url=self.shard.url, index=self.type.name):
                if self._reader is None:
                    self._reader = self.type.open(self.descriptor, self.shard, self.anchor)
                return self._reader.answer(path, question, rows)
        except (CorruptedData, StorageError) as error:
            if self.on_damage == "raise":
                raise
            self._damaged = True
            warnings.warn(f"damaged index ignored: {error}", RuntimeWarning, stacklevel=2)
            return None


def open_indexes(shard: ShardReader, on_damage: OnDamage) -> tuple[OpenIndex, ...]:
    """The indexes of a shard and its stripes whose types are known."""
    found = []
    for descriptor, anchor, rows, part in _descriptors(shard):
        kind = index_type(descriptor.index_type)
        if kind is not None:
            found.append(OpenIndex(kind, descriptor, shard, anchor, rows, part, on_damage))
    return tuple(found)


def unknown_indexes(shard: ShardReader) -> tuple[str, ...]:
    """The types of the indexes that this version does not know."""
    return tuple(each.index_type for each, *_ in _descriptors(shard) if index_type(each.index_type) is None)


def _descriptors(shard: ShardReader) -> Iterator[tuple[IndexDescriptor, Artifact, Rows | None, str]]:
    for descriptor in shard.indexes:
        with located(url=shard.url, index=descriptor.index_type):
            moved = MovedIndex.of(descriptor)
        rows = None
        if moved is not None and moved.rows is not None:
            rows = Rows.one(moved.first_row, min(moved.first_row + moved.rows, shard.num_rows), shard.origin)
        yield descriptor, shard.index_anchor, rows, "part"
    for stripe in shard.stripes:
        if stripe.directory.indexes is not None:
            rows = stripe.extent
            for descriptor in stripe.indexes:
                yield descriptor, stripe.index_anchor, rows, "stripe"
