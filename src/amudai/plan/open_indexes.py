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

__all__ = ["OpenIndex", "ShardIndexes", "covering", "open_indexes", "stripe_field_indexes", "unknown_indexes"]


@dataclass(eq=False)
class StoredIndex:
    """An index as a shard lists it, and its reader if that was opened for all scans."""

    descriptor: IndexDescriptor
    anchor: Artifact
    rows: Rows | None
    part: str
    reader: IndexReader | None = field(default=None, repr=False)

    def opened(self, kind: IndexType, shard: ShardReader) -> IndexReader:
        """The reader of the index: the one that all scans share, if its type allows that, or else a new one."""
        if self.reader is not None:
            return self.reader
        made = kind.open(self.descriptor, shard, self.anchor)
        if kind.is_shared:
            self.reader = made
        return made

    @lazy
    def schema_ids(self) -> frozenset[int]:
        """The schema ids of the fields that the index covers."""
        return frozenset(each for ids in self.descriptor.indexed_fields for each in ids)


class ShardIndexes:
    """The indexes of a shard and its stripes.

    Whoever keeps a shard open keeps this beside it: scans then share the readers of indexes, and what these have read.
    """

    def __init__(self, shard: ShardReader) -> None:
        self.shard = shard

    @lazy
    def stored(self) -> tuple[StoredIndex, ...]:
        """The indexes, in the order of the shard."""
        return tuple(_descriptors(self.shard))


@dataclass(eq=False)
class OpenIndex:
    """An index of a shard in one scan. The first question opens it.

    Attributes
    ----------
    unusable
        Where it is noted that the index cannot be used. Then it is not asked any more.
    rows
        The rows that the index covers; None for all rows of the shard.
    part
        What these rows are: a `"stripe"`, or a `"part"` of the shard that was a shard of its own.
    """

    stored: StoredIndex
    type: IndexType
    shard: ShardReader
    unusable: UnusableIndexes
    _reader: IndexReader | None = field(default=None, repr=False)
    _is_unusable: bool = False

    def __post_init__(self) -> None:
        self.descriptor, self.rows, self.part = self.stored.descriptor, self.stored.rows, self.stored.part

    @property
    def schema_ids(self) -> frozenset[int]:
        """The schema ids of the fields that the index covers."""
        return self.stored.schema_ids

    def ask(self, path: NodePath, question: Question, rows: Rows) -> Positions | None:
        """The answer to a question about one field, for `rows`; None if the index cannot tell."""
        if self._is_unusable:
            return None
        try:
            with located(url=self.shard.url, index=self.type.name):
                if self._reader is None:
                    self._reader = self.stored.opened(self.type, self.shard)
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
                self._reader = self.stored.opened(self.type, self.shard)
            return self._reader


def open_indexes(
    shard: ShardReader,
    unusable: UnusableIndexes,
    fields: Sequence[SchemaNode] = (),
    kept: ShardIndexes | None = None,
) -> tuple[OpenIndex, ...]:
    """The indexes of a shard and its stripes whose types are known, with those in the shard's descriptors of fields.

    Indexes in the descriptors of stripes are opened by `stripe_field_indexes`, stripe by stripe. `kept` are the indexes
    of the shard that scans share, if they do.
    """
    stored = (ShardIndexes(shard) if kept is None else kept).stored
    found = []
    for each in (*stored, *_of_fields(shard, fields)):
        kind = index_type(each.descriptor.index_type)
        if kind is not None:
            found.append(OpenIndex(each, kind, shard, unusable))
    return tuple(found)


def stripe_field_indexes(
    stripe: StripeReader, shard: ShardReader, fields: Sequence[SchemaNode], unusable: UnusableIndexes
) -> Iterator[OpenIndex]:
    """The indexes in the descriptors of fields of a stripe whose types are known. This library writes none."""
    for descriptor, anchor in () if shard.is_own else stripe.field_indexes(fields):
        kind = index_type(descriptor.index_type)
        if kind is not None:
            yield OpenIndex(StoredIndex(descriptor, anchor, stripe.extent, "stripe"), kind, shard, unusable)


def _of_fields(shard: ShardReader, fields: Sequence[SchemaNode]) -> Iterator[StoredIndex]:
    for descriptor, anchor in shard.field_indexes({node.schema_id: node for node in fields}.values()):
        yield StoredIndex(descriptor, anchor, None, "part")


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
    stated = [each.descriptor.index_type for each in _descriptors(shard)]
    return tuple(name for name in stated if index_type(name) is None)


def _descriptors(shard: ShardReader) -> Iterator[StoredIndex]:
    may_be_moved = shard.may_have_moved_indexes
    for descriptor in shard.indexes:
        moved = rows = None
        if may_be_moved:
            with located(url=shard.url, index=descriptor.index_type):
                moved = MovedIndex.of(descriptor)
        if moved is not None and moved.rows is not None:
            rows = Rows.one(moved.first_row, min(moved.first_row + moved.rows, shard.num_positions), shard.origin)
        yield StoredIndex(descriptor, shard.index_anchor, rows, "part")
    for stripe in shard.stripes:
        if stripe.directory.indexes is not None:
            rows = stripe.extent
            for descriptor in stripe.indexes:
                yield StoredIndex(descriptor, stripe.index_anchor, rows, "stripe")
