"""What comes out of a field?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from amudai.encoding import Values
from amudai.format import AnyValue

__all__ = ["Absent", "Column", "Constant", "Joined", "Stored"]


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """Decoded values of one field, and of the fields below it."""

    values: Values
    children: tuple[Column, ...] = ()

    @property
    def length(self) -> int:
        """How many positions."""
        return self.values.length


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """One value for every position."""

    length: int
    value: AnyValue


@dataclass(frozen=True, slots=True, eq=False)
class Absent:
    """Nothing is stored: every position is null."""

    length: int


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Parts that follow each other."""

    parts: tuple[Column, ...]

    @property
    def length(self) -> int:
        """How many positions."""
        return sum(part.length for part in self.parts)


Column: TypeAlias = Stored | Constant | Absent | Joined
