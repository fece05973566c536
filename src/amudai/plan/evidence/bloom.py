"""Evidence from the Bloom filter of a stripe."""

from __future__ import annotations

from decimal import Decimal

from amudai.index import bloom_rules_out
from amudai.plan.evidence.contract import Evidence, by_stripe
from amudai.plan.leaf import LeafQuestion
from amudai.predicate import Compare, IsIn
from amudai.rows import Positions, Rows
from amudai.shard import StripeReader
from amudai.types import decimal128

__all__ = ["BLOOM"]


def _answer(question: LeafQuestion, rows: Rows) -> Positions | None:
    keys = _decimal_keys(question) if question.node.is_decimal else question.keys
    if keys is None:
        return None

    def say(stripe: StripeReader, mine: Rows) -> Positions | None:
        field = question.descriptor(stripe)
        if field is None or field.bloom_filter is None:
            return None
        is_out = all(bloom_rules_out(field, key) for key in keys)
        return Positions.none(mine.origin) if is_out else Positions.perhaps(mine)

    return by_stripe(question, rows, say)


def _decimal_keys(question: LeafQuestion) -> tuple[bytes, ...] | None:
    """The bytes of all decimals that are equal to the wanted ones: 1.0 and 1.00 have different bytes."""
    plain = question.plain.leaf
    if not (isinstance(plain, IsIn) or (isinstance(plain, Compare) and plain.op == "==")):
        return None
    values = [scalar.as_py() for scalar in question.plain.scalars]
    if not all(isinstance(value, Decimal) and value.is_finite() and value for value in values):
        return None  # there are too many zeros, one for each exponent
    return tuple(key for value in values for key in decimal128.cohort(value))


BLOOM = Evidence("bloom filter", _answer)
