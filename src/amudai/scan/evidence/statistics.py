"""What do the statistics of a stripe say?"""

from __future__ import annotations

from amudai.column import constant_of
from amudai.index import Share, could_hold
from amudai.predicate import IsNull, IsValid, evaluate
from amudai.rows import Positions, Rows
from amudai.scan.evidence.contract import Evidence, by_stripe
from amudai.scan.evidence.facts import Facts
from amudai.scan.execute import read_rows
from amudai.shard import StripeReader

__all__ = ["STATISTICS"]


def _answer(facts: Facts, rows: Rows) -> Positions | None:
    def say(stripe: StripeReader, mine: Rows) -> Positions | None:
        match _share(facts, stripe):
            case Share.ALL:
                return Positions.surely(mine)
            case Share.NONE:
                return Positions.none(mine.origin)
        return None

    return by_stripe(facts, rows, say)


def _share(facts: Facts, stripe: StripeReader) -> Share:
    """For which of a stripe's rows the question is true: none, some, all."""
    stripe.prepare(facts.leaf.nodes)
    if isinstance(facts.question.leaf, IsNull | IsValid):
        return _nulls(facts, stripe)
    for node in facts.leaf.nodes:
        found = stripe.descriptor(node)
        if found is None or found.field.null_count == found.field.position_count:
            return Share.NONE
    field = facts.descriptor(stripe)
    assert field is not None
    if facts.is_single and facts.is_solid(stripe) and constant_of(facts.node, field) is not None:
        first = read_rows(stripe, facts.column, Rows.one(0, 1, stripe.origin))
        return Share.ALL if evaluate(facts.question, first)[0] else Share.NONE
    if facts.between is None:
        return Share.SOME
    between, exact = facts.between
    share = could_hold(field, facts.node, between)
    # All values of a column with nulls, or of lists, are not all rows.
    sure = exact and facts.is_single and facts.is_solid(stripe)
    return share if share is not Share.ALL or sure else Share.SOME


def _nulls(facts: Facts, stripe: StripeReader) -> Share:
    if not facts.is_single:
        return Share.SOME
    wants_null = isinstance(facts.question.leaf, IsNull)
    counts = []
    for node in facts.leaf.nodes:
        found = stripe.descriptor(node)
        if found is None or found.field.null_count == found.field.position_count:
            return Share.ALL if wants_null else Share.NONE
        counts.append(found.field.null_count)
    if any(count != 0 for count in counts):
        return Share.SOME
    return Share.NONE if wants_null else Share.ALL


STATISTICS = Evidence("statistics", _answer)
