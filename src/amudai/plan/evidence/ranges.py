"""Evidence from the range index of a field in a stripe."""

from __future__ import annotations

from amudai.errors import CorruptedData, StorageError, UnsupportedFeature
from amudai.index import open_range
from amudai.plan.evidence.contract import Evidence, by_stripe
from amudai.plan.leaf import LeafQuestion
from amudai.rows import Positions, Rows
from amudai.shard import StripeReader

__all__ = ["RANGES"]


def _answer(question: LeafQuestion, rows: Rows) -> Positions | None:
    if question.between is None or not question.is_single:
        return None
    wanted = question.between

    def say(stripe: StripeReader, _: Rows) -> Positions | None:
        source = question.source(stripe)
        try:
            probe = open_range(source)
        except (CorruptedData, StorageError, UnsupportedFeature) as error:
            error.locate(url=stripe.url, stripe=stripe.ordinal, field=question.column.path)
            question.unusable.note("range index", error)
            return None
        if probe is None:
            return None
        found = probe.between(wanted.possible)
        # The members of a null struct are null, whatever is stored for them.
        is_sure = len(question.leaf.nodes) == 1 or question.is_solid(stripe)
        if wanted.sure is None or not is_sure:
            found = found.unsure()
        elif not wanted.is_exact:
            found = Positions.surely(probe.between(wanted.sure).yes) | found.unsure()
        return found.counted_from(stripe.origin).outward()

    return by_stripe(question, rows, say)


RANGES = Evidence("range index", _answer, worth=256)
