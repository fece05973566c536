"""The indexes of a shard that this version can use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from amudai.errors import CorruptedData, StorageError, UnsupportedFeature, located
from amudai.format import IndexDescriptor, MovedIndex
from amudai.index import IndexReader, IndexType, Question, TermCounts, Vocabulary, index_type
from amudai.lazy import lazy
from amudai.plan.unusable import UnusableIndexes
from amudai.rows import Positions, Rows
from amudai.shard import ShardReader, StripeReader
from amudai.storage import Artifact
from amudai.types import NodePath, SchemaNode

__all__ = ["OpenIndex", "covering", "open_indexes", "stripe_field_indexes", "unknown_indexes"]


@dataclass(eq=False)
class OpenIndex:
    """An index of a shard. The first question opens it.

    Attributes
    ----------
    rows
        The rows that the index covers; None for all rows of the shard.
    part
        What these rows are: a `"stripe"`, or a `"part"` of the shard that was a shard of its own.
    unusable
        Where it is noted that the index cannot be used. Then it is not asked any more.
    """

    type: IndexType
    descriptor: IndexDescriptor
    shard: ShardReader
    anchor: Artifact
    rows: Rows | None
    unusable: UnusableIndexes
    part: str = "stripe"
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

    def terms(self, path: NodePath, prefix: str) -> Iterator[TermCounts] | None:
        """The terms of a field that begin with `prefix`; None if the index does not have them."""
        if self.type.terms is None or path[-1].schema_id not in self.schema_ids:
            return None
        return self.type.terms(self._opened, path, prefix)

    def vocabulary(self, path: NodePath) -> Vocabulary | None:
        """All terms of a field; None if the index does not have them."""
        if self.type.vocabulary is None or path[-1].schema_id not in self.schema_ids:
            return None
        return self.type.vocabulary(self._opened, path)

    @property
    def _opened(self) -> IndexReader:
        with located(url=self.shard.url, index=self.type.name):
            if self._reader is None:
                self._reader = self.type.open(self.descriptor, self.shard, self.anchor)
            return self._reader


def open_indexes(
    shard: ShardReader, unusable: UnusableIndexes, fields: Sequence[SchemaNode] = ()
) -> tuple[OpenIndex, ...]:
    """The indexes of a shard and its stripes whose types are known, with those in the shard's descriptors of fields.

    Indexes in the descriptors of stripes are opened by `stripe_field_indexes`, stripe by stripe.
    """
    found = []
    for descriptor, anchor, rows, part in (*_descriptors(shard), *_of_fields(shard, fields)):
        kind = index_type(descriptor.index_type)
        if kind is not None:
            found.append(OpenIndex(kind, descriptor, shard, anchor, rows, unusable, part))
    return tuple(found)


def stripe_field_indexes(
    stripe: StripeReader, shard: ShardReader, fields: Sequence[SchemaNode], unusable: UnusableIndexes
) -> Iterator[OpenIndex]:
    """The indexes in the descriptors of fields of a stripe whose types are known. This library writes none."""
    for descriptor, anchor in () if shard.is_own else stripe.field_indexes(fields):
        kind = index_type(descriptor.index_type)
        if kind is not None:
            yield OpenIndex(kind, descriptor, shard, anchor, stripe.extent, unusable)


def _of_fields(
    shard: ShardReader, fields: Sequence[SchemaNode]
) -> Iterator[tuple[IndexDescriptor, Artifact, Rows | None, str]]:
    for descriptor, anchor in shard.field_indexes({node.schema_id: node for node in fields}.values()):
        yield descriptor, anchor, None, "part"


def covering(shard: ShardReader, able: Sequence[OpenIndex]) -> list[OpenIndex] | None:
    """Those of some indexes that together cover all rows of a shard, each row once; None if they do not."""
    whole = next((index for index in able if index.rows is None), None)
    if whole is not None:
        return [whole]
    left, chosen = Rows.all(shard.origin), []
    for index in able:
        if index.rows is not None and index.rows.intersect(left).count == index.rows.count:
            chosen.append(index)
            left = left.subtract(index.rows)
    return chosen if not left else None


def unknown_indexes(shard: ShardReader) -> tuple[str, ...]:
    """The types of the indexes that this version does not know."""
    return tuple(each.index_type for each, *_ in _descriptors(shard) if index_type(each.index_type) is None)


def _descriptors(shard: ShardReader) -> Iterator[tuple[IndexDescriptor, Artifact, Rows | None, str]]:
    for descriptor in shard.indexes:
        with located(url=shard.url, index=descriptor.index_type):
            moved = MovedIndex.of(descriptor)
        rows = None
        if moved is not None and moved.rows is not None:
            rows = Rows.one(moved.first_row, min(moved.first_row + moved.rows, shard.num_positions), shard.origin)
        yield descriptor, shard.index_anchor, rows, "part"
    for stripe in shard.stripes:
        if stripe.directory.indexes is not None:
            rows = stripe.extent
            for descriptor in stripe.indexes:
                yield descriptor, stripe.index_anchor, rows, "stripe"
