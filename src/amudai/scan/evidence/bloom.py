"""What does the Bloom filter of a stripe say?"""

from __future__ import annotations

from amudai.encoding import Ranges
from amudai.index import Positions
from amudai.scan.evidence.contract import Evidence
from amudai.scan.evidence.facts import Facts
from amudai.stats import BLOOM_SEED, hash_value, probe
from amudai.types import BYTES

__all__ = ["BLOOM"]


def _answer(facts: Facts, rows: Ranges) -> Positions | None:
    if facts.keys is None or facts.node.basic_type not in BYTES:
        return None
    hashes = [hash_value(key, BLOOM_SEED) for key in facts.keys]
    maybe, asked = Ranges.one(0, 0), False
    for stripe, mine in facts.stripes(rows):
        field = facts.descriptor(stripe)
        found = None if field is None else field.bloom_filter
        asked = asked or found is not None
        if found is None or any(probe(found.data, each) for each in hashes):
            maybe = maybe.unite(mine)
    return Positions.perhaps(maybe) if asked else None


BLOOM = Evidence("bloom filter", _answer)
