"""How many rows there are in each stretch of time, from statistics and indexes where they decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai import AmudaiError, Stripe
from amudai.web.folder import Snapshot, TimeBounds, bounds_of, quoted

__all__ = ["Bins", "Histogram", "Stretches", "bins_between", "stretches_of", "times_of"]

_SECOND: Final = 1_000_000
# Widths that people read with ease, in microseconds.
_WIDTHS: Final = tuple(
    [unit * _SECOND // 1000 for unit in (1, 2, 5, 10, 20, 50, 100, 200, 500)]
    + [unit * _SECOND for unit in (1, 2, 5, 10, 15, 30)]
    + [unit * 60 * _SECOND for unit in (1, 2, 5, 10, 15, 30)]
    + [unit * 3600 * _SECOND for unit in (1, 2, 3, 6, 12)]
    + [unit * 86400 * _SECOND for unit in (1, 2, 7, 14, 30, 90, 365, 730, 3650, 36500)]
)
_MOST_BINS: Final = 80
# A shard of so few rows is not looked into: reading its times is as quick.
_FEW_ROWS: Final = 4096


@dataclass(frozen=True, slots=True)
class Bins:
    """Stretches of time of the same width, in microseconds since 1970."""

    start: int
    width: int
    count: int

    def of(self, bounds: TimeBounds | None) -> int | None:
        """The bin that all times within these bounds lie in; None if they lie in several, or are not known."""
        if bounds is None or bounds.nulls:
            return None
        first, last = ((each - self.start) // self.width for each in (bounds.first, bounds.last))
        return first if first == last and 0 <= first < self.count else None

    def edges(self, at: int) -> tuple[int, int]:
        """The begin and the end of a bin."""
        return self.start + at * self.width, self.start + (at + 1) * self.width


def bins_between(first: int, last: int, least: int = 1) -> Bins:
    """At most 80 bins that hold all times from `first` to `last`. `least` is the least width, if some width has it.

    >>> bins_between(0, 3_600_000_000, least=3_600_000_000)
    Bins(start=0, width=3600000000, count=2)
    >>> bins_between(0, 3_600_000_000)
    Bins(start=0, width=60000000, count=61)
    >>> bins_between(5, 5)
    Bins(start=0, width=1000, count=1)
    """
    for width in _WIDTHS:
        start = first // width * width
        count = (last - start) // width + 1
        if count <= _MOST_BINS and width >= least:
            return Bins(start, width, count)
    width = (last - first) // _MOST_BINS + 1
    return Bins(first, width, (last - first) // width + 1)


@dataclass(slots=True)
class Histogram:
    """Rows by bin, and where the numbers come from.

    Attributes
    ----------
    counted, read
        Rows whose bin was known from statistics, so that only their number was asked for; and rows whose times were
        read.
    outside
        Rows without a time, or with one that lies in no bin.
    is_partial
        Whether rows are still being counted.
    """

    column: str
    bins: Bins
    rows: npt.NDArray[np.int64] = field(init=False)
    counted: int = 0
    read: int = 0
    outside: int = 0
    is_partial: bool = True

    def __post_init__(self) -> None:
        self.rows = np.zeros(self.bins.count, np.int64)

    def add_count(self, at: int, rows: int) -> None:
        """Add rows of which only the bin is known."""
        self.rows[at] += rows
        self.counted += rows

    def add_bins(self, bins: npt.NDArray[np.int64]) -> None:
        """Add rows by their bins."""
        self.rows += np.bincount(bins, minlength=self.bins.count)
        self.counted += len(bins)

    def add_times(self, column: pa.Array | pa.ChunkedArray) -> None:
        """Add rows by their times."""
        micros, nulls = times_of(column)
        where = (micros - self.bins.start) // self.bins.width
        inside = (where >= 0) & (where < self.bins.count)
        self.rows += np.bincount(where[inside], minlength=self.bins.count)
        self.read += len(micros) + nulls
        self.outside += nulls + int((~inside).sum())


def times_of(column: pa.Array | pa.ChunkedArray) -> tuple[npt.NDArray[np.int64], int]:
    """Times in microseconds since 1970, and how many nulls there are beside them."""
    kept = column.drop_null()
    micros = kept.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
    return np.asarray(micros.to_numpy(zero_copy_only=False), np.int64), len(column) - len(kept)


@dataclass(frozen=True, slots=True)
class Stretches:
    """Stretches of rows that follow each other, and the bin that all of their times lie in.

    Attributes
    ----------
    starts
        The first row of each stretch.
    bins
        The bin of each stretch; -1 if its times lie in several bins, or are not known.
    stop
        The row after the last.
    """

    starts: npt.NDArray[np.int64]
    bins: npt.NDArray[np.int64]
    stop: int

    @property
    def only_bin(self) -> int | None:
        """The bin of all rows; None if there are several, or some are not known."""
        first = int(self.bins[0]) if len(self.bins) else -1
        return first if first >= 0 and bool((self.bins == first).all()) else None

    @property
    def known_share(self) -> float:
        """The share of the rows whose bin is known."""
        sizes = np.diff(self.starts, append=self.stop)
        return float(sizes[self.bins >= 0].sum() / max(1, sizes.sum()))

    def bins_of(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The bin of each row, -1 if it is not known."""
        return self.bins[np.searchsorted(self.starts, rows, "right") - 1]

    def within(self, start: int, stop: int) -> Stretches:
        """The stretches of some of the rows."""
        first = int(np.searchsorted(self.starts, start, "right")) - 1
        behind = int(np.searchsorted(self.starts, stop, "left"))
        return Stretches(np.maximum(self.starts[first:behind], start), self.bins[first:behind], min(stop, self.stop))

    @classmethod
    def joined(cls, parts: Sequence[tuple[int, Stretches]]) -> Self:
        """Stretches of several shards as those of one table; each comes with the row that its shard begins at."""
        starts = np.concatenate([found.starts + first for first, found in parts])
        last, found = parts[-1]
        return cls(starts, np.concatenate([found.bins for _, found in parts]), last + found.stop)


