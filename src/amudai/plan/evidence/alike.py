"""Evidence from a column that stores nothing in a stripe: its rows are all alike, so that one of them tells all."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

from amudai.column import ColumnSource
from amudai.plan.evidence.contract import Evidence, by_stripe
from amudai.plan.leaf import LeafQuestion
from amudai.plan.reading import read_rows
from amudai.rows import Positions, Rows
from amudai.shard import StripeReader
from amudai.types import BasicType

__all__ = ["ALIKE"]

_MOST_ITEMS: Final = 1 << 20  # of fixed-size lists, in the row that is read


def _answer(question: LeafQuestion, rows: Rows) -> Positions | None:
    def say(stripe: StripeReader, mine: Rows) -> Positions | None:
        sizes = [node.fixed_size for node in question.leaf.nodes if node.basic_type is BasicType.FIXED_SIZE_LIST]
        if prod(sizes) > _MOST_ITEMS or any(source.is_stored for source in _sources(question, stripe)):
            return None
        from amudai.predicate import evaluate  # imports pyarrow.compute, which is slow to import

        first = read_rows(stripe, question.column, Rows.one(0, 1, stripe.origin))
        return Positions.surely(mine) if evaluate(question.leaf, first)[0] else Positions.none(mine.origin)

    return by_stripe(question, rows, say)


def _sources(question: LeafQuestion, stripe: StripeReader) -> Iterator[ColumnSource]:
    """Every column that says something about the values of the leaf."""
    nodes = question.leaf.nodes
    yield from (stripe.column_at(nodes[:count]) for count in range(1, len(nodes)))
    yield from stripe.column_at(nodes).walk()
    if question.nanoseconds is not None:
        yield stripe.column(question.nanoseconds)


ALIKE = Evidence("equal rows", _answer, worth=1 << 16, of_leaf=True)
