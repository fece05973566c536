"""The tree that `bind` makes of a predicate: leaves with the columns they are about, under `and` and `or`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import pyarrow as pa

from amudai.predicate.tree import Compare, Leaf
from amudai.types import BasicType, NodePath

__all__ = ["LISTS", "Bound", "BoundAlways", "BoundAnd", "BoundLeaf", "BoundOr"]

LISTS: Final = (BasicType.LIST, BasicType.FIXED_SIZE_LIST, BasicType.MAP)


@dataclass(frozen=True, slots=True)
class BoundLeaf:
    """A question about one column, with the column it is about.

    It is true for a row whose value makes `leaf` true or, where it is `negated`, false: a null does neither. A path
    through a list asks about all items of a row: `leaf` is true where any of them makes it true and false where none
    does; only a list that is null itself leaves it open.

    Attributes
    ----------
    name
        The number of the leaf in the predicate, counted from 1 in reading order; `1+3` for an interval made of leaves 1
        and 3. Unique within a bound predicate, and the same for every schema that the predicate is bound to.
    leaf
        The question; comparisons are those that the column's type can hold.
    nodes
        From the top-level field down to the values, items of lists included.
    type
        The Arrow type of the values at the end of the path.
    scalars
        The values of a comparison or `isin`, of the type behind dictionaries, runs and extensions.
    """

    name: str
    leaf: Leaf
    negated: bool
    nodes: NodePath
    type: pa.DataType
    scalars: tuple[pa.Scalar, ...] = ()

    @property
    def lists(self) -> bool:
        """Whether the path leads through a list, so that a row may have many values or none."""
        return any(node.basic_type in LISTS for node in self.nodes[:-1])

    def __str__(self) -> str:
        shown = f"({self.leaf})" if self.negated and isinstance(self.leaf, Compare) else str(self.leaf)
        return f"~{shown}" if self.negated else shown


@dataclass(frozen=True, slots=True)
class BoundAnd:
    """All of two or more terms."""

    terms: tuple[Bound, ...]

    def __str__(self) -> str:
        return " & ".join(f"({term})" if _joins(term) else str(term) for term in self.terms)


@dataclass(frozen=True, slots=True)
class BoundOr:
    """Any of two or more terms."""

    terms: tuple[Bound, ...]

    def __str__(self) -> str:
        return " | ".join(f"({term})" if _joins(term) else str(term) for term in self.terms)


@dataclass(frozen=True, slots=True)
class BoundAlways:
    """All rows, or none."""

    value: bool

    def __str__(self) -> str:
        return str(self.value)


Bound: TypeAlias = BoundLeaf | BoundAnd | BoundOr | BoundAlways


def _joins(bound: Bound) -> bool:
    compares = isinstance(bound, BoundLeaf) and isinstance(bound.leaf, Compare) and not bound.negated
    return compares or isinstance(bound, BoundAnd | BoundOr)
