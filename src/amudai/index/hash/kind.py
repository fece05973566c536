"""The hash index as a type of index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from amudai.format import IndexDescriptor
from amudai.index.contract import BuildPlan, Capabilities, IndexMerging, IndexSpec, IndexType
from amudai.index.hash.keys import KEY_TYPES
from amudai.index.hash.reader import HashIndexReader
from amudai.index.hash.spec import FIELD_HASHING
from amudai.index.questions import Keys

if TYPE_CHECKING:
    from amudai.edit import IndexPart
    from amudai.shard import RowSink, ShardReader

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


HASH: Final = IndexType(
    name=FIELD_HASHING,
    label="hash index",
    aliases=("hashmap-index",),
    capabilities=Capabilities(questions=frozenset({Keys}), basic_types=KEY_TYPES),
    open=HashIndexReader,
    build=_build,
    spec=_spec,
    merge=_merge,
)
