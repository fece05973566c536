"""The contract of evidence: the type `Evidence`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from amudai.errors import AmudaiError
from amudai.frozen import quick_init
from amudai.plan.leaf import LeafQuestion
from amudai.plan.words import ColumnWords
from amudai.rows import Positions, Rows
from amudai.shard import StripeReader

__all__ = ["Evidence", "by_stripe"]


@quick_init
@dataclass(frozen=True, slots=True)
class Evidence:
    """A source of knowledge that says for which rows a plain leaf can be true, without reading values.

    Attributes
    ----------
    name
        The name that `explain` shows.
    answer
        Answers a leaf for some rows; None if the evidence has nothing to say.
    worth
        How many rows must be in doubt before asking pays.
    of_fields
        Whether `answer` needs the descriptors of columns. They are read for all leaves together.
    of_leaf
        Whether `answer` is about the leaf itself, with its negation, and not about the plain leaf.
    all_words
        Finds the rows that have all of several words of one column, for evidence that can do that in one look-up.
    """

    name: str
    answer: Callable[[LeafQuestion, Rows], Positions | None]
    worth: int = 1
    of_fields: bool = True
    of_leaf: bool = False
    all_words: Callable[[ColumnWords, Rows], Positions | None] | None = None


def by_stripe(
    question: LeafQuestion, rows: Rows, say: Callable[[StripeReader, Rows], Positions | None]
) -> Positions | None:
    """Ask `say` about the part of `rows` in each stripe and unite the answers; None if no stripe has an answer."""
    said = []
    for stripe, mine in question.stripes(rows):
        try:
            said.append((say(stripe, mine), mine))
        except AmudaiError as error:
            error.locate(url=stripe.url, stripe=stripe.ordinal, field=question.column.path)
            raise
    if all(found is None for found, _ in said):
        return None
    known = [Positions.perhaps(mine) if found is None else found for found, mine in said]
    return Positions.concatenated(known, rows.origin)
