"""Writing a term index from merged terms: both artifacts and the descriptor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Protocol

from amudai import _kernels
from amudai.encoding import profile_of
from amudai.format import COMPLETE, IndexDescriptor, any_values
from amudai.index.contract import BuildPlan
from amudai.index.term.budget import BuiltIndex
from amudai.index.term.pages_writer import PagesWriter
from amudai.index.term.positions_writer import AddedLists, CopiedLists, PositionsWriter, SpooledBlocks
from amudai.index.term.spec import TermIndex
from amudai.index.term.stored_form import (
    COLLATIONS,
    ELEMENT,
    INDEX_TYPE,
    POSITIONS,
    POSITIONS_LOOKUP,
    POSITIONS_SCHEMA,
    TERMS,
    TERMS_SCHEMA,
    TOKENIZERS,
)
from amudai.index.term.tuning import Tuning
from amudai.shard import ArtifactSpace, BuildOptions, PreparedStripe, StripeBuilder
from amudai.storage import Spool
from amudai.threads import Crew
from amudai.types import SchemaNode

__all__ = ["placed", "written"]

# Integers that one step of the merge returns.
_SLICE: Final = 65_536
# Slices whose lists are shared among threads at a time.
_SLICES: Final = 8


class TermsInOrder(Protocol):
    """A merge: terms with their lists, in the order of the index, a slice at a time."""

    @property
    def done(self) -> bool:
        """Whether nothing is left to merge."""
        ...

    def next(self, terms: int, integers: int) -> _kernels.TermSlice:
        """The next slice. It begins at most `terms` terms, and ends soon after it has `integers` integers."""
        ...


def written(
    merge: TermsInOrder, spool: Spool, tuning: Tuning, crew: Crew, blocks: SpooledBlocks | None = None
) -> BuiltIndex:
    """The index of all terms of a merge. Its bytes are in `spool`.

    `blocks` are those that the tickets of a `TermListMerge` stand for.
    """
    if merge.done:
        return BuiltIndex(_empty(TERMS_SCHEMA), _empty(POSITIONS_SCHEMA), None, spool)
    pages, positions = PagesWriter(spool, tuning), PositionsWriter(spool, tuning)
    count = 0

    def merged_lists() -> Iterator[list[AddedLists]]:
        """The lists of some slices, whose terms are in `pages`."""
        nonlocal count
        slices = 1 if crew.threads == 1 else _SLICES
        while not merge.done:
            found: list[AddedLists] = []
            while len(found) < slices and not merge.done:
                merged = merge.next(pages.room, _SLICE)
                counts = merged.counts()
                pages.add(merged, counts, count)
                count += int(counts.sum())
                copies = None
                if blocks is not None:
                    copies = CopiedLists(blocks, merged.copied(), merged.tickets())
                    counts = counts - copies.counts
                found.append(AddedLists(merged.integers(), counts, merged.is_long(), merged.continues, copies))
            yield found

    # Slices are merged while the lists of those before are encoded.
    for found in crew.ahead(merged_lists()):
        for lists in found:
            positions.add(lists)
        positions.write(crew.each)
    fields = pages.finish()
    integers = positions.finish(POSITIONS_SCHEMA[0])
    return BuiltIndex(
        PreparedStripe(fields, pages.pages, spool),
        PreparedStripe((integers,), count, spool),
        pages.layout,
        spool,
        pages.lookup,
    )


def placed(built: BuiltIndex, space: ArtifactSpace, spec: TermIndex, plan: BuildPlan) -> IndexDescriptor:
    """Write the artifacts of a built index, close its spool, and return the descriptor."""
    with built.spool:
        terms = space.place(TERMS, TERMS_SCHEMA, [built.terms], built.lookup)
        layout = () if built.layout is None else (*built.layout.properties, *terms.properties)
        positions = space.place(POSITIONS, POSITIONS_SCHEMA, [built.positions], POSITIONS_LOOKUP)
    properties: dict[str, object] = {
        "collation": COLLATIONS.get(spec.collation, spec.collation),
        "tokenizers": [TOKENIZERS.get(name, name) for name in spec.tokenizers],
        # The reference loses rows of some terms, so only an index with this property proves that a term is absent.
        COMPLETE: True,
    }
    if ELEMENT in spec.granularities:
        properties["granularities"] = list(spec.granularities)
    return IndexDescriptor(
        index_type=INDEX_TYPE,
        properties=any_values(properties),
        indexed_fields=tuple((path[-1].schema_id,) for path in plan.paths),
        artifacts=(replace(terms, properties=layout), positions),
    )


def _empty(schema: tuple[SchemaNode, ...]) -> PreparedStripe:
    """A stripe without rows. Its few bytes stay in memory."""
    return StripeBuilder(schema, BuildOptions(profile=profile_of("balanced"))).prepared()
