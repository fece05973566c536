"""A leaf of a predicate in terms of stored values, without its negation."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pyarrow as pa

from amudai.encoding import DecimalRanges
from amudai.lazy import lazy
from amudai.plan.byte_range import ByteRange
from amudai.plan.matching_numbers import MatchingNumbers, matching_decimals, matching_numbers, matching_ticks
from amudai.plan.stored_values import stored_bytes
from amudai.predicate import Alternative, BoundLeaf, Compare, Interval, IsIn, term_questions
from amudai.types import WIDTHS, BasicType, SchemaNode

__all__ = ["PlainLeaf"]


class PlainLeaf:
    """A leaf, and the *plain* leaf: without its negation, and with `==` instead of `!=`.

    Evidence answers for the plain leaf. If `inverted`, the wanted rows are those for which the plain leaf is false.
    """

    def __init__(self, leaf: BoundLeaf) -> None:
        self.leaf = leaf

    @property
    def name(self) -> str:
        """The name of the leaf, unique in its predicate."""
        return self.leaf.name

    @lazy
    def inverted(self) -> bool:
        """Whether the wanted rows are those for which the plain leaf is false."""
        return self.leaf.negated != (isinstance(self.leaf.leaf, Compare) and self.leaf.leaf.op == "!=")

    @lazy
    def plain(self) -> BoundLeaf:
        """The leaf without its negation."""
        plain = self.leaf.leaf
        if isinstance(plain, Compare) and plain.op == "!=":
            plain = replace(plain, op="==")
        is_same = plain is self.leaf.leaf and not self.leaf.negated
        return self.leaf if is_same else replace(self.leaf, leaf=plain, negated=False)

    @property
    def node(self) -> SchemaNode:
        """The field that holds the values."""
        return self.leaf.nodes[-1]

    @lazy
    def is_single(self) -> bool:
        """Whether each row has exactly one slot, because there is no list and no union on the path."""
        return not self.leaf.lists and not self.leaf.unions

    @property
    def is_rounded(self) -> bool:
        """Whether stored times may be rounded down, because their nanoseconds can be in another field."""
        return self.node.is_ticks

    # ---- the plain leaf in terms of stored values ----

    @lazy
    def between(self) -> MatchingNumbers | None:
        """The stored numbers for which the plain leaf is true or may be; None if they are not a range."""
        asked, node = self.plain.leaf, self.node
        if not (node.basic_type in WIDTHS or node.is_decimal or self.is_wide):
            return None
        if isinstance(asked, Compare):
            return self._matching(asked.op, self.plain.scalars[0])
        if isinstance(asked, Interval):
            low = self._matching(asked.low.op, self.plain.scalars[0])
            high = self._matching(asked.high.op, self.plain.scalars[1])
            if low is not None and high is not None:
                return low.up_to(high)
        return None

    @lazy
    def is_wide(self) -> bool:
        """Whether the leaf is about decimals of more than 34 digits, which are stored as Arrow has them."""
        is_raw = self.node.basic_type is BasicType.FIXED_SIZE_BINARY and not self.node.is_decimal
        scalars = self.plain.scalars
        return is_raw and bool(scalars) and all(pa.types.is_decimal(scalar.type) for scalar in scalars)

    @lazy
    def byte_range(self) -> ByteRange | None:
        """The stored texts or bytes for which the plain leaf can be true; None if they are not a range."""
        return ByteRange.of(self.plain, self.node)

    def _matching(self, op: str, scalar: pa.Scalar) -> MatchingNumbers | None:
        if self.is_rounded:
            return matching_ticks(op, scalar, self.node)
        if self.is_wide:
            return matching_decimals(op, scalar.as_py())
        return matching_numbers(op, scalar, self.node)

    @lazy
    def decimals(self) -> DecimalRanges | None:
        """The stored decimals that match; None for leaves and columns of other kinds."""
        if not self.node.is_decimal or not all(pa.types.is_decimal(scalar.type) for scalar in self.plain.scalars):
            return None
        if isinstance(self.plain.leaf, IsIn):
            members = [scalar.as_py() for scalar in self.plain.scalars]
            return DecimalRanges.of([(member, member) for member in members])
        if self.between is None or not self.between.is_exact:
            return None
        asked = self.between.possible
        low, high = (None if end is None else Decimal(end) for end in (asked.low, asked.high))
        return DecimalRanges.of([(low, high)])

    @lazy
    def terms(self) -> list[Alternative]:
        """The ways to ask a term index, best first."""
        return term_questions(self.plain)

    @lazy
    def keys(self) -> tuple[bytes, ...] | None:
        """The stored bytes of all values that match; None if the leaf is not about single values.

        If the column has nanoseconds after its ticks, other values have the same bytes.
        """
        plain = self.plain.leaf
        if not (isinstance(plain, IsIn) or (isinstance(plain, Compare) and plain.op == "==")):
            return None
        rounded = self.is_rounded
        found = [stored_bytes(scalar, self.node, rounded=rounded) for scalar in self.plain.scalars]
        if any(each is None for each in found):
            return None
        return tuple(key for keys in found if keys is not None for key in keys)
