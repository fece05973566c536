"""A leaf of a predicate, together with the stored columns of a shard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arrow import ArrowFields
from amudai.column import ColumnSource, constant_of
from amudai.encoding import DecimalRanges
from amudai.format import FieldDescriptor, ValueDictionary
from amudai.lazy import lazy
from amudai.plan.byte_range import ByteRange
from amudai.plan.columns import SelectedColumn, select_nodes
from amudai.plan.matching_numbers import MatchingNumbers, matching_numbers, matching_ticks
from amudai.plan.stored_values import stored_bytes
from amudai.plan.unusable import UnusableIndexes
from amudai.predicate import (
    LISTS,
    Alternative,
    BoundLeaf,
    Compare,
    Interval,
    IsIn,
    IsNull,
    IsValid,
    term_questions,
)
from amudai.rows import Rows
from amudai.shard import ShardReader, StripeReader
from amudai.types import WIDTHS, SchemaNode

__all__ = ["LeafQuestion"]

Bools: TypeAlias = npt.NDArray[np.bool_]


class LeafQuestion:
    """A leaf that is asked about the rows of a shard.

    Evidence answers for the *plain* leaf: the leaf without its negation, and with `==` instead of `!=`. If `inverted`,
    the wanted rows are those for which the plain leaf is false.

    Attributes
    ----------
    unusable
        Where it is noted that an index cannot be used.
    """

    def __init__(
        self, leaf: BoundLeaf, shard: ShardReader, fields: ArrowFields, unusable: UnusableIndexes | None = None
    ) -> None:
        self.leaf = leaf
        self.shard = shard
        self.unusable = UnusableIndexes() if unusable is None else unusable
        self._fields = fields
        self._codes: dict[int, Bools | None] = {}

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
        """Whether each row has exactly one slot, because there is no list on the path."""
        return not self.leaf.lists

    @lazy
    def nanoseconds(self) -> SchemaNode | None:
        """The field with the nanoseconds after the ticks of the column; None if ticks say everything."""
        return self.column.projection.nanoseconds if self.node.is_ticks and len(self.leaf.nodes) == 1 else None

    @lazy
    def column(self) -> SelectedColumn:
        """The column to read to answer the leaf."""
        return select_nodes(self._fields, self.leaf.nodes)

    def source(self, stripe: StripeReader) -> ColumnSource:
        """The stored values in one stripe."""
        return stripe.column_at(self.leaf.nodes)

    def descriptor(self, stripe: StripeReader) -> FieldDescriptor | None:
        """The descriptor of the field in one stripe; None if the stripe has no values of it."""
        found = stripe.descriptor(self.node)
        return None if found is None else found.field

    def is_solid(self, stripe: StripeReader) -> bool:
        """Whether the leaf is true or false for each row of the stripe, because no value is null."""
        if isinstance(self.leaf.leaf, IsNull | IsValid):
            return self.is_single
        stripe.prepare(self.leaf.nodes)
        for node in self.leaf.nodes:
            found = stripe.descriptor(node)
            if found is None or found.field.null_count != 0:
                return False
            if node.basic_type in LISTS:
                return True  # for a list that is not null the leaf is true or false, whatever the list holds
        return True

    def is_constant(self, stripe: StripeReader) -> bool:
        """Whether all positions of the field have the same value in a stripe, according to its descriptor."""
        field = self.descriptor(stripe)
        if field is None or constant_of(self.node, field) is None:
            return False
        if self.nanoseconds is None:
            return True
        after = stripe.descriptor(self.nanoseconds)
        return after is None or constant_of(self.nanoseconds, after.field) is not None

    def stripes(self, rows: Rows) -> Iterator[tuple[StripeReader, Rows]]:
        """The stripes that hold some of `rows`, each with its part of `rows`, counted from the start of the shard."""
        for stripe in self.shard.stripes:
            mine = rows.intersect(stripe.extent)
            if mine:
                yield stripe, mine

    def codes(self, stripe: StripeReader) -> Bools | None:
        """For each entry of the stripe's dictionary, whether the plain leaf is true; None if there is no dictionary."""
        if stripe.ordinal not in self._codes:
            self._codes[stripe.ordinal] = self._evaluated_entries(stripe)
        return self._codes[stripe.ordinal]

    def _evaluated_entries(self, stripe: StripeReader) -> Bools | None:
        if isinstance(self.leaf.leaf, IsNull | IsValid) or (self.node.is_decimal and self.decimals is None):
            return None
        codes = self.source(stripe).codes()
        if codes is None:
            return None
        found = self._evaluated(codes.entries)
        if codes.entries.null_id is not None:
            found[codes.entries.null_id] = False
        return found

    def _evaluated(self, entries: ValueDictionary) -> Bools:
        values = np.frombuffer(entries.values, np.uint8)
        if self.decimals is not None:
            return self.decimals.hold(values)
        offsets = entries.offsets
        if offsets is None:
            offsets = np.arange(entries.value_count + 1, dtype=np.uint64) * np.uint64(entries.fixed_value_size)
        from amudai.predicate import evaluate_values  # imports pyarrow.compute, which is slow to import

        return evaluate_values(self.plain, offsets, values)

    # ---- the plain leaf in terms of stored values ----

    @lazy
    def between(self) -> MatchingNumbers | None:
        """The stored numbers for which the plain leaf is true or may be; None if they are not a range."""
        asked, node = self.plain.leaf, self.node
        if not (node.basic_type in WIDTHS or node.is_decimal):
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
    def byte_range(self) -> ByteRange | None:
        """The stored texts or bytes for which the plain leaf can be true; None if they are not a range."""
        return ByteRange.of(self.plain, self.node)

    def _matching(self, op: str, scalar: pa.Scalar) -> MatchingNumbers | None:
        if self.nanoseconds is not None:
            return matching_ticks(op, scalar, self.node)
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
        rounded = self.nanoseconds is not None
        found = [stored_bytes(scalar, self.node, rounded=rounded) for scalar in self.plain.scalars]
        if any(each is None for each in found):
            return None
        return tuple(key for keys in found if keys is not None for key in keys)
