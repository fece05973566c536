"""Comparing two hash indexes: that of a shard, and one that was built from its values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai.errors import CorruptedData
from amudai.format import IndexDescriptor
from amudai.index.hash.reader import HashIndexReader, hashed_paths
from amudai.shard import ShardReader
from amudai.storage import Artifact
from amudai.types import NodePath

__all__ = ["renamed_back", "same_hashes"]

U64 = npt.NDArray[np.uint64]

_AT_ONCE: Final = 1 << 18  # entries
_PAIRS: Final = 1 << 23  # pairs of an index that are held in memory
_STEPS: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def same_hashes(
    descriptor: IndexDescriptor, rebuilt: IndexDescriptor, shard: ShardReader, anchor: Artifact, own: Artifact
) -> bool:
    """Raise CorruptedData if the index has other pairs of hash and row than one that was built from the values.

    Both are reduced to a number of pairs and a sum over them, so that no list is held in memory. An index that lost
    fields still has their pairs, so it must have those of the values among its own.
    """
    index = HashIndexReader(descriptor, shard, anchor)
    built = HashIndexReader(rebuilt, shard, own)
    found = _sum(index, len(descriptor.artifacts))
    expected = _sum(built, len(rebuilt.artifacts))
    if not all(descriptor.indexed_fields):
        lacking = _lacking(built, len(rebuilt.artifacts), index, len(descriptor.artifacts), found[0])
        if lacking:
            message = f"expected the {expected[0]} pairs of key and row of the values, found none of {lacking} of them"
            raise CorruptedData(f"hash index: {message}")
        return True
    if found != expected:
        said = f"found {found[0]}" if found[0] != expected[0] else "found others"
        raise CorruptedData(f"hash index: expected the {expected[0]} pairs of key and row of the values, {said}")
    return True


def renamed_back(descriptor: IndexDescriptor, paths: Sequence[NodePath]) -> tuple[NodePath, ...]:
    """The paths of fields with the names that were hashed, if the descriptor lists them."""
    named = {
        schema_id: path
        for ids, hashed in hashed_paths(descriptor).items()
        for schema_id, path in zip(ids, hashed, strict=True)
    }
    return tuple(_renamed(path, named.get(path[-1].schema_id)) for path in paths)


def _renamed(path: NodePath, hashed: str | None) -> NodePath:
    """The nodes with other names, so that `hashed` is what keys begin with. Where it is split makes no difference."""
    names = [] if hashed is None else hashed.rsplit(".", len(path) - 1)
    if len(names) != len(path):
        return path
    return tuple(replace(node, name=name) for node, name in zip(path, names, strict=True))


def _sum(reader: HashIndexReader, partitions: int) -> tuple[int, int]:
    count, total = 0, 0
    for hashes, rows in _entries(reader, partitions):
        count += len(rows)
        mixed = _mixed(hashes, rows)
        total = (total + int(mixed.sum(dtype=np.uint64))) % (1 << 64)
    return count, total


def _mixed(hashes: U64, rows: U64) -> U64:
    """One number for each pair."""
    mixed = hashes ^ (rows * _STEPS[0])
    mixed ^= mixed >> np.uint64(29)
    mixed *= _STEPS[1]
    mixed ^= mixed >> np.uint64(32)
    return mixed


def _lacking(part: HashIndexReader, parts: int, whole: HashIndexReader, wholes: int, count: int) -> int:
    """How many pairs of `part` the index `whole`, which has `count` pairs, lacks. Some pairs are compared at a time."""
    rounds = np.uint64(count // _PAIRS + 1)
    lacking = 0
    for at in range(int(rounds)):
        known = [each[each % rounds == at] for each in (_mixed(*pairs) for pairs in _entries(whole, wholes))]
        mine = np.sort(np.concatenate([*known, np.empty(0, np.uint64)]))
        for pairs in _entries(part, parts):
            wanted = _mixed(*pairs)
            lacking += int(np.count_nonzero(~np.isin(wanted[wanted % rounds == at], mine)))
    return lacking


def _entries(reader: HashIndexReader, partitions: int) -> Iterator[tuple[U64, U64]]:
    """All pairs, each once: other writers repeat a row whose list has a value twice."""
    last: tuple[int, int] | None = None
    for number in range(partitions):
        for hashes, rows in reader.partition(number).entries(_AT_ONCE):
            if not len(rows):
                continue
            fresh = np.ones(len(rows), np.bool_)
            fresh[1:] = (hashes[1:] != hashes[:-1]) | (rows[1:] != rows[:-1])
            fresh[0] = (int(hashes[0]), int(rows[0])) != last
            last = int(hashes[-1]), int(rows[-1])
            yield hashes[fresh], rows[fresh]
