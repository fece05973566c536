"""What is evidence?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from amudai.errors import AmudaiError
from amudai.rows import Positions, Rows
from amudai.scan.evidence.facts import Facts
from amudai.shard import StripeReader

__all__ = ["Evidence", "by_stripe"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Something that tells, without reading values, for which rows a leaf's question can be true.

    Attributes
    ----------
    name
        As `explain` shows it.
    answer
        The answer for some rows; None where it has nothing to say.
    worth
        How many rows must be in doubt before it is worth asking.
    of_fields
        Whether it looks at how fields are stored, which is read for all leaves together.
    """

    name: str
    answer: Callable[[Facts, Rows], Positions | None]
    worth: int = 1
    of_fields: bool = True


def by_stripe(facts: Facts, rows: Rows, say: Callable[[StripeReader, Rows], Positions | None]) -> Positions | None:
    """What is said of each stripe's share of the rows, put together; None where nothing is said of any."""
    said = []
    for stripe, mine in facts.stripes(rows):
        try:
            said.append((say(stripe, mine), mine))
        except AmudaiError as error:
            error.locate(url=stripe.shard.url, stripe=stripe.ordinal, field=facts.column.path)
            raise
    if all(found is None for found, _ in said):
        return None
    known = [Positions.perhaps(mine) if found is None else found for found, mine in said]
    return Positions.united(known, rows.origin)
