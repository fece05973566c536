"""A leaf of a predicate, together with the stored columns of a shard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arrow import ArrowFields
from amudai.column import ColumnSource
from amudai.format import FieldDescriptor
from amudai.index import Between
from amudai.lazy import lazy
from amudai.plan.columns import SelectedColumn, select_nodes
from amudai.plan.stored_values import next_number, stored_bytes, stored_number
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
    """

    def __init__(self, leaf: BoundLeaf, shard: ShardReader, fields: ArrowFields) -> None:
        self.leaf = leaf
        self.shard = shard
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
        if isinstance(self.leaf.leaf, IsNull | IsValid) or self.node.is_decimal:
            return None
        codes = self.source(stripe).codes()
        if codes is None:
            return None
        entries = codes.entries
        offsets = entries.offsets
        if offsets is None:
            offsets = np.arange(entries.value_count + 1, dtype=np.uint64) * np.uint64(entries.fixed_value_size)
        from amudai.predicate import evaluate_values  # imports pyarrow.compute, which is slow to import

        found = evaluate_values(self.plain, offsets, np.frombuffer(entries.values, np.uint8))
        if entries.null_id is not None:
            found[entries.null_id] = False
        return found

    # ---- the plain leaf in terms of stored values ----

    @lazy
    def between(self) -> tuple[Between, bool] | None:
        """A range of stored numbers that holds all matches, and whether all of it matches; None if there is none."""
        asked, node = self.plain.leaf, self.node
        if not (node.basic_type in WIDTHS or node.is_decimal):
            return None
        if isinstance(asked, Compare):
            return _between(asked.op, self.plain.scalars[0], node)
        if isinstance(asked, Interval):
            low = _between(asked.low.op, self.plain.scalars[0], node)
            high = _between(asked.high.op, self.plain.scalars[1], node)
            if low is not None and high is not None:
                return Between(low[0].low, high[0].high), low[1] and high[1]
        return None

    @lazy
    def terms(self) -> list[Alternative]:
        """The ways to ask a term index, best first."""
        return term_questions(self.plain)

    @lazy
    def keys(self) -> tuple[bytes, ...] | None:
        """The stored bytes of all values that match; None if the leaf is not about single values."""
        plain = self.plain.leaf
        if not (isinstance(plain, IsIn) or (isinstance(plain, Compare) and plain.op == "==")):
            return None
        found = [stored_bytes(scalar, self.node) for scalar in self.plain.scalars]
        if any(each is None for each in found):
            return None
        return tuple(key for keys in found if keys is not None for key in keys)


def _between(op: str, scalar: pa.Scalar, node: SchemaNode) -> tuple[Between, bool] | None:
    found = stored_number(scalar, node)
    if found is None:
        return None
    low, high = found
    match op:
        case "==":
            return Between(high, low), True
        case "<=":
            return Between(None, low), True
        case ">=":
            return Between(high, None), True
        case "<":
            before = next_number(low, node, -1) if low == high else low
            return (Between(None, low), False) if before is None else (Between(None, before), True)
        case ">":
            behind = next_number(high, node, 1) if low == high else high
            return (Between(high, None), False) if behind is None else (Between(behind, None), True)
    return None
