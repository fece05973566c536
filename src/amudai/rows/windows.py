"""The positions of a set in each of many windows, such as the stripes of a shard."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from amudai.rows.rows import Rows

__all__ = ["rows_in_windows"]

U64 = npt.NDArray[np.uint64]


def rows_in_windows(rows: Rows, starts: U64, ends: U64) -> Iterator[tuple[int, Rows]]:
    """The positions in each of several windows that ascend and do not overlap, with the number of the window.

    Windows without positions are left out. Where they begin among the ranges of `rows` is looked up for all of them at
    once: to intersect with one after the other would look at all ranges each time.

    >>> found = rows_in_windows(Rows.one(3, 8), np.array([0, 5, 9], np.uint64), np.array([5, 9, 12], np.uint64))
    >>> [(window, mine.positions().tolist()) for window, mine in found]
    [(0, [3, 4]), (1, [5, 6, 7])]
    """
    if rows.is_bitmap:
        for window, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            mine = rows.intersect(Rows.one(start, end, rows.origin))
            if mine:
                yield window, mine
        return
    lows, highs = rows.starts, rows.ends
    firsts, lasts = np.searchsorted(highs, starts, "right"), np.searchsorted(lows, ends, "left")
    filled = np.flatnonzero((firsts < lasts) & (starts < ends))
    places = zip(filled.tolist(), *(each[filled].tolist() for each in (firsts, lasts, starts, ends)), strict=True)
    for window, first, last, start, end in places:
        low, high = lows[first:last].copy(), highs[first:last].copy()
        low[0], high[-1] = max(low.item(0), start), min(high.item(-1), end)
        yield window, Rows(low, high, rows.origin, rows)
