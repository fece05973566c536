"""What does the dictionary of a stripe's values say?"""

from __future__ import annotations

from amudai.rows import Positions, Rows
from amudai.scan.evidence.contract import Evidence, by_stripe
from amudai.scan.evidence.facts import Facts
from amudai.shard import StripeReader

__all__ = ["DICTIONARY"]


def _answer(facts: Facts, rows: Rows) -> Positions | None:
    def say(stripe: StripeReader, mine: Rows) -> Positions | None:
        codes = facts.codes(stripe)
        if codes is None:
            return None
        if codes.all() and facts.is_single and facts.is_solid(stripe):
            return Positions.surely(mine)
        return Positions.perhaps(mine) if codes.any() else Positions.none(mine.origin)

    return by_stripe(facts, rows, say)


DICTIONARY = Evidence("dictionary", _answer, worth=1024)
