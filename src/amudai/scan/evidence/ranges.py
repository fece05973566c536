"""What does the range index of a stripe say?"""

from __future__ import annotations

from amudai.index import open_range
from amudai.rows import Positions, Rows
from amudai.scan.evidence.contract import Evidence, by_stripe
from amudai.scan.evidence.facts import Facts
from amudai.shard import StripeReader

__all__ = ["RANGES"]


def _answer(facts: Facts, rows: Rows) -> Positions | None:
    if facts.between is None or not facts.is_single:
        return None
    between, exact = facts.between

    def say(stripe: StripeReader, _: Rows) -> Positions | None:
        probe = open_range(facts.source(stripe))
        if probe is None:
            return None
        found = probe.between(between).counted_from(stripe.origin).outward()
        # A member of a struct that is null is null itself, whatever is stored in its place.
        is_sure = exact and (len(facts.leaf.nodes) == 1 or facts.is_solid(stripe))
        return found if is_sure else found.unsure()

    return by_stripe(facts, rows, say)


RANGES = Evidence("range index", _answer, worth=256)
