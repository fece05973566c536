"""The term index as a type of index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from amudai.format import IndexDescriptor
from amudai.index.contract import BuildPlan, Capabilities, IndexMerging, IndexSpec, IndexType
from amudai.index.questions import Every, IndexQuestion, Terms
from amudai.index.term.reader import TermReader, open_term_index
from amudai.index.term.stored_form import INDEX_TYPE, OLDER_NAMES, TEXT_TYPES

if TYPE_CHECKING:
    from amudai.edit import IndexPart
    from amudai.shard import RowSink, ShardReader
    from amudai.storage import Artifact

__all__ = ["TERM"]


def _build(spec: IndexSpec, plan: BuildPlan) -> RowSink:
    from amudai.index.term.builder import build_term_index  # readers need no builder

    return build_term_index(spec, plan)


def _spec(descriptor: IndexDescriptor, shard: ShardReader) -> IndexSpec | None:
    from amudai.index.term.merging import term_spec

    return term_spec(descriptor, shard)


def _merge(spec: IndexSpec, plan: BuildPlan, parts: Sequence[IndexPart]) -> IndexMerging:
    from amudai.index.term.merging import TermMerging

    return TermMerging(spec, plan, parts)


def _check(
    descriptor: IndexDescriptor,
    rebuilt: IndexDescriptor,
    shard: ShardReader,
    anchor: Artifact,
    own: Artifact,
    first: int,
) -> bool:
    from amudai.index.term.checking import same_terms

    return same_terms(descriptor, rebuilt, shard, anchor, own, first)


TERM: Final = IndexType(
    name=INDEX_TYPE,
    label="term index",
    capabilities=Capabilities(questions=frozenset({Terms, Every, IndexQuestion}), basic_types=TEXT_TYPES),
    open=open_term_index,
    build=_build,
    aliases=OLDER_NAMES,
    spec=_spec,
    merge=_merge,
    check=_check,
    terms=TermReader.term_counts,
    vocabulary=TermReader.vocabulary,
    is_shared=True,
    before_renaming=lambda _descriptor, _paths: (),  # terms belong to schema ids
)
