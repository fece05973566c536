"""Which rows of a shard are live."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from amudai.frozen import quick_init
from amudai.rows.origin import Origin
from amudai.rows.positions import Positions
from amudai.rows.rows import Rows

__all__ = ["Visibility"]


@quick_init
@dataclass(frozen=True, slots=True, eq=False)
class Visibility:
    """The rows that were not deleted. Deleting hides rows; the positions of the other rows do not change.

    Attributes
    ----------
    deleted
        Returns the deleted rows among the rows that it is given, and perhaps others; None if nothing is deleted. Only
        the stripes that hold some of these rows need be looked at.
    deleted_count
        Returns how many rows are deleted in all, if that is known without looking at them; None otherwise.

    Examples
    --------
    >>> shard = Origin("shard", "a", 10)
    >>> gone = Rows.one(2, 5, shard)
    >>> Visibility(shard, lambda rows: gone).of(Positions.surely(Rows.all(shard))).count
    7
    >>> Visibility(shard, lambda rows: gone).count(Rows.one(0, 4, shard))
    2
    """

    origin: Origin
    deleted: Callable[[Rows], Rows] | None = None
    deleted_count: Callable[[], int | None] = lambda: None

    def of(self, positions: Positions) -> Positions:
        """The live rows among `positions`."""
        if self.deleted is None or not positions:
            return positions
        deleted = self.deleted(positions.candidates)
        return Positions(positions.yes.subtract(deleted), positions.maybe.subtract(deleted))

    def count(self, rows: Rows) -> int:
        """How many of `rows` are live."""
        count = rows.count
        if self.deleted is None or not count:
            return count
        known = self.deleted_count() if count == self.origin.size else None
        return count - (rows.count_common(self.deleted(rows)) if known is None else known)
