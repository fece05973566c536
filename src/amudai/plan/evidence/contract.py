"""The contract of evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from amudai.errors import AmudaiError
from amudai.plan.leaf import LeafQuestion
from amudai.plan.words import Words
from amudai.rows import Positions, Rows
from amudai.shard import StripeReader

__all__ = ["Evidence", "by_stripe"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Something that tells, without reading values, for which rows a plain leaf can be true.

    Attributes
    ----------
    name
        As `explain` shows it.
    answer
        The answer for some rows; None where the evidence has nothing to say.
    worth
        How many rows must be in doubt before asking pays.
    of_fields
        Whether the descriptors of columns are needed. They are read for all leaves together.
    all_words
        For evidence that can be asked for several words of one column at once: the rows that have all of them.
    """

    name: str
    answer: Callable[[LeafQuestion, Rows], Positions | None]
    worth: int = 1
    of_fields: bool = True
    all_words: Callable[[Words, Rows], Positions | None] | None = None


def by_stripe(
    question: LeafQuestion, rows: Rows, say: Callable[[StripeReader, Rows], Positions | None]
) -> Positions | None:
    """Ask `say` about each stripe's share of the rows and unite the answers; None where no stripe has an answer."""
    said = []
    for stripe, mine in question.stripes(rows):
        try:
            said.append((say(stripe, mine), mine))
        except AmudaiError as error:
            error.locate(url=stripe.shard.url, stripe=stripe.ordinal, field=question.column.path)
            raise
    if all(found is None for found, _ in said):
        return None
    known = [Positions.perhaps(mine) if found is None else found for found, mine in said]
    return Positions.united(known, rows.origin)
