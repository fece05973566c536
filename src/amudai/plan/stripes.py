"""Which rows lie in which stripe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from amudai.rows import Rows, rows_in_windows
from amudai.shard import ShardReader, StripeReader

__all__ = ["rows_by_stripe"]

# With fewer stripes, it is faster to intersect with each.
_FEW: Final = 8


def rows_by_stripe(shard: ShardReader, rows: Rows) -> Iterator[tuple[StripeReader, Rows]]:
    """The stripes that hold some of `rows`, each with its part of `rows`, counted from the start of the shard."""
    stripes = shard.stripes_with(rows)
    if len(stripes) < _FEW:
        for stripe in stripes:
            mine = rows.intersect(stripe.extent)
            if mine:
                yield stripe, mine
        return
    bounds, ordinals = shard.stripe_bounds, np.array([stripe.ordinal for stripe in stripes])
    for at, mine in rows_in_windows(rows, bounds[ordinals], bounds[ordinals + 1]):
        yield stripes[at], mine
