"""The hash index as a type of index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from amudai.format import IndexDescriptor, Properties, any_values
from amudai.index.contract import BuildPlan, Capabilities, IndexMerging, IndexSpec, IndexType
from amudai.index.hash.keys import KEY_TYPES, hashed_path
from amudai.index.hash.layout import HASHED_PATHS, PATHS_SEPARATOR
from amudai.index.hash.reader import HashIndexReader
from amudai.index.hash.spec import FIELD_HASHING, HashIndex
from amudai.index.questions import CompositeKeys, Keys, StoredKeys
from amudai.types import NodePath

if TYPE_CHECKING:
    from amudai.edit import IndexPart
    from amudai.shard import RowSink, ShardReader
    from amudai.storage import Artifact

__all__ = ["HASH"]


def _build(spec: IndexSpec, plan: BuildPlan) -> RowSink:
    from amudai.index.hash.builder import HashIndexBuilder  # readers need no builder

    assert isinstance(spec, HashIndex)
    return HashIndexBuilder(spec, plan)


def _spec(descriptor: IndexDescriptor, shard: ShardReader) -> IndexSpec | None:
    from amudai.index.hash.merging import hash_spec

    return hash_spec(descriptor, shard)


def _merge(spec: IndexSpec, plan: BuildPlan, parts: Sequence[IndexPart]) -> IndexMerging:
    from amudai.index.hash.merging import HashMerging

    assert isinstance(spec, HashIndex)
    return HashMerging(spec, plan, parts)


def _note_paths(descriptor: IndexDescriptor, paths: Mapping[int, NodePath]) -> Properties:
    """Keys contain the path of their field, so the reader must know the path that was hashed."""
    if any(name == HASHED_PATHS for name, _ in descriptor.properties):
        return ()
    hashed = [
        PATHS_SEPARATOR.join(hashed_path(paths[each]) if each in paths else "" for each in ids)
        for ids in descriptor.indexed_fields
    ]
    return any_values({HASHED_PATHS: hashed})


def _paths_when_built(descriptor: IndexDescriptor, paths: Sequence[NodePath]) -> tuple[NodePath, ...]:
    from amudai.index.hash.checking import renamed_back

    return renamed_back(descriptor, paths)


def _check(
    descriptor: IndexDescriptor,
    rebuilt: IndexDescriptor,
    shard: ShardReader,
    anchor: Artifact,
    own: Artifact,
    _first: int,
) -> bool:
    from amudai.index.hash.checking import same_hashes

    return same_hashes(descriptor, rebuilt, shard, anchor, own)


HASH: Final = IndexType(
    name=FIELD_HASHING,
    label="hash index",
    aliases=("hashmap-index",),
    capabilities=Capabilities(questions=frozenset({CompositeKeys, Keys, StoredKeys}), basic_types=KEY_TYPES),
    open=HashIndexReader,
    build=_build,
    spec=_spec,
    merge=_merge,
    paths_when_built=_paths_when_built,
    check=_check,
    before_renaming=_note_paths,
    is_shared=True,
)
