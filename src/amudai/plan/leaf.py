"""A leaf of a predicate, together with the stored columns of a shard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from amudai.arrow import ArrowFields
from amudai.column import ColumnSource, constant_of
from amudai.format import FieldDescriptor, ValueDictionary
from amudai.index import IndexQuestion
from amudai.lazy import lazy
from amudai.plan.columns import SelectedColumn, select_nodes
from amudai.plan.plain_leaf import PlainLeaf
from amudai.plan.stripes import rows_by_stripe
from amudai.plan.unusable import UnusableIndexes
from amudai.predicate import LISTS, BoundLeaf, Compare, IsIn, IsNull, IsValid, Matches, Text, match_texts
from amudai.rows import Rows
from amudai.shard import ShardReader, StripeReader
from amudai.types import SchemaNode

__all__ = ["LeafQuestion"]

Bools: TypeAlias = npt.NDArray[np.bool_]


class LeafQuestion(PlainLeaf):
    """A leaf that is asked about the rows of a shard.

    Attributes
    ----------
    unusable
        Where it is noted that an index cannot be used.
    """

    def __init__(
        self, leaf: BoundLeaf, shard: ShardReader, fields: ArrowFields, unusable: UnusableIndexes | None = None
    ) -> None:
        super().__init__(leaf)
        self.shard = shard
        self.unusable = UnusableIndexes() if unusable is None else unusable
        self._fields = fields
        self._codes: dict[int, Bools | None] = {}

    @lazy
    def nanoseconds(self) -> SchemaNode | None:
        """The field with the nanoseconds after the ticks of the column; None if ticks say everything."""
        return self.column.projection.nanoseconds if self.node.is_ticks and len(self.leaf.nodes) == 1 else None

    @lazy
    def asked(self) -> IndexQuestion | None:
        """The plain leaf as a question to indexes of other packages; None if they cannot be asked.

        They know one value of each row, and times without the nanoseconds after ticks.
        """
        if self.nanoseconds is not None:
            return None
        values = tuple(scalar.as_py() for scalar in self.plain.scalars)
        match self.plain.leaf:
            case Compare(_, op, _):
                return IndexQuestion(op, values)
            case IsIn():
                return IndexQuestion("in", values)
            case Text(_, op, text, case_sensitive):
                return IndexQuestion(op, (text,), case_sensitive)
            case Matches(_, pattern):
                return IndexQuestion("matches", (pattern,))
        return None

    @property
    def is_rounded(self) -> bool:
        """Whether the nanoseconds after the ticks of the column are in another field."""
        return self.nanoseconds is not None

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
        return rows_by_stripe(self.shard, rows)

    def codes(self, stripe: StripeReader) -> Bools | None:
        """For each entry of the stripe's dictionary, whether the plain leaf is true; None if there is no dictionary."""
        if stripe.ordinal not in self._codes:
            self._codes[stripe.ordinal] = self._evaluated_entries(stripe)
        return self._codes[stripe.ordinal]

    def _evaluated_entries(self, stripe: StripeReader) -> Bools | None:
        if isinstance(self.leaf.leaf, IsNull | IsValid) or (self.node.is_decimal and self.decimals is None):
            return None
        if self.node.is_json_bytes:
            return None  # entries may be no JSON, which reading them notices
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
        if isinstance(self.plain.leaf, Text):
            asked = self.plain.leaf
            return match_texts(offsets, values, asked.text, asked.op, asked.case_sensitive)
        from amudai.predicate import evaluate_values  # indexes and blocks decide most questions without it

        return evaluate_values(self.plain, offsets, values)
