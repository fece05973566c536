"""Which rows, and how surely?"""

from __future__ import annotations

from dataclasses import dataclass

from amudai.encoding import Ranges

__all__ = ["Positions"]


@dataclass(slots=True, eq=False)
class Positions:
    """The rows for which a question is true: surely (`yes`), perhaps (`maybe`), and for no other.

    The two share no row. Rows count from the first one of the shard.
    """

    yes: Ranges
    maybe: Ranges

    @classmethod
    def none(cls) -> Positions:
        """No row."""
        return cls(Ranges.one(0, 0), Ranges.one(0, 0))

    @classmethod
    def surely(cls, rows: Ranges) -> Positions:
        """These rows and no other."""
        return cls(rows, Ranges.one(0, 0))

    @classmethod
    def perhaps(cls, rows: Ranges) -> Positions:
        """No row but these."""
        return cls(Ranges.one(0, 0), rows)

    @property
    def candidates(self) -> Ranges:
        """The rows that are not ruled out."""
        return self.yes.unite(self.maybe)

    @property
    def count(self) -> int:
        """How many rows are not ruled out."""
        return self.yes.count + self.maybe.count

    @property
    def is_empty(self) -> bool:
        """Whether all rows are ruled out."""
        return not len(self.yes) and not len(self.maybe)

    def unsure(self) -> Positions:
        """The same rows, none of them surely."""
        return Positions.perhaps(self.candidates) if len(self.yes) else self

    def shifted(self, by: int) -> Positions:
        """The same, counted from another row."""
        return Positions(self.yes.shifted(by), self.maybe.shifted(by))

    def within(self, rows: Ranges) -> Positions:
        """The same for these rows, and none of the others."""
        return Positions(self.yes.intersect(rows), self.maybe.intersect(rows))

    def refined(self, other: Positions) -> Positions:
        """What both say of the same question: sure where one is, ruled out where one rules it out."""
        said = other.within(self.candidates)
        return Positions(self.yes.unite(said.yes), said.maybe.subtract(self.yes))

    def __and__(self, other: Positions) -> Positions:
        yes = self.yes.intersect(other.yes)
        if not len(self.maybe) and not len(other.maybe):
            return Positions.surely(yes)
        return Positions(yes, self.candidates.intersect(other.candidates).subtract(yes))

    def __or__(self, other: Positions) -> Positions:
        yes = self.yes.unite(other.yes)
        return Positions(yes, self.maybe.unite(other.maybe).subtract(yes))
