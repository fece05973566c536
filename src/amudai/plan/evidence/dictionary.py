"""Evidence from the dictionary of the values in a stripe."""

from __future__ import annotations

from amudai.plan.evidence.contract import Evidence, by_stripe
from amudai.plan.leaf import LeafQuestion
from amudai.rows import Positions, Rows
from amudai.shard import StripeReader

__all__ = ["DICTIONARY"]


def _answer(question: LeafQuestion, rows: Rows) -> Positions | None:
    def say(stripe: StripeReader, mine: Rows) -> Positions | None:
        codes = question.codes(stripe)
        if codes is None:
            return None
        if codes.all() and question.is_single and question.is_solid(stripe):
            return Positions.surely(mine)
        return Positions.perhaps(mine) if codes.any() else Positions.none(mine.origin)

    return by_stripe(question, rows, say)


DICTIONARY = Evidence("dictionary", _answer, worth=1024)