def stretches_of(snapshot: Snapshot, name: str, column: str, bins: Bins, *, inside: bool) -> Stretches:
    """The rows of a shard by the bins of their times, from statistics.

    `inside` asks stripes and range indexes, too, where the statistics of the shard do not decide.
    """
    facts = snapshot.facts(name)
    whole = bins.of(facts.times) if facts.time_column == column else None
    if whole is not None or not inside or facts.positions <= _FEW_ROWS or facts.time_column != column:
        return _one(whole, facts.positions)
    parts = []
    for stripe in snapshot.shard(name).stripes:
        known = bins.of(bounds_of(stripe[quoted(column)].stats))
        found = _one(known, stripe.num_positions) if known is not None else _ranges(stripe, column, bins)
        parts.append((stripe.first_row, found))
    return Stretches.joined(parts)


def _one(known: int | None, rows: int) -> Stretches:
    return Stretches(np.zeros(1, np.int64), np.array([-1 if known is None else known]), rows)


def _ranges(stripe: Stripe, column: str, bins: Bins) -> Stretches:
    """The rows of a stripe, counted from its first, by the bounds of its range index."""
    try:
        found = stripe[quoted(column)].ranges()
    except AmudaiError:
        return _one(None, stripe.num_positions)  # no range index, or a damaged one: the times are read
    first, last = ((_filled(found[name]) - bins.start) // bins.width for name in ("min", "max"))
    known = (first == last) & (first >= 0) & (first < bins.count) & (found["nulls"].to_numpy() == 0)
    return Stretches(found["first_row"].to_numpy() - stripe.first_row, np.where(known, first, -1), stripe.num_positions)


def _filled(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Times in microseconds since 1970; 0 for a null."""
    micros = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
    return np.asarray(micros.fill_null(0).to_numpy(), np.int64)
