"""The hash index as a type of index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from amudai.index.contract import BuildPlan, Capabilities, IndexSpec, IndexType
from amudai.index.hash.keys import KEY_TYPES
from amudai.index.hash.reader import HashIndexReader
from amudai.index.hash.spec import FIELD_HASHING
from amudai.index.questions import Keys

if TYPE_CHECKING:
    from amudai.shard import RowSink

__all__ = ["HASH"]


def _build(_: IndexSpec, plan: BuildPlan) -> RowSink:
    from amudai.index.hash.builder import HashIndexBuilder  # readers need no builder

    return HashIndexBuilder(plan)


HASH: Final = IndexType(
    name=FIELD_HASHING,
    label="hash index",
    aliases=("hashmap-index",),
    capabilities=Capabilities(questions=frozenset({Keys}), basic_types=KEY_TYPES),
    open=HashIndexReader,
    build=_build,
)
