"""The values that a column source returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from amudai.encoding import Values
from amudai.format import AnyValue
from amudai.frozen import quick_init

__all__ = [
    "AbsentValues",
    "ArrowValues",
    "ColumnValues",
    "ConstantValues",
    "CountedValues",
    "JoinedValues",
    "StoredValues",
    "TimeValues",
    "ViewedValues",
]


@quick_init
@dataclass(frozen=True, slots=True, eq=False)
class StoredValues:
    """Decoded values of one column, and of the columns below it."""

    values: Values
    children: tuple[ColumnValues, ...] = ()

    @property
    def length(self) -> int:
        """How many positions."""
        return self.values.length


@dataclass(frozen=True, slots=True, eq=False)
class CountedValues:
    """Times that are already counted in the unit of their projection, or decimals in its form."""

    values: Values

    @property
    def length(self) -> int:
        """How many positions."""
        return self.values.length


@dataclass(frozen=True, slots=True, eq=False)
class ViewedValues:
    """Strings or binary values as Arrow's views: `values` has the views, `entries` the bytes of long values."""

    values: Values
    entries: pa.Buffer

    @property
    def length(self) -> int:
        """How many positions."""
        return self.values.length


@dataclass(frozen=True, slots=True, eq=False)
class ConstantValues:
    """One value for every position."""

    length: int
    value: AnyValue


@dataclass(frozen=True, slots=True, eq=False)
class AbsentValues:
    """Nothing is stored: every position is null."""

    length: int


@dataclass(frozen=True, slots=True, eq=False)
class JoinedValues:
    """The values of several parts, one after the other."""

    parts: tuple[ColumnValues, ...]

    @property
    def length(self) -> int:
        """How many positions."""
        return sum(part.length for part in self.parts)


@dataclass(frozen=True, slots=True, eq=False)
class ArrowValues:
    """Values that another format gave as an Arrow array, in a type of its own."""

    array: pa.Array

    @property
    def length(self) -> int:
        """How many positions."""
        return len(self.array)


@dataclass(frozen=True, slots=True, eq=False)
class TimeValues:
    """Times in two columns: their ticks, and the nanoseconds by which they are after the ticks."""

    ticks: ColumnValues
    nanoseconds: ColumnValues

    @property
    def length(self) -> int:
        """How many positions."""
        return self.ticks.length


ColumnValues: TypeAlias = (
    StoredValues
    | CountedValues
    | ViewedValues
    | ConstantValues
    | AbsentValues
    | JoinedValues
    | ArrowValues
    | TimeValues
)
