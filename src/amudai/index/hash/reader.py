"""The reader of a hash index."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai.column import ColumnSource
from amudai.encoding import BlockBuffer, decode_few, decode_numbers
from amudai.errors import CorruptedData, located
from amudai.format import IndexDescriptor, encode_schema
from amudai.index.artifacts import IndexArtifactReader
from amudai.index.hash.keys import KEY_TYPES, by_value, composite_hashes, hash_key, hash_values, hashed_path, key_prefix
from amudai.index.hash.layout import BUCKET_NODE, BY_VALUE, HASHED_PATHS, LOOKUP_COLUMNS, PATHS_SEPARATOR
from amudai.index.numbering import Numbering
from amudai.index.questions import CompositeKeys, Keys, Question, StoredKeys
from amudai.rows import Origin, Positions, Rows
from amudai.shard import ShardReader, StripeReader
from amudai.storage import Artifact
from amudai.types import BasicType, NodePath, SchemaNode, nodes_below

__all__ = ["HashIndexReader", "hashed_paths"]

U64 = npt.NDArray[np.uint64]

_MAX_PARTITIONS: Final = 1 << 16
_SCHEMA: Final = encode_schema((BUCKET_NODE,))
# Up to this many numbers a look-up reads by a short way.
_FEW: Final = 1 << 16
# Up to this many hashes of a partition are looked up one by one. For more, all its hashes are read.
_ONE_BY_ONE: Final = 4


class HashIndexReader:
    """An open hash index. Opening it reads nothing; a partition is opened by the first key that belongs to it.

    Parameters
    ----------
    trust
        Treat the index as complete even if its properties do not say so, and as covering all fields if it lists none.
    """

    def __init__(
        self, descriptor: IndexDescriptor, shard: ShardReader, anchor: Artifact, *, trust: bool = False
    ) -> None:
        count = len(descriptor.artifacts)
        if not 1 <= count <= _MAX_PARTITIONS or count & (count - 1):
            raise CorruptedData(f"partitions of a hash index: expected a power of two, found {count}", url=anchor.url)
        self._descriptor = descriptor
        self._shard = shard
        self._anchor = anchor
        self._bits = count.bit_length() - 1
        self._partitions: dict[int, Partition] = {}
        self._lock = Lock()
        properties = descriptor.values
        self._numbering = Numbering.of(descriptor, shard, properties)
        trust = trust or shard.trust_indexes
        self._complete = trust or self._numbering.complete
        self._covers_all = trust and not self._numbering.ids
        self._paths = hashed_paths(descriptor, properties)
        listed = properties.get(BY_VALUE)
        self._by_value = {each.value for each in listed} if isinstance(listed, tuple) else set()

    def answer(self, path: NodePath, question: Question, rows: Rows | None = None) -> Positions | None:  # noqa: ARG002
        """The rows that may have one of the keys; None if this index cannot tell.

        The answer is always maybe: two keys can have the same hash, and a null has the hash of an empty value.
        """
        if isinstance(question, CompositeKeys):
            return self._composite(question) if self._complete else None
        node = path[-1]
        if not isinstance(question, Keys | StoredKeys) or not self._complete or node.basic_type not in KEY_TYPES:
            return None
        stored_id = self._numbering.ids.get(node.schema_id)
        if not self._covers_all and stored_id is None:
            return None
        # Floats and decimals that were hashed by their bytes would miss equal values with other bytes.
        if by_value(node) and stored_id not in self._by_value:
            return None
        prefix = key_prefix(self._paths.get((node.schema_id,), (hashed_path(path),))[0])
        if isinstance(question, StoredKeys):
            return Positions.perhaps(self._lookup_many(_ascending(hash_values(prefix, question.values))))
        hashes = dict.fromkeys(hash_key(prefix, node, value) for value in question.values)
        return Positions.perhaps(Rows.united([self.lookup(hash_) for hash_ in hashes], self._shard.origin))

    def _composite(self, question: CompositeKeys) -> Positions | None:
        """The rows that may have one of the combinations of values; None if the index has no such key."""
        nodes = [path[-1] for path in question.paths]
        key = tuple(node.schema_id for node in nodes)
        stored = self._numbering.composites.get(key)
        if stored is None or any(
            by_value(node) and at not in self._by_value for node, at in zip(nodes, stored, strict=True)
        ):
            return None
        paths = self._paths.get(key, tuple(map(hashed_path, question.paths)))
        columns = zip(*question.values, strict=True) if question.values else [()] * len(key)
        hashes = [
            np.array([hash_key(key_prefix(path), node, value) for value in column], np.uint64)
            for path, node, column in zip(paths, nodes, columns, strict=True)
        ]
        found = [self.lookup(hash_) for hash_ in dict.fromkeys(composite_hashes(hashes).tolist())]
        return Positions.perhaps(Rows.united(found, self._shard.origin))

    def partition(self, number: int) -> Partition:
        """Open a partition."""
        return Partition(IndexArtifactReader(self._descriptor.artifacts[number], self._shard, self._anchor))

    def lookup(self, hash_: int) -> Rows:
        """The rows of the shard that the index holds for a hash."""
        partition = self._opened(hash_ >> (64 - self._bits) if self._bits else 0)
        return self._numbering.outward(partition.lookup(hash_, self._bits, self._numbering.origin))

    def _lookup_many(self, hashes: U64) -> Rows:
        """The rows of the shard that the index holds for any of the hashes, which ascend."""
        starts = np.arange((1 << self._bits) + 1, dtype=np.uint64) << np.uint64(64 - self._bits)
        ends = np.searchsorted(hashes, starts[1:-1]) if self._bits else np.empty(0, np.int64)
        found = [np.empty(0, np.uint64)]
        for number, wanted in enumerate(np.split(hashes, ends)):
            if len(wanted):
                found.append(self._opened(number).lookup_many(wanted, self._bits, self._numbering.origin))
        rows = Rows.of_positions(_ascending(np.concatenate(found)), self._numbering.origin)
        return self._numbering.outward(rows)

    def _opened(self, number: int) -> Partition:
        partition = self._partitions.get(number)
        if partition is None:
            opened = self.partition(number)
            with self._lock:
                partition = self._partitions.setdefault(number, opened)
        return partition


def hashed_paths(
    descriptor: IndexDescriptor, stated: Mapping[str, object] | None = None
) -> dict[tuple[int, ...], tuple[str, ...]]:
    """The paths that were hashed for each key, by the schema ids of its fields, if the descriptor lists them.

    `stated` are the values of the descriptor's properties, if they are known.
    """
    listed = (descriptor.values if stated is None else stated).get(HASHED_PATHS)
    if listed is None:
        return {}
    fields = descriptor.indexed_fields
    paths = [each.value for each in listed] if isinstance(listed, tuple) else []
    if len(paths) != len(fields) or not all(isinstance(each, str) for each in paths):
        raise CorruptedData(f"{HASHED_PATHS} of a hash index: expected a path for each of {len(fields)} fields")
    found = {tuple(ids): tuple(path.split(PATHS_SEPARATOR)) for ids, path in zip(fields, paths, strict=True) if ids}
    return {ids: named for ids, named in found.items() if len(ids) == len(named)}


class Partition:
    """One partition: a shard with a row for each bucket."""

    def __init__(self, artifact: IndexArtifactReader) -> None:
        self._url = artifact.file.url
        self._opened: dict[int, BucketColumns] = {}
        with located(url=self._url):
            found = artifact.lookup(len(LOOKUP_COLUMNS))
            if found is not None:
                self._opened[0] = BucketColumns.of_buffers(found)
                self._buckets, self._stripes = found[0].values - 1, [0]
            else:
                self._shard = artifact.shard
                self._bucket = _bucket_of(self._shard)
                self._buckets = self._shard.num_positions
                self._stripes = [stripe.first_row for stripe in self._shard.stripes]
            if self._buckets < 1 or self._buckets & (self._buckets - 1):
                raise CorruptedData(f"buckets of a hash index: expected a power of two, found {self._buckets}")

    def lookup(self, hash_: int, bits: int, origin: Origin) -> Rows:
        """The rows that this partition holds for a hash. `bits` is the logarithm of the number of partitions."""
        bucket = hash_ & (self._buckets - 1)
        with located(url=self._url):
            number = bisect_right(self._stripes, bucket) - 1
            columns = self._columns(number)
            with located(stripe=number):
                first, last = columns.buckets.at(bucket - self._stripes[number])
                hashes = columns.hashes.at(first, last)
                place = [at for at, found in enumerate(hashes.tolist()) if found == hash_]
                self._check(hashes, bucket, hash_, bits, len(place))
                if not place:
                    return Rows.none(origin)
                return _rows(columns.positions.at(*columns.lists.at(first + place[0])), origin)

    def lookup_many(self, hashes: U64, bits: int, origin: Origin) -> U64:
        """The rows that this partition holds for any of the hashes, which ascend. They come in any order."""
        if len(hashes) <= _ONE_BY_ONE:
            return np.concatenate([self.lookup(hash_, bits, origin).positions() for hash_ in hashes.tolist()])
        found = [np.empty(0, np.uint64)]
        for number in range(len(self._stripes)):
            with located(url=self._url, stripe=number):
                columns = self._columns(number)
                total = columns.hashes.count
                if not total:
                    continue
                known = columns.hashes.at(0, total)
                self._check_all(known, columns.buckets, self._stripes[number], int(hashes[0]), bits)
                nearest = hashes[np.minimum(np.searchsorted(hashes, known), len(hashes) - 1)]
                places = np.flatnonzero(nearest == known)
                if len(_ascending(known[places])) < len(places):
                    raise CorruptedData("hashes of a partition: expected each once, found one twice")
                bounds = columns.lists.between(0, total)
                positions = columns.positions.of(Rows.joined(bounds[places], bounds[places + 1]))
                if len(positions) and int(positions.max()) >= origin.size:
                    raise CorruptedData(
                        f"positions of a hash: expected less than {origin.size}, found {positions.max()}"
                    )
                found.append(positions)
        return np.concatenate(found)

    def _check_all(self, hashes: U64, buckets: ListOffsets, first: int, hash_: int, bits: int) -> None:
        """Raise CorruptedData if one of all hashes belongs to another bucket or partition."""
        count = buckets.buffer.values - 1
        ends = buckets.between(0, count)
        if int(ends[0]) != 0 or int(ends[-1]) != len(hashes):
            raise CorruptedData(f"buckets: expected {len(hashes)} hashes, found {int(ends[0])}..{int(ends[-1])}")
        own = np.repeat(np.arange(first, first + count, dtype=np.uint64), np.diff(ends).astype(np.int64))
        wrong = (hashes & np.uint64(self._buckets - 1)) != own
        if bits:
            wrong |= (hashes ^ np.uint64(hash_)) >> np.uint64(64 - bits) != 0
        if wrong.any():
            at = int(np.argmax(wrong))
            raise CorruptedData(
                f"bucket {int(own[at])}: expected only hashes that belong to it, found {int(hashes[at]):#018x}"
            )

    def entries(self, most: int) -> Iterator[tuple[U64, U64]]:
        """All hashes and rows of the partition, in pairs: about `most` of them at a time."""
        for number in range(len(self._stripes)):
            with located(url=self._url, stripe=number):
                columns = self._columns(number)
                total = columns.hashes.count
                at = 0
                while at < total:
                    end = min(at + most, total)
                    bounds = columns.lists.between(at, end)
                    # A hash may have more rows than memory may hold, so lists are cut, too.
                    for first in range(int(bounds[0]), int(bounds[-1]), most):
                        last = min(first + most, int(bounds[-1]))
                        counts = np.diff(np.clip(bounds, first, last))
                        hashes = np.repeat(columns.hashes.at(at, end), counts.astype(np.int64))
                        yield hashes, columns.positions.at(first, last)
                    at = end

    def _columns(self, number: int) -> BucketColumns:
        found = self._opened.get(number)
        if found is None:
            found = self._opened[number] = BucketColumns.of_stripe(self._shard.stripes[number], self._bucket)
        return found

    def _check(self, hashes: U64, bucket: int, hash_: int, bits: int, places: int) -> None:
        """Raise CorruptedData if a hash of the bucket belongs elsewhere: then `hash_` may be elsewhere too."""
        for found in hashes.tolist():
            if (found ^ hash_) & (self._buckets - 1) or (found ^ hash_) >> (64 - bits):
                raise CorruptedData(f"bucket {bucket}: expected only hashes that belong to it, found {found:#018x}")
        if places > 1:
            raise CorruptedData(f"bucket {bucket}: expected each hash once, found {hash_:#018x} {places} times")


@dataclass(frozen=True, slots=True, eq=False)
class BucketColumns:
    """The four columns of a stripe of buckets."""

    buckets: ListOffsets
    hashes: NumberColumn
    lists: ListOffsets
    positions: NumberColumn

    @classmethod
    def of_stripe(cls, stripe: StripeReader, bucket: SchemaNode) -> BucketColumns:
        """The columns of a stripe that any writer may have written."""
        stripe.prepare(nodes_below((bucket,)))
        buckets = stripe.column(bucket)
        hashes, lists = (buckets.child(0).child(index) for index in range(2))
        positions = lists.child(0)
        return cls(
            ListOffsets.of_column(buckets, hashes.position_count),
            NumberColumn.of_column(hashes),
            ListOffsets.of_column(lists, positions.position_count),
            NumberColumn.of_column(positions),
        )

    @classmethod
    def of_buffers(cls, found: Sequence[BlockBuffer]) -> BucketColumns:
        """The columns of a partition that this library wrote, from its look-up buffers."""
        buckets, hashes, lists, positions = found
        if lists.values != hashes.values + 1:
            raise CorruptedData(f"offsets of positions: expected {hashes.values + 1}, found {lists.values}")
        return cls(
            ListOffsets(buckets, hashes.values, "bucket"),
            NumberColumn(hashes, None, "bucket.item.hash", hashes.values),
            ListOffsets(lists, positions.values, "bucket.item.positions"),
            NumberColumn(positions, None, "bucket.item.positions", positions.values),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ListOffsets:
    """The offsets of a list column: where each list begins and ends among the items."""

    buffer: BlockBuffer
    items: int
    path: str

    @classmethod
    def of_column(cls, column: ColumnSource, items: int) -> ListOffsets:
        """The offsets of a column. Raises CorruptedData if there are none, or if a list is null."""
        found = column.offsets()
        if found is None or column.null_count:
            raise CorruptedData(
                "lists of a hash index: expected offsets and no nulls, found nulls or no offsets", field=column.path
            )
        return cls(found, items, column.path)

    def at(self, position: int) -> tuple[int, int]:
        """Where a list begins and ends."""
        begin, end = decode_few(self.buffer, position, position + 2, "u8").tolist()
        if not begin <= end <= self.items:
            expected = f"a range inside 0..{self.items}"
            raise CorruptedData(f"list offsets: expected {expected}, found {begin}..{end}", field=self.path)
        return begin, end

    def between(self, first: int, last: int) -> U64:
        """Where the lists `first..last` begin, and where the last of them ends."""
        found: U64 = decode_numbers(self.buffer, Rows.one(first, last + 1), "u8", nullable=False).numbers("u8")
        if (found[1:] < found[:-1]).any() or int(found[-1]) > self.items:
            raise CorruptedData(f"list offsets: expected an ascending sequence up to {self.items}", field=self.path)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class NumberColumn:
    """A column of numbers without nulls: in a buffer, or one constant for all positions.

    Neither is set if the column cannot be read that way; then any number that is wanted is an error.
    """

    buffer: BlockBuffer | None
    constant: int | None
    path: str
    count: int

    @classmethod
    def of_column(cls, column: ColumnSource) -> NumberColumn:
        """The numbers of a column."""
        count = column.position_count
        if column.constant is not None:
            value = column.constant.value
            return cls(None, value if isinstance(value, int) else None, column.path, count)
        return cls(column.numbers(), None, column.path, count)

    def at(self, first: int, last: int) -> U64:
        """The numbers at positions `first..last`."""
        if first == last:
            return np.empty(0, np.uint64)
        if self.constant is not None:
            return np.full(last - first, self.constant, np.uint64)
        if self.buffer is None:
            raise CorruptedData("numbers of a hash index: expected values and no null", field=self.path)
        with located(field=self.path):
            found: U64
            if last - first > _FEW:
                found = decode_numbers(self.buffer, Rows.one(first, last), "u8", nullable=False).numbers("u8")
            else:
                found = decode_few(self.buffer, first, last, "u8")
        return found

    def of(self, rows: Rows) -> U64:
        """The numbers at these positions."""
        if self.constant is not None:
            return np.full(rows.count, self.constant, np.uint64)
        if not rows:
            return np.empty(0, np.uint64)
        if self.buffer is None:
            raise CorruptedData("numbers of a hash index: expected values and no null", field=self.path)
        with located(field=self.path):
            found: U64 = decode_numbers(self.buffer, rows, "u8", nullable=False).numbers("u8")
        return found


def _ascending(numbers: U64) -> U64:
    """The distinct numbers in ascending order. numpy's `unique` takes ten times as long for this many."""
    ordered = np.sort(numbers)
    fresh = np.ones(len(ordered), np.bool_)
    fresh[1:] = ordered[1:] != ordered[:-1]
    return ordered[fresh]


