"""The hash index as a type of index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from amudai.format import IndexDescriptor, Properties, any_values
from amudai.index.contract import BuildPlan, Capabilities, IndexMerging, IndexSpec, IndexType
from amudai.index.hash.keys import KEY_TYPES, hashed_path
from amudai.index.hash.layout import HASHED_PATHS
from amudai.index.hash.reader import HashIndexReader
from amudai.index.hash.spec import FIELD_HASHING
from amudai.index.questions import Keys, StoredKeys
from amudai.types import NodePath

if TYPE_CHECKING:
    from amudai.edit import IndexPart
    from amudai.shard import RowSink, ShardReader
    from amudai.storage import Artifact

__all__ = ["HASH"]


def _build(_: IndexSpec, plan: BuildPlan) -> RowSink:
    from amudai.index.hash.builder import HashIndexBuilder  # readers need no builder

    return HashIndexBuilder(plan)


def _spec(descriptor: IndexDescriptor, shard: ShardReader) -> IndexSpec | None:
    from amudai.index.hash.merging import hash_spec

    return hash_spec(descriptor, shard)


def _merge(_: IndexSpec, plan: BuildPlan, parts: Sequence[IndexPart]) -> IndexMerging:
    from amudai.index.hash.merging import HashMerging

    return HashMerging(plan, parts)


def _note_paths(descriptor: IndexDescriptor, paths: Mapping[int, NodePath]) -> Properties:
    """Keys contain the path of their field, so the reader must know the path that was hashed."""
    if any(name == HASHED_PATHS for name, _ in descriptor.properties):
        return ()
    single = (ids[0] if len(ids) == 1 else -1 for ids in descriptor.indexed_fields)
    hashed = [hashed_path(paths[each]) if each in paths else "" for each in single]
    return any_values({HASHED_PATHS: hashed})


def _check(
    descriptor: IndexDescriptor, rebuilt: IndexDescriptor, shard: ShardReader, anchor: Artifact, own: Artifact
) -> bool:
    from amudai.index.hash.checking import same_hashes

    return same_hashes(descriptor, rebuilt, shard, anchor, own)


HASH: Final = IndexType(
    name=FIELD_HASHING,
    label="hash index",
    aliases=("hashmap-index",),
    capabilities=Capabilities(questions=frozenset({Keys, StoredKeys}), basic_types=KEY_TYPES),
    open=HashIndexReader,
    build=_build,
    spec=_spec,
    merge=_merge,
    check=_check,
    before_renaming=_note_paths,
)
