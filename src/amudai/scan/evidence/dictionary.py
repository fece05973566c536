"""What does the dictionary of a stripe's values say?"""

from __future__ import annotations

from amudai.encoding import Ranges
from amudai.index import Positions
from amudai.scan.evidence.contract import Evidence
from amudai.scan.evidence.facts import Facts

__all__ = ["DICTIONARY"]


def _answer(facts: Facts, rows: Ranges) -> Positions | None:
    yes, maybe, asked = Ranges.one(0, 0), Ranges.one(0, 0), False
    for stripe, mine in facts.stripes(rows):
        codes = facts.codes(stripe)
        if codes is None:
            maybe = maybe.unite(mine)
            continue
        asked = True
        if codes.all() and facts.is_single and facts.is_solid(stripe):
            yes = yes.unite(mine)
        elif codes.any():
            maybe = maybe.unite(mine)
    return Positions(yes, maybe) if asked else None


DICTIONARY = Evidence("dictionary", _answer, worth=1024)