def _rows(positions: U64, origin: Origin) -> Rows:
    if not len(positions):
        raise CorruptedData("positions of a hash: expected at least one, found none")
    # Equal neighbours are fine: the reference repeats a row whose list has a value twice.
    if (positions[1:] < positions[:-1]).any():
        raise CorruptedData("positions of a hash: expected them in ascending order")
    if int(positions[-1]) >= origin.size:
        raise CorruptedData(f"positions of a hash: expected less than {origin.size}, found {positions[-1]}")
    return Rows.of_positions(positions, origin)


def _bucket_of(shard: ShardReader) -> SchemaNode:
    """The field that holds the buckets. Any names are accepted; the types must fit."""
    if shard.schema.payload == _SCHEMA:
        return BUCKET_NODE  # the schema that this library writes: nothing is left to check
    fields = shard.schema.fields()
    if not fields or not _is_bucket(fields[0]):
        found = ", ".join(map(str, fields)) or "no field"
        expected = "list<struct<hash: uint64, positions: list<uint64>>>"
        raise CorruptedData(f"partition of a hash index: expected {expected}, found {found}")
    return fields[0]


def _is_bucket(node: SchemaNode) -> bool:
    """Whether a field has the type of a bucket list."""
    if node.basic_type is not BasicType.LIST or node.children[0].basic_type is not BasicType.STRUCT:
        return False
    inner = node.children[0].children
    if len(inner) < 2 or inner[1].basic_type is not BasicType.LIST:
        return False
    return all(each.basic_type is BasicType.INT64 and not each.signed for each in (inner[0], inner[1].children[0]))
