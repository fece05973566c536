"""Evidence from the statistics of a stripe."""

from __future__ import annotations

from amudai.format import FieldDescriptor
from amudai.index import Matching, could_hold
from amudai.plan.byte_range import ByteRange
from amudai.plan.evidence.contract import Evidence, by_stripe
from amudai.plan.leaf import LeafQuestion
from amudai.plan.reading import read_rows
from amudai.predicate import IsNull, IsValid
from amudai.rows import Positions, Rows
from amudai.shard import StripeReader
from amudai.types import BYTES

__all__ = ["SHARD_STATISTICS", "STATISTICS"]


def _answer(question: LeafQuestion, rows: Rows) -> Positions | None:
    def say(stripe: StripeReader, mine: Rows) -> Positions | None:
        match _matching(question, stripe):
            case Matching.ALL:
                return Positions.surely(mine)
            case Matching.NONE:
                return Positions.none(mine.origin)
        return None

    return by_stripe(question, rows, say)


def _matching(question: LeafQuestion, stripe: StripeReader) -> Matching:
    """For which rows of a stripe the plain leaf is true: none, perhaps some, or all."""
    stripe.prepare(question.leaf.nodes)
    if isinstance(question.plain.leaf, IsNull | IsValid):
        return _nulls(question, stripe)
    for node in question.leaf.nodes:
        found = stripe.descriptor(node)
        if found is None or found.field.null_count == found.field.position_count:
            return Matching.NONE
    field = question.descriptor(stripe)
    assert field is not None
    if question.is_single and question.is_solid(stripe) and question.is_constant(stripe):
        from amudai.predicate import evaluate  # imports pyarrow.compute, which is slow to import

        first = read_rows(stripe, question.column, Rows.one(0, 1, stripe.origin))
        return Matching.ALL if evaluate(question.plain, first)[0] else Matching.NONE
    wanted = question.between
    if wanted is None:
        return Matching.NONE if _is_outside(question, field) else Matching.SOME
    matching = could_hold(field, question.node, wanted.possible)
    if matching is not Matching.ALL:
        return matching
    # If the column has nulls or lists, a match of all values is not a match of all rows.
    if wanted.sure is None or not (question.is_single and question.is_solid(stripe)):
        return Matching.SOME
    is_sure = wanted.is_exact or could_hold(field, question.node, wanted.sure) is Matching.ALL
    return Matching.ALL if is_sure else Matching.SOME


def _is_outside(question: LeafQuestion, field: FieldDescriptor) -> bool:
    """Whether all texts or bytes for which the plain leaf can be true are outside of the bounds of the field."""
    stats = field.range_stats
    if stats is None or question.node.is_decimal or question.node.basic_type not in BYTES:
        return False
    if question.keys is not None:
        return all(ByteRange(low=key, high=key).is_outside(stats) for key in question.keys)
    wanted = question.byte_range
    return wanted is not None and wanted.is_outside(stats)


def _of_shard(question: LeafQuestion, rows: Rows) -> Positions | None:
    """No row, if the statistics of the shard as a whole prove that. Then no stripe is looked at."""
    shard = question.shard
    if question.inverted or shard.directory.stripe_count < 2 or isinstance(question.plain.leaf, IsNull | IsValid):
        return None
    field = shard.descriptor(question.node)
    if field is None or not field.position_count:
        return None
    wanted = question.between
    if wanted is not None:
        is_out = could_hold(field, question.node, wanted.possible) is Matching.NONE
    else:
        is_out = field.null_count == field.position_count or _is_outside(question, field)
    return Positions.none(rows.origin) if is_out else None


def _nulls(question: LeafQuestion, stripe: StripeReader) -> Matching:
    if not question.is_single:
        return Matching.SOME
    wants_null = isinstance(question.plain.leaf, IsNull)
    counts = []
    for node in question.leaf.nodes:
        found = stripe.descriptor(node)
        if found is None or found.field.null_count == found.field.position_count:
            return Matching.ALL if wants_null else Matching.NONE
        counts.append(found.field.null_count)
    if any(count != 0 for count in counts):
        return Matching.SOME
    return Matching.NONE if wants_null else Matching.ALL


STATISTICS = Evidence("statistics", _answer)
SHARD_STATISTICS = Evidence("shard statistics", _of_shard, of_fields=False)
