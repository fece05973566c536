"""How exact can an index be that must not be larger than this?

A price says how many rows may become doubtful for a bit that is saved: at a low one only long, dense lists become
ranges, at a high one all do. The lowest price at which everything fits is looked for, by what lists would take, about,
and by what they then do take.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai.errors import InvalidArgument
from amudai.index.term.layout import Layout
from amudai.shard import PreparedStripe
from amudai.storage import Spool

__all__ = ["EXACT", "Made", "within_budget"]

U64 = npt.NDArray[np.uint64]

EXACT: Final = 0
# From a sixteenth of a row for a bit on, four to a power of two, and the highest: then a list is one range.
_PRICES: Final = (
    EXACT,
    *((part << power) // 128 for power in range(12, 56) for part in (128, 152, 181, 215)),
    (1 << 64) - 1,
)
_STEPS: Final = 64  # between two neighbours of them, where one is too low and the other lower than need be
_TRIES: Final = 8
# Of the budget: what is aimed at, and what is good enough.
_AIM: Final = 0.98
_ENOUGH: Final = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """An index that has no place yet.

    Attributes
    ----------
    layout
        How the pages of the terms lie; None where there are no terms.
    spool
        Where both artifacts wait.
    terms_size, size
        Bytes of the terms, and of both artifacts, where they were measured.
    """

    terms: PreparedStripe
    positions: PreparedStripe
    layout: Layout | None
    spool: Spool
    terms_size: int = 0
    size: int = 0


def within_budget(most: int, make: Callable[[int], Made], estimate: Callable[[U64], U64]) -> Made:
    """The most exact index of at most so many bytes.

    Parameters
    ----------
    make
        Makes the index at a price.
    estimate
        Says how many bits the lists take at each price, about.
    """
    made = make(EXACT)
    if made.size <= most:
        return made
    prices = _PRICES
    bits = _estimated(prices, estimate)
    # The prices between which the best one lies, and bits and size of the index at the low one, which is too large.
    low, high = 0, len(prices) - 1
    above = bits[0], made.size
    best: Made | None = None
    below = 0
    made.spool.close()
    for left in reversed(range(_TRIES)):
        if best is not None and high - low == 1:
            prices = _between(prices[low], prices[high])
            bits = _estimated(prices, estimate)
            low, high = 0, len(prices) - 1
        if best is None:
            # The highest price was not tried yet. If nothing fits it must be.
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
    """Prices from one to the other, both included."""
    return tuple(sorted({low + (high - low) * step // _STEPS for step in range(_STEPS + 1)}))


def _first(bits: Sequence[int], most: float, low: int, high: int) -> int:
    """The first of the prices `low .. high` at which lists take at most so many bits; the last where none does.

    Bits fall as prices rise.
    """
    return bisect_left(bits, -most, low, high, key=lambda each: -each)
