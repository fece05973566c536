"""For which rows is a predicate true, when their values are read?"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Final

from amudai.encoding import Wanted
from amudai.predicate import Bound, BoundAlways, BoundAnd, BoundLeaf, BoundOr, evaluate
from amudai.rows import Rows
from amudai.scan.execute import read_rows
from amudai.scan.prune import Known
from amudai.scan.wanted import wanted_values
from amudai.shard import StripeReader
from amudai.types import BYTES, CONTAINERS, WIDTHS

__all__ = ["Checker"]

# What it costs to read and compare a value, roughly, in those of a number.
_NUMBER, _CODE, _BYTES, _LIST = 1, 1, 8, 16
# A code is looked up faster than a value is compared, once there are as many rows as this part of the entries.
_ROWS_OF_ENTRIES: Final = 8


class Checker:
    """Reads the columns of a predicate for the rows that evidence has left in doubt."""

    def __init__(self, bound: Bound, known: Mapping[int, Known]) -> None:
        self._bound = bound
        self._known = known
        self._lock = Lock()
        self._wanted: dict[int, Wanted | None] = {}
        self.checked: dict[int, int] = {}

    def true_rows(self, stripe: StripeReader, rows: Rows) -> Rows:
        """Of these rows of one stripe those for which the predicate is true."""
        return self._true(self._bound, stripe, rows)

    def _true(self, bound: Bound, stripe: StripeReader, rows: Rows) -> Rows:
        if not rows:
            return rows
        match bound:
            case BoundAlways(value):
                return rows if value else Rows.none(rows.origin)
            case BoundAnd(terms):
                for term in sorted(terms, key=lambda term: self._effort(term, stripe)):
                    rows = self._true(term, stripe, rows)
                return rows
            case BoundOr(terms):
                found = Rows.none(rows.origin)
                for term in sorted(terms, key=lambda term: self._effort(term, stripe)):
                    found = found.unite(self._true(term, stripe, rows.subtract(found)))
                return found
            case BoundLeaf():
                return self._leaf(bound, stripe, rows)

    def _leaf(self, leaf: BoundLeaf, stripe: StripeReader, rows: Rows) -> Rows:
        known = self._known.get(id(leaf))
        if known is None:
            return Rows.none(rows.origin)  # never asked: the leaves before it had left no row
        doubtful = rows.intersect(known.positions.maybe)
        found = rows.intersect(known.positions.yes)
        if not doubtful:
            return found
        with self._lock:
            self.checked[id(leaf)] = self.checked.get(id(leaf), 0) + doubtful.count
            if id(leaf) not in self._wanted:
                self._wanted[id(leaf)] = wanted_values(known.facts)
        inside = doubtful.inward(stripe.origin)
        return found.unite(_compared(known, self._wanted[id(leaf)], stripe, inside).outward())

    def _effort(self, bound: Bound, stripe: StripeReader) -> float:
        """How much it takes to check a term, by what it is and how many rows are in doubt."""
        match bound:
            case BoundLeaf():
                known = self._known.get(id(bound))
                return 0.0 if known is None else known.positions.maybe.count * _price(known, stripe)
            case BoundAnd(terms) | BoundOr(terms):
                return sum(self._effort(term, stripe) for term in terms)
        return 0.0


def _price(known: Known, stripe: StripeReader) -> int:
    facts = known.facts
    if not facts.is_single or facts.node.basic_type in CONTAINERS:
        return _LIST
    if facts.node.basic_type not in BYTES:
        return _NUMBER if facts.node.basic_type in WIDTHS else _CODE
    return _CODE if facts.codes(stripe) is not None else _BYTES


def _compared(known: Known, wanted: Wanted | None, stripe: StripeReader, rows: Rows) -> Rows:
    """Of these rows, counted from the stripe's first, those for which the leaf is true."""
    facts = known.facts
    if facts.is_single and (len(facts.leaf.nodes) == 1 or facts.is_solid(stripe)):
        codes = facts.codes(stripe)
        if codes is not None and rows.count * _ROWS_OF_ENTRIES >= len(codes):
            return _looked_up(known, stripe, rows)
        if wanted is not None:
            # Comparing every value of the hull takes less time than picking single ones that lie close together.
            asked = rows.hull if rows.is_dense else rows
            bits = facts.source(stripe).compare(wanted, asked, inverted=facts.inverted)
            if bits is not None:
                return asked.chosen(bits).intersect(rows)
    return rows.selected(evaluate(facts.leaf, read_rows(stripe, facts.column, rows)))


def _looked_up(known: Known, stripe: StripeReader, rows: Rows) -> Rows:
    """As `_compared`, by the codes of a dictionary alone."""
    facts = known.facts
    true, stored = facts.codes(stripe), facts.source(stripe).codes()
    assert true is not None
    assert stored is not None
    codes, valid = stored.read(rows)
    found = true[codes]
    if facts.inverted:
        found = ~found & valid if valid is not None else ~found
    elif valid is not None:
        found &= valid
    return rows.selected(found)
