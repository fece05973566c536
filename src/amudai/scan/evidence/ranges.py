"""What does the range index of a stripe say?"""

from __future__ import annotations

from amudai.encoding import Ranges
from amudai.index import Positions, open_range
from amudai.scan.evidence.contract import Evidence
from amudai.scan.evidence.facts import Facts

__all__ = ["RANGES"]


def _answer(facts: Facts, rows: Ranges) -> Positions | None:
    if facts.between is None or not facts.is_single:
        return None
    between, exact = facts.between
    yes, maybe, asked = Ranges.one(0, 0), Ranges.one(0, 0), False
    for stripe, mine in facts.stripes(rows):
        probe = open_range(facts.field(stripe))
        if probe is None:
            maybe = maybe.unite(mine)
            continue
        asked = True
        found = probe.between(between).shifted(stripe.first_row)
        # A member of a struct that is null is null itself, whatever is stored in its place.
        if not exact or (len(facts.leaf.nodes) > 1 and not facts.is_solid(stripe)):
            found = found.unsure()
        yes = yes.unite(found.yes)
        maybe = maybe.unite(found.maybe)
    return Positions(yes, maybe) if asked else None


RANGES = Evidence("range index", _answer, worth=256)
