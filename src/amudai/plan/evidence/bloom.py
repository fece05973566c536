"""Evidence from the Bloom filter of a stripe."""

from __future__ import annotations

from amudai.index import bloom_rules_out
from amudai.plan.evidence.contract import Evidence, by_stripe
from amudai.plan.leaf import LeafQuestion
from amudai.rows import Positions, Rows
from amudai.shard import StripeReader
from amudai.types import BYTES

__all__ = ["BLOOM"]


def _answer(question: LeafQuestion, rows: Rows) -> Positions | None:
    keys, node = question.keys, question.node
    if keys is None or node.basic_type not in BYTES:
        return None

    def say(stripe: StripeReader, mine: Rows) -> Positions | None:
        field = question.descriptor(stripe)
        if field is None or field.bloom_filter is None:
            return None
        is_out = all(bloom_rules_out(field, node, key) for key in keys)
        return Positions.none(mine.origin) if is_out else Positions.perhaps(mine)

    return by_stripe(question, rows, say)


BLOOM = Evidence("bloom filter", _answer)
