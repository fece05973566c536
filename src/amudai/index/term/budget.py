"""The search for the most exact index that fits into a budget of bytes.

A price says how many rows may become doubtful for each bit that is saved. At a low price only long, dense lists become
ranges; at a high price all lists do. The search looks for the lowest price at which the index fits. It predicts sizes
from estimates and corrects them by the sizes of the indexes that it builds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai.errors import InvalidArgument
from amudai.format import BufferKind
from amudai.index.term.page_layout import PageLayout
from amudai.index.term.stored_form import TERMS_LOOKUP
from amudai.shard import PreparedStripe
from amudai.storage import Spool
from amudai.types import SchemaNode

__all__ = ["EXACT", "BuiltIndex", "within_budget"]

U64 = npt.NDArray[np.uint64]

EXACT: Final = 0
# From a sixteenth of a row per bit upwards, four prices per power of two. At the last price every list is one range.
_PRICES: Final = (
    EXACT,
    *((part << power) // 128 for power in range(12, 56) for part in (128, 152, 181, 215)),
    (1 << 64) - 1,
)
_STEPS: Final = 64  # prices to try between two neighbours of `_PRICES`
_TRIES: Final = 8
# Parts of the budget: the size to aim at, and the size that is good enough.
_AIM: Final = 0.98
_ENOUGH: Final = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class BuiltIndex:
    """A built index that is not yet part of a shard.

    Attributes
    ----------
    layout
        Where the pages of terms are; None if there are no terms.
    spool
        Holds the bytes of both artifacts.
    lookup
        The buffers of the terms artifact that look-ups read.
    terms_size, size
        Bytes of the terms artifact, and of both artifacts; 0 if they were not measured.
    """

    terms: PreparedStripe
    positions: PreparedStripe
    layout: PageLayout | None
    spool: Spool
    lookup: tuple[tuple[SchemaNode, BufferKind], ...] = TERMS_LOOKUP
    terms_size: int = 0
    size: int = 0


def within_budget(most: int, make: Callable[[int], BuiltIndex], estimate: Callable[[U64], U64]) -> BuiltIndex:
    """The most exact index of at most `most` bytes.

    Parameters
    ----------
    make
        Builds the index at a price.
    estimate
        Estimates how many bits the lists take at each price.
    """
    made = make(EXACT)
    if made.size <= most:
        return made
    prices = _PRICES
    bits = _estimated(prices, estimate)
    # The best price is between `low` and `high`. `above`: bits and size at `low`, where the index is too large.
    low, high = 0, len(prices) - 1
    above = bits[0], made.size
    best: BuiltIndex | None = None
    below = 0
    made.spool.close()
    for left in reversed(range(_TRIES)):
        if best is not None and high - low == 1:
            prices = _between(prices[low], prices[high])
            bits = _estimated(prices, estimate)
            low, high = 0, len(prices) - 1
        if best is None:
            # Nothing has fitted so far, so the last try must be the highest price.
            wanted = above[0] * (_AIM * most - made.terms_size) / max(1, above[1] - made.terms_size)
            at = _first(bits, wanted, low + 1, high) if left else high
        elif high - low > 1:
            share = (_AIM * most - best.size) / (above[1] - best.size)
            at = _first(bits, below + share * (above[0] - below), low + 1, high - 1)
        else:
            break
        made = make(prices[at])
        if made.size <= most:
            if best is not None:
                best.spool.close()
            best, below, high = made, bits[at], at
            if made.size >= _ENOUGH * most:
                break
        else:
            made.spool.close()
            low, above = at, (bits[at], made.size)
            if best is None and at == high:
                break
    if best is None:
        raise InvalidArgument(f"max_bytes: expected at least {made.size} for these terms, found {most}")
    return best


def _estimated(prices: Sequence[int], estimate: Callable[[U64], U64]) -> list[int]:
    return [int(each) for each in estimate(np.array(prices, np.uint64))]


def _between(low: int, high: int) -> tuple[int, ...]:
    """Evenly spaced prices from `low` to `high`, both included."""
    return tuple(sorted({low + (high - low) * step // _STEPS for step in range(_STEPS + 1)}))


def _first(bits: Sequence[int], most: float, low: int, high: int) -> int:
    """The first of the prices `low .. high` at which the lists take at most `most` bits; `high` if there is none.

    `bits` falls as prices rise.
    """
    return bisect_left(bits, -most, low, high, key=lambda each: -each)
