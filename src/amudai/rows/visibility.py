"""Which rows of a shard are live."""

from __future__ import annotations

from dataclasses import dataclass

from amudai.rows.origin import Origin
from amudai.rows.positions import Positions
from amudai.rows.rows import Rows

__all__ = ["Visibility"]


@dataclass(frozen=True, slots=True, eq=False)
class Visibility:
    """The rows that were not deleted. Deleting hides rows; the positions of the other rows do not change.

    Attributes
    ----------
    deleted
        The deleted rows; None if nothing is deleted.

    Examples
    --------
    >>> shard = Origin("shard", "a", 10)
    >>> Visibility(shard, Rows.one(2, 5, shard)).of(Positions.surely(Rows.all(shard))).count
    7
    """

    origin: Origin
    deleted: Rows | None = None

    def of(self, positions: Positions) -> Positions:
        """The live rows among `positions`."""
        if self.deleted is None:
            return positions
        return Positions(positions.yes.subtract(self.deleted), positions.maybe.subtract(self.deleted))
