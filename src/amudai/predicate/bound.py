"""The result of `bind`: a tree of `and` and `or` whose leaves know their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import pyarrow as pa

from amudai.frozen import quick_init
from amudai.predicate.tree import Compare, Leaf
from amudai.types import BasicType, NodePath

__all__ = ["LISTS", "Bound", "BoundAlways", "BoundAnd", "BoundLeaf", "BoundOr"]

LISTS: Final = (BasicType.LIST, BasicType.FIXED_SIZE_LIST, BasicType.MAP)


@quick_init
@dataclass(frozen=True, slots=True)
class BoundLeaf:
    """A question about one column, together with the column.

    It is true for a row if `leaf` is true for the row's value or, when `negated`, if `leaf` is false for it. For a null
    `leaf` is neither. If the path leads through a list, `leaf` is true if it is true for any item, and false if it is
    true for none; it is neither only if the list itself is null. A variant of a union is null where another is chosen.

    Attributes
    ----------
    name
        The number of the leaf in the predicate, counted from 1 in reading order; `1+3` for an interval made of leaves 1
        and 3. Unique within a bound predicate, and the same for every schema that the predicate is bound to.
    leaf
        The question. The values of comparisons have been converted to the type of the column.
    nodes
        The nodes from the top-level field down to the values, including the items of lists.
    type
        The Arrow type of the values at the end of the path.
    scalars
        The values of a comparison or `isin`, in the type that dictionaries, runs and extensions wrap.
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

    @property
    def unions(self) -> bool:
        """Whether the path leads through a union, so that a row has a value only where its variant is chosen."""
        return any(node.basic_type is BasicType.UNION for node in self.nodes)

    def __str__(self) -> str:
        shown = f"({self.leaf})" if self.negated and isinstance(self.leaf, Compare) else str(self.leaf)
        return f"~{shown}" if self.negated else shown


@dataclass(frozen=True, slots=True)
class BoundAnd:
    """True if all of two or more terms are true."""

    terms: tuple[Bound, ...]

    def __str__(self) -> str:
        return " & ".join(f"({term})" if _joins(term) else str(term) for term in self.terms)


@dataclass(frozen=True, slots=True)
class BoundOr:
    """True if any of two or more terms is true."""

    terms: tuple[Bound, ...]

    def __str__(self) -> str:
        return " | ".join(f"({term})" if _joins(term) else str(term) for term in self.terms)


@dataclass(frozen=True, slots=True)
class BoundAlways:
    """True for all rows, or for none."""

    value: bool

    def __str__(self) -> str:
        return str(self.value)


Bound: TypeAlias = BoundLeaf | BoundAnd | BoundOr | BoundAlways


def _joins(bound: Bound) -> bool:
    compares = isinstance(bound, BoundLeaf) and isinstance(bound.leaf, Compare) and not bound.negated
    return compares or isinstance(bound, BoundAnd | BoundOr)
