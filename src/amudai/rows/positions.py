"""Yes, maybe and no for each row."""

from __future__ import annotations

from dataclasses import dataclass

from amudai.rows.origin import Origin
from amudai.rows.rows import Rows

__all__ = ["Positions"]


# Not frozen, although nobody changes one: a look-up makes dozens, and a frozen dataclass is slower to create.
@dataclass(slots=True, eq=False)
class Positions:
    """The rows for which a question is true, certainly (`yes`) or possibly (`maybe`). For all other rows it is false.

    `yes` and `maybe` share no row and have the same origin.
    """

    yes: Rows
    maybe: Rows

    @classmethod
    def none(cls, origin: Origin) -> Positions:
        """No row."""
        return cls(Rows.none(origin), Rows.none(origin))

    @classmethod
    def surely(cls, rows: Rows) -> Positions:
        """Yes for `rows`, no for all others."""
        return cls(rows, Rows.none(rows.origin))

    @classmethod
    def perhaps(cls, rows: Rows) -> Positions:
        """Maybe for `rows`, no for all others."""
        return cls(Rows.none(rows.origin), rows)

    @classmethod
    def united(cls, parts: list[Positions], origin: Origin) -> Positions:
        """The combined answer of `parts`, which are answers about different rows."""
        return cls(
            Rows.united([part.yes for part in parts], origin), Rows.united([part.maybe for part in parts], origin)
        )

    @classmethod
    def concatenated(cls, parts: list[Positions], origin: Origin) -> Positions:
        """Like `united`, of answers about rows that ascend from part to part."""
        yes, maybe = [part.yes for part in parts], [part.maybe for part in parts]
        if any(rows.is_bitmap for rows in (*yes, *maybe)):
            return cls.united(parts, origin)
        return cls(Rows.concatenated(yes, origin), Rows.concatenated(maybe, origin))

    @property
    def origin(self) -> Origin:
        """What the rows are counted from."""
        return self.yes.origin

    @property
    def candidates(self) -> Rows:
        """The rows that are not ruled out."""
        return self.yes.unite(self.maybe)

    @property
    def count(self) -> int:
        """How many rows are not ruled out."""
        return self.yes.count + self.maybe.count

    def __bool__(self) -> bool:
        """Whether any row is not ruled out."""
        return bool(self.yes) or bool(self.maybe)

    def unsure(self) -> Positions:
        """The same rows, all of them `maybe`."""
        return Positions.perhaps(self.candidates) if self.yes else self

    def outward(self) -> Positions:
        """The same rows, counted from the parent of their origin."""
        return Positions(self.yes.outward(), self.maybe.outward())

    def counted_from(self, origin: Origin) -> Positions:
        """The same numbers as positions of `origin`: see `Rows.counted_from`."""
        return Positions(self.yes.counted_from(origin), self.maybe.counted_from(origin))

    def within(self, rows: Rows) -> Positions:
        """The answer for `rows` alone: all others are ruled out."""
        yes, maybe = self.yes.intersect(rows), self.maybe.intersect(rows)
        return self if yes is self.yes and maybe is self.maybe else Positions(yes, maybe)

    def refined(self, other: Positions) -> Positions:
        """Combine two answers to the same question. A row is certain or ruled out if either answer says so."""
        if not self.yes:
            return other.within(self.maybe)
        said = other.within(self.candidates)
        return Positions(self.yes.unite(said.yes), said.maybe.subtract(self.yes))

    def __and__(self, other: Positions) -> Positions:
        yes = self.yes.intersect(other.yes)
        if not self.maybe and not other.maybe:
            return Positions.surely(yes)
        return Positions(yes, self.candidates.intersect(other.candidates).subtract(yes))

    def __or__(self, other: Positions) -> Positions:
        yes = self.yes.unite(other.yes)
        return Positions(yes, self.maybe.unite(other.maybe).subtract(yes))
