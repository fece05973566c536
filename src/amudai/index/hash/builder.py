"""The builder of a hash index.

Every value becomes an entry of 16 bytes: its hash and its row. Entries wait in a spool, in batches. The entries of a
batch are sorted by the topmost bits of their hashes, so that one partition after another can be read back once the
number of partitions is known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.format import AnyValue, IndexArtifact, IndexDescriptor
from amudai.index.contract import BuildPlan
from amudai.index.hash.keys import (
    by_value,
    composite_hashes,
    hash_values,
    hashed_path,
    key_prefix,
    require_composite,
)
from amudai.index.hash.layout import BUCKET_NODE, BY_VALUE, COMPLETE, LOOKUP_COLUMNS
from amudai.index.hash.partition import PartitionWriter, bucket_count
from amudai.index.hash.spec import FIELD_HASHING, HashIndex
from amudai.rows import Rows
from amudai.shard import ArtifactSpace, PreparedStripe, StoredArray
from amudai.storage import Spool
from amudai.threads import in_order
from amudai.types import BasicType, NodePath, SchemaNode

__all__ = ["HashIndexBuilder"]

U64 = npt.NDArray[np.uint64]

_ENTRY: Final = 16  # bytes
_ENTRY_MEMORY: Final = 96  # bytes for an entry while its partition is sorted
_PARTITION_BITS: Final = range(3, 11)
_PARTITION_ENTRIES: Final = 1 << 19
_LEAST_MEMORY: Final = 1 << 20
_MOST_STAGED: Final = 1 << 20  # entries
_POSITIONS_AT_ONCE: Final = 1 << 16


class HashIndexBuilder:
    """Collects the hashes of the indexed fields while the rows of a shard are written."""

    def __init__(self, spec: HashIndex, plan: BuildPlan) -> None:
        by_name = dict(zip(spec.fields, plan.paths, strict=True))
        self._keys = [tuple(by_name[name] for name in key) for key in spec.keys]
        for key in self._keys:
            require_composite(key)
        self._composites = [CompositeKey(key) for key in self._keys if len(key) > 1]
        self._plan = plan
        self.fields = frozenset(path[0].schema_id for path in plan.paths)
        # A quarter for entries that wait for the spool, a quarter for the spool itself, half for finishing.
        memory = max(plan.memory, _LEAST_MEMORY)
        self._at_once = memory // 2 // _ENTRY_MEMORY
        self._memory = memory // 4
        self._entries = self._new_spool()

    def _new_spool(self) -> EntrySpool:
        return EntrySpool(self._plan.temp_folder, self._memory, min(self._memory // _ENTRY, _MOST_STAGED))

    def append(self, values: StoredArray, stripe: int, first_row: int) -> None:  # noqa: ARG002 - one index for all stripes
        """Append values of one top-level field."""
        for key in self._keys:
            if len(key) == 1 and key[0][0].schema_id == values.node.schema_id:
                self._entries.append(*_entries_of(values, key[0], first_row))
        for composite in self._composites:
            for hashes, rows in composite.append(values, first_row):
                self._entries.append(hashes, rows)

    def append_entries(self, hashes: U64, rows: U64) -> None:
        """Append hashes that another index has, each with its row."""
        self._entries.append(hashes, rows)

    def finish(self, space: ArtifactSpace) -> IndexDescriptor:
        """Write the index and return its descriptor."""
        self._entries.flush()
        bits = next(
            (bits for bits in _PARTITION_BITS if self._entries.count >> bits <= _PARTITION_ENTRIES), _PARTITION_BITS[-1]
        )
        artifacts = tuple(self._partitions(bits, space))
        self.close()
        self._entries = self._new_spool()
        numbers = {path[-1].schema_id for path in self._plan.paths if by_value(path[-1])}
        values = tuple(AnyValue("u64", schema_id) for schema_id in sorted(numbers))
        return IndexDescriptor(
            index_type=FIELD_HASHING,
            properties=((COMPLETE, AnyValue("bool", True)), (BY_VALUE, AnyValue("list", values)))
            if values
            else ((COMPLETE, AnyValue("bool", True)),),
            indexed_fields=tuple(tuple(path[-1].schema_id for path in key) for key in self._keys),
            artifacts=artifacts,
        )

    def close(self) -> None:
        """Release memory and temporary files, finished or not."""
        self._entries.close()

    def _partitions(self, bits: int, space: ArtifactSpace) -> Iterator[IndexArtifact]:
        """Write all partitions in order. Several are prepared at a time, as far as memory allows."""
        largest = max(self._entries.count_of(number, bits) for number in range(1 << bits))
        threads = max(1, min(self._plan.crew.threads, self._at_once // max(1, largest)))

        def prepared(number: int) -> PreparedStripe:
            return self._prepared(number, bits, self._memory // threads)

        for number, stripe in enumerate(in_order(prepared, range(1 << bits), threads, threads)):
            with stripe.spool:
                yield space.place(f"part{number}", (BUCKET_NODE,), (stripe,), LOOKUP_COLUMNS)

    def _prepared(self, number: int, bits: int, memory: int) -> PreparedStripe:
        writer = PartitionWriter(self._plan.temp_folder, memory)
        try:
            if self._entries.count_of(number, bits) <= self._at_once:
                return _written_at_once(writer, self._entries.all_of(number, bits))
            return self._written_in_slices(writer, number, bits)
        except BaseException:
            writer.spool.close()
            raise

    def _written_in_slices(self, writer: PartitionWriter, number: int, bits: int) -> PreparedStripe:
        """Write a partition with more entries than memory may hold, one slice of its hashes after another.

        The entries of the partition are read once for each slice. A hash with too many entries for memory is a slice
        of its own.
        """
        hashes, counts = _distinct(self._entries.each_of(number, bits))
        buckets = bucket_count(len(hashes))
        # With the bits of the bucket on top, sorting by number sorts by bucket first and by hash second.
        turn = buckets.bit_length() - 1
        keys = _turned(hashes, turn)
        order = np.argsort(keys)
        keys, counts = keys[order], counts[order]
        first = 0
        while first < len(keys):
            taken = np.cumsum(counts[first:])
            last = first + max(1, int(np.searchsorted(taken, self._at_once, "right")))
            low, high = keys[first], keys[last - 1]
            found = (
                pairs[np.repeat((turned >= low) & (turned <= high), 2)]
                for pairs in self._entries.each_of(number, bits)
                for turned in (_turned(pairs[::2], turn),)
            )
            if int(counts[first]) > self._at_once:
                _write_hot(writer, hashes[order[first]], found)
            else:
                groups = _kernels.group_entries(np.concatenate(list(found)))
                _write(writer, *_kernels.order_by_bucket(*groups, buckets))
            first = last
        return writer.finish(_bucket_sizes(hashes, buckets))


class CompositeKey:
    """Joins the values of several fields to keys, row by row. Rows in which one of the values is null have no key.

    The fields come one after the other, or at the same time on different threads.
    """

    def __init__(self, paths: Sequence[NodePath]) -> None:
        self._paths = paths
        self._lock = Lock()
        # For each field: the hashes that wait for those of the other fields, and which of them are values.
        self._waiting: list[deque[tuple[U64, npt.NDArray[np.bool_]]]] = [deque() for _ in paths]
        self._row = 0  # of the first hash that waits
        self._fresh = True

    def append(self, values: StoredArray, first_row: int) -> list[tuple[U64, U64]]:
        """Append values of one top-level field. Returns the keys that became whole, each part with its rows."""
        mine = [at for at, path in enumerate(self._paths) if path[0].schema_id == values.node.schema_id]
        found = [(at, _values_of(values, self._paths[at])) for at in mine]
        with self._lock:
            if found and self._fresh:
                self._row, self._fresh = first_row, False
            for at, hashed in found:
                self._waiting[at].append(hashed)
            return list(self._whole())

    def _whole(self) -> Iterator[tuple[U64, U64]]:
        while all(self._waiting):
            count = min(len(queue[0][0]) for queue in self._waiting)
            parts, kept = [], np.ones(count, np.bool_)
            for queue in self._waiting:
                hashes, valid = queue.popleft()
                parts.append(hashes[:count])
                kept &= valid[:count]
                if len(hashes) > count:
                    queue.appendleft((hashes[count:], valid[count:]))
            rows = np.arange(self._row, self._row + count, dtype=np.uint64)
            self._row += count
            yield composite_hashes([part[kept] for part in parts]), rows[kept]
        self._fresh = not any(self._waiting)


class EntrySpool:
    """The hashes and rows that were collected so far, partly in a temporary file.

    Parameters
    ----------
    memory
        Bytes that the spool may keep in memory.
    staged
        How many entries may wait before they are sorted and moved to the spool.
    """

    def __init__(self, folder: str | None, memory: int, staged: int) -> None:
        self._spool = Spool(folder, memory)
        self._lock = Lock()
        self._most = staged
        self._staged: list[tuple[U64, U64]] = []
        self._waiting = 0
        # For each batch in the spool: where the entries begin for each value of the topmost bits.
        self._batches: list[U64] = []
        self.count = 0

    def append(self, hashes: U64, rows: U64) -> None:
        """Append entries. Any thread may call this."""
        for start in range(0, len(hashes), self._most):
            part = slice(start, start + self._most)
            with self._lock:
                self._staged.append((hashes[part], rows[part]))
                self._waiting += len(hashes[part])
                ripe = self._taken() if self._waiting >= self._most else []
            self._store(ripe)

    def flush(self) -> None:
        """Move all waiting entries to the spool."""
        with self._lock:
            ripe = self._taken()
        self._store(ripe)

    def _taken(self) -> list[tuple[U64, U64]]:
        ripe, self._staged, self._waiting = self._staged, [], 0
        return ripe

    def _store(self, ripe: list[tuple[U64, U64]]) -> None:
        if not ripe:
            return
        hashes, rows = (np.concatenate(parts) for parts in zip(*ripe, strict=True))
        entries, counts = _kernels.partition_entries(hashes, rows, _PARTITION_BITS[-1])
        start = np.uint64(self._spool.append(entries))
        offsets = np.concatenate((np.zeros(1, np.uint64), np.cumsum(counts))) * np.uint64(_ENTRY) + start
        with self._lock:
            self._batches.append(offsets)
            self.count += len(hashes)

    def count_of(self, number: int, bits: int) -> int:
        """How many entries partition `number` of `2**bits` has."""
        return sum(end - start for start, end in self._extents(number, bits)) // _ENTRY

    def each_of(self, number: int, bits: int) -> Iterator[U64]:
        """The entries of a partition, some at a time: a hash, its row, the next hash, its row, and so on."""
        for piece in self._spool.pieces(self._extents(number, bits)):
            yield np.frombuffer(piece, np.uint64)

    def all_of(self, number: int, bits: int) -> U64:
        """All entries of a partition in one array."""
        pieces = list(self.each_of(number, bits))
        return np.concatenate(pieces) if pieces else np.empty(0, np.uint64)

    def _extents(self, number: int, bits: int) -> list[tuple[int, int]]:
        wide = _PARTITION_BITS[-1] - bits
        first, last = number << wide, (number + 1) << wide
        return [(int(offsets[first]), int(offsets[last])) for offsets in self._batches]

    def close(self) -> None:
        """Release memory and the temporary file."""
        self._staged = []
        self._spool.close()


def _entries_of(values: StoredArray, path: Sequence[SchemaNode], first_row: int) -> tuple[U64, U64]:
    """The hash and the row of every value of the field at the end of `path`."""
    rows = np.arange(first_row, first_row + values.length, dtype=np.uint64)
    kept: npt.NDArray[np.bool_] | None = None  # values that are not below a null
    for node in path[1:]:
        valid = values.valid()
        match values.node.basic_type:
            case BasicType.LIST | BasicType.MAP:
                # Null lists and maps are empty.
                offsets = np.zeros(1, np.int64) if values.offsets is None else values.offsets
                each: npt.NDArray[np.int64] | int = np.diff(offsets).astype(np.int64)
            case kind:
                kept = valid if kept is None else kept if valid is None else kept & valid
                each = values.node.fixed_size if kind is BasicType.FIXED_SIZE_LIST else 1
        if not isinstance(each, int) or each != 1:
            rows = np.repeat(rows, each)
            kept = None if kept is None else np.repeat(kept, each)
        below = [child.schema_id for child in values.node.children]
        values = values.children[below.index(node.schema_id)]
    hashes = hash_values(key_prefix(hashed_path(path)), values)
    return (hashes, rows) if kept is None else (hashes[kept], rows[kept])


def _values_of(values: StoredArray, path: Sequence[SchemaNode]) -> tuple[U64, npt.NDArray[np.bool_]]:
    """The hash of each row of a field inside structs, and which rows have a value."""
    kept = np.ones(values.length, np.bool_)
    for node in path[1:]:
        valid = values.valid()
        kept = kept if valid is None else kept & valid
        values = values.children[[child.schema_id for child in values.node.children].index(node.schema_id)]
    valid = values.valid()
    return hash_values(key_prefix(hashed_path(path)), values), kept if valid is None else kept & valid


def _written_at_once(writer: PartitionWriter, entries: U64) -> PreparedStripe:
    hashes, ends, positions = _kernels.group_entries(entries)
    buckets = bucket_count(len(hashes))
    _write(writer, *_kernels.order_by_bucket(hashes, ends, positions, buckets))
    return writer.finish(_bucket_sizes(hashes, buckets))


def _write(writer: PartitionWriter, hashes: U64, ends: U64, positions: U64) -> None:
    writer.append_hashes(hashes, ends)
    writer.append_positions(positions)


def _write_hot(writer: PartitionWriter, hash_: np.uint64, entries: Iterator[U64]) -> None:
    """Write a hash with more entries than memory may hold. A bitmap of the rows sorts them and drops duplicates."""
    bits = np.zeros(0, np.uint8)
    for pairs in entries:
        rows = pairs[1::2]
        if not len(rows):
            continue
        # Round up, so that the bitmap rarely has to grow.
        size = (int(rows.max()) // 8 | 0xFFFF) + 1
        if size > len(bits):
            bits = np.concatenate((bits, np.zeros(max(size, 2 * len(bits)) - len(bits), np.uint8)))
        np.bitwise_or.at(
            bits, (rows >> np.uint64(3)).astype(np.int64), np.uint8(1) << (rows & np.uint64(7)).astype(np.uint8)
        )
    count = 0
    for start in range(0, len(bits), _POSITIONS_AT_ONCE // 8):
        part = bits[start : start + _POSITIONS_AT_ONCE // 8]
        found = Rows.of_bits(part, 8 * start, 8 * len(part))
        count += found.count
        if found:
            writer.append_positions(found.positions())
    writer.append_hashes(np.array([hash_], np.uint64), np.array([count], np.uint64))


def _distinct(entries: Iterator[U64]) -> tuple[U64, npt.NDArray[np.int64]]:
    """The distinct hashes in ascending order, and how many entries each has."""
    hashes, counts = np.empty(0, np.uint64), np.empty(0, np.int64)
    for pairs in entries:
        more, times = np.unique(pairs[::2], return_counts=True)
        both, inverse = np.unique(np.concatenate((hashes, more)), return_inverse=True)
        counts = np.bincount(inverse, np.concatenate((counts, times)), len(both)).astype(np.int64)
        hashes = both
    return hashes, counts


def _turned(hashes: U64, bits: int) -> U64:
    """The hashes, rotated so that their lowest `bits` bits are on top."""
    return hashes >> np.uint64(bits) | hashes << np.uint64(64 - bits)


def _bucket_sizes(hashes: U64, buckets: int) -> npt.NDArray[np.int64]:
    return np.bincount((hashes & np.uint64(buckets - 1)).astype(np.int64), minlength=buckets)
