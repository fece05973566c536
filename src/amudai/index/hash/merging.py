"""Merging hash indexes: their hashes are distributed to new partitions, and no value is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from amudai.edit import IndexPart
from amudai.errors import CorruptedData, InvalidArgument, located
from amudai.format import IndexDescriptor
from amudai.index.contract import BuildPlan
from amudai.index.hash.builder import HashIndexBuilder
from amudai.index.hash.keys import hashed_path
from amudai.index.hash.reader import HashIndexReader, hashed_paths
from amudai.index.hash.spec import HashIndex
from amudai.index.numbering import Numbering
from amudai.index.paths import field_paths
from amudai.shard import ArtifactSpace, ShardReader

__all__ = ["HashMerging", "hash_spec"]

_AT_ONCE: Final = 1 << 18  # entries


def hash_spec(descriptor: IndexDescriptor, shard: ShardReader) -> HashIndex | None:
    """The index that a user would ask for to get one like this; None if it is not complete."""
    if not Numbering.of(descriptor, shard).complete:
        return None
    known = field_paths(shard)
    keys = [ids for ids in descriptor.indexed_fields if ids]
    if not keys or not all(each in known for ids in keys for each in ids):
        return None
    return HashIndex(*(tuple(known[each] for each in ids) for ids in keys))


class HashMerging:
    """A hash index that is made of others."""

    def __init__(self, spec: HashIndex, plan: BuildPlan, parts: Sequence[IndexPart]) -> None:
        named = {path[-1].schema_id: hashed_path(path) for path in plan.paths}
        for part in parts:
            listed = hashed_paths(part.descriptor).items()
            for schema_id, hashed in (
                (each, path) for ids, paths in listed for each, path in zip(ids, paths, strict=True)
            ):
                name = named.get(part.source.ids[schema_id], hashed)
                if name != hashed:
                    expected = f"expected hashes of the column {name!r}, found those of {hashed!r}, its former name"
                    hint = 'indexes="keep" leaves each index with the rows of its shard, "rebuild" builds them anew'
                    raise InvalidArgument(f"indexes: {expected}, in {part.shard.url}; {hint}")
        self._parts = parts
        self._builder = HashIndexBuilder(spec, plan)

    def finish(self, space: ArtifactSpace) -> IndexDescriptor:
        """Write the index and return its descriptor."""
        for part in self._parts:
            with located(url=part.shard.url, index=part.descriptor.index_type):
                self._append(part)
        return self._builder.finish(space)

    def _append(self, part: IndexPart) -> None:
        reader = HashIndexReader(part.descriptor, part.shard, part.anchor)
        first, most = np.uint64(part.first_row), len(part.rows)
        for number in range(len(part.descriptor.artifacts)):
            for hashes, rows in reader.partition(number).entries(_AT_ONCE):
                if len(rows) and int(rows.max()) >= most:
                    raise CorruptedData(f"positions of a hash: expected less than {most}, found {rows.max()}")
                self._builder.append_entries(hashes, rows + first)

    def close(self) -> None:
        """Release memory and temporary files, finished or not."""
        self._builder.close()
