"""Which rows of a damaged shard can still be read, column by column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai.column import ColumnSource
from amudai.errors import AmudaiError, LimitExceeded, located
from amudai.plan import SelectedColumn, read_arrays
from amudai.rows import Rows
from amudai.shard import ShardReader, StripeReader
from amudai.types import BasicType

__all__ = ["LostRows", "SoundRows", "sound_rows"]

_PART: Final = 1 << 17  # rows that are read at a time while nothing is damaged


@dataclass(frozen=True, slots=True)
class LostRows:
    """Rows that cannot be read.

    Attributes
    ----------
    column
        The column whose values are damaged; None if nothing of the rows can be read.
    stripe
        The stripe of the rows.
    first, end
        The position of the first row, and the position after the last one.
    reason
        The error that reading the rows raised.

    Examples
    --------
    >>> print(amudai.LostRows("text", 0, 1024, 2048, "block checksum: expected 1, found 2"))
    text, stripe 0, rows 1024..2048: block checksum: expected 1, found 2
    """

    column: str | None
    stripe: int
    first: int
    end: int
    reason: str

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self.end - self.first

    def __str__(self) -> str:
        what = "all columns" if self.column is None else self.column
        return f"{what}, stripe {self.stripe}, rows {self.first}..{self.end}: {self.reason}"


@dataclass(frozen=True, slots=True, eq=False)
class SoundRows:
    """What can be read of a stripe.

    Attributes
    ----------
    stripe
        The stripe.
    visible
        The rows that are not deleted, counted from the start of the stripe. No rows if nothing tells which are deleted.
    columns
        The rows of each requested column that can be read, counted from the start of the stripe.
    lost
        The visible rows that cannot be read, by column.
    """

    stripe: StripeReader
    visible: Rows
    columns: tuple[Rows, ...]
    lost: tuple[LostRows, ...]


def sound_rows(shard: ShardReader, stripe: StripeReader, columns: Sequence[SelectedColumn]) -> SoundRows:
    """Read the columns of a stripe, and find the rows that can be read. Reading them again succeeds."""
    try:
        visible = Rows.all(stripe.origin).subtract(shard.deleted_in(stripe).inward(stripe.origin))
    except AmudaiError as error:
        # Nothing tells which rows are deleted, and deleted rows must not come back.
        nothing = Rows.none(stripe.origin)
        everything = LostRows(None, stripe.ordinal, stripe.first_row, stripe.end_row, error.message)
        return SoundRows(stripe, nothing, (nothing,) * len(columns), (everything,))
    found: list[Rows] = []
    lost: list[LostRows] = []
    for column in columns:
        damaged = list(_damaged(stripe, column, visible))
        rows = Rows.united([each for each, _ in damaged], stripe.origin)
        found.append(visible.subtract(rows))
        lost += _described(stripe, column, damaged)
    return SoundRows(stripe, visible, tuple(found), tuple(lost))


def _damaged(stripe: StripeReader, column: SelectedColumn, visible: Rows) -> Iterator[tuple[Rows, str]]:
    """The rows of a column that cannot be read, and why."""
    try:
        cuts, is_flat = _cuts(stripe, column)
    except AmudaiError as error:
        yield visible, error.message
        return
    for part in visible.each_part(_PART) if visible else ():
        if _error(stripe, column, part) is None:
            continue
        low, high = int(part.starts[0]), int(part.ends[-1])
        inside = cuts[(cuts > low) & (cuts < high)].tolist()
        for start, end in pairwise([low, *inside, high]):
            yield from _damaged_within(stripe, column, part.clip(start, end), is_flat)


def _damaged_within(
    stripe: StripeReader, column: SelectedColumn, rows: Rows, is_flat: bool
) -> Iterator[tuple[Rows, str]]:
    """The rows between two cuts that cannot be read. All of them if they share their blocks, some of them otherwise."""
    if not rows:
        return
    reason = _error(stripe, column, rows)
    if reason is None:
        return
    if is_flat or rows.count == 1:
        yield rows, reason
        return
    for half in rows.parts((rows.count + 1) // 2):
        yield from _damaged_within(stripe, column, half, is_flat)


def _cuts(stripe: StripeReader, column: SelectedColumn) -> tuple[npt.NDArray[np.uint64], bool]:
    """The rows at which blocks of a column begin, and whether all its blocks hold rows, not items of lists."""
    tops = [stripe.column(top) for top in column.projection.columns()]
    sources = [source for top in tops for source in _of_rows(top)]
    cuts = np.unique(np.concatenate([source.block_starts() for source in sources]))
    return cuts, all(not source.node.children or source.node.basic_type is BasicType.STRUCT for source in sources)


def _of_rows(source: ColumnSource) -> Iterator[ColumnSource]:
    """A column, and the columns below it that have a position for each of its rows."""
    yield source
    if source.node.basic_type is BasicType.STRUCT and not source.is_absent:
        for child in source.children():
            yield from _of_rows(child)


def _error(stripe: StripeReader, column: SelectedColumn, rows: Rows) -> str | None:
    """Why rows cannot be read; None if they can."""
    try:
        with located(url=stripe.url):
            read_arrays(stripe, column, rows)
    except AmudaiError as error:
        return error.message
    except RecursionError:
        return LimitExceeded("values: expected fewer levels, found too many").message
    return None


def _described(stripe: StripeReader, column: SelectedColumn, damaged: Sequence[tuple[Rows, str]]) -> list[LostRows]:
    """Damaged rows as ranges of positions. Neighbours with the same reason are one range."""
    found: list[LostRows] = []
    for rows, reason in damaged:
        for start, end in zip(rows.starts.tolist(), rows.ends.tolist(), strict=True):
            first, last = stripe.first_row + start, stripe.first_row + end
            if found and found[-1].end == first and found[-1].reason == reason:
                first = found.pop().first
            found.append(LostRows(column.path, stripe.ordinal, first, last, reason))
    return found
