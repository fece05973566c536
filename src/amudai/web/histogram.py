"""How many rows there are in each stretch of time, from statistics and indexes where they decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.web.folder import Snapshot, TimeBounds, bounds_of, quoted

__all__ = ["Bins", "Histogram", "RowPiece", "bins_between", "pieces_of", "times_of"]

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
# A piece of at most so many rows is searched at a time: after each, a query can be stopped.
_PIECE_ROWS: Final = 1 << 20


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


def bins_between(first: int, last: int) -> Bins:
    """At most 80 bins that hold all times from `first` to `last`.

    >>> bins_between(0, 3_600_000_000)
    Bins(start=0, width=60000000, count=61)
    >>> bins_between(5, 5)
    Bins(start=0, width=1000, count=1)
    """
    for width in _WIDTHS:
        start = first // width * width
        count = (last - start) // width + 1
        if count <= _MOST_BINS:
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
class RowPiece:
    """Rows of a table, by their numbers, and the bin that all of their times lie in, if there is one."""

    start: int
    stop: int
    bin: int | None


def pieces_of(snapshot: Snapshot, scope: str, column: str | None, bins: Bins | None) -> list[RowPiece]:
    """The rows of a table in pieces: as long as a piece may be, but each in one bin where statistics allow it."""
    found: list[RowPiece] = []
    for piece in _small(snapshot, scope, column, bins):
        last = found[-1] if found else None
        if last is not None and last.bin == piece.bin and piece.stop - last.start <= _PIECE_ROWS:
            found[-1] = RowPiece(last.start, piece.stop, piece.bin)
        else:
            found.append(piece)
    return found


def _small(snapshot: Snapshot, scope: str, column: str | None, bins: Bins | None) -> Iterator[RowPiece]:
    first = 0
    for facts in snapshot.readable(scope):
        whole = None if bins is None or facts.time_column != column else bins.of(facts.times)
        if whole is not None or facts.stripes <= 1 or bins is None or column is None:
            yield from _cut(first, first + facts.positions, whole)
        else:
            shard = snapshot.shard(facts.name)
            for stripe in shard.stripes:
                known = bins.of(bounds_of(stripe[quoted(column)].stats)) if facts.time_column == column else None
                yield from _cut(first + stripe.first_row, first + stripe.first_row + stripe.num_positions, known)
        first += facts.positions


def _cut(start: int, stop: int, known: int | None) -> Sequence[RowPiece]:
    return [RowPiece(at, min(stop, at + _PIECE_ROWS), known) for at in range(start, stop, _PIECE_ROWS)]
