"""The check of rows in doubt on their values."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Final

from amudai.encoding import Wanted
from amudai.plan.leaf import LeafQuestion
from amudai.plan.prune import LeafEvidence
from amudai.plan.reading import read_rows
from amudai.plan.wanted import WantedValues, wanted_values
from amudai.predicate import Bound, BoundAlways, BoundAnd, BoundLeaf, BoundOr
from amudai.rows import Rows
from amudai.shard import StripeReader
from amudai.types import BYTES, CONTAINERS, WIDTHS

__all__ = ["Checker"]

# Rough costs of reading and comparing a value. A number costs 1.
_NUMBER = _CODE = 1
_BYTES, _LIST = 8, 16
# Looking codes up beats comparing values if there is at least one row for this many entries of the dictionary.
_ROWS_OF_ENTRIES: Final = 8
# Rows that lie between others are checked with these if there is at most one for this many.
_FEW_GAPS: Final = 64


class Checker:
    """Evaluates a predicate on stored values, for the rows that evidence left in doubt.

    Attributes
    ----------
    checked
        How many rows were checked for each leaf, by the leaf's name.
    """

    def __init__(self, bound: Bound, evidence: Mapping[str, LeafEvidence]) -> None:
        self._bound = bound
        self._evidence = evidence
        self._lock = Lock()
        self._wanted: dict[str, WantedValues | None] = {}
        self.checked: dict[str, int] = {}

    def true_rows(self, stripe: StripeReader, rows: Rows) -> Rows:
        """The rows among `rows`, all of one stripe, for which the predicate is true."""
        hull = rows.hull
        if rows.count < hull.count <= rows.count + rows.count // _FEW_GAPS:
            # Deleted rows leave gaps. Checking these rows as well takes less time than minding the gaps.
            return self._true(self._bound, stripe, hull).intersect(rows)
        return self._true(self._bound, stripe, rows)

    def is_light(self, stripe: StripeReader) -> bool:
        """Whether each leaf asks about numbers, or about codes of a dictionary, which take little memory and time."""
        return all(_price(known.question, stripe) == _NUMBER for known in self._evidence.values())

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
        known = self._evidence.get(leaf.name)
        if known is None:
            return Rows.none(rows.origin)  # never asked: the leaves before it left no rows
        doubtful = rows.intersect(known.positions.maybe)
        found = rows.intersect(known.positions.yes)
        if not doubtful:
            return found
        with self._lock:
            self.checked[leaf.name] = self.checked.get(leaf.name, 0) + doubtful.count
            if leaf.name not in self._wanted:
                self._wanted[leaf.name] = wanted_values(known.question)
        inside = doubtful.inward(stripe.origin)
        return found.unite(_compared(known.question, self._wanted[leaf.name], stripe, inside).outward())

    def _effort(self, bound: Bound, stripe: StripeReader) -> float:
        """The estimated cost of checking a term: its rows in doubt times the cost of a value."""
        match bound:
            case BoundLeaf():
                known = self._evidence.get(bound.name)
                return 0.0 if known is None else known.positions.maybe.count * _price(known.question, stripe)
            case BoundAnd(terms) | BoundOr(terms):
                return sum(self._effort(term, stripe) for term in terms)
        return 0.0


def _price(question: LeafQuestion, stripe: StripeReader) -> int:
    if not question.is_single or question.node.basic_type in CONTAINERS:
        return _LIST
    if question.node.basic_type not in BYTES:
        return _NUMBER if question.node.basic_type in WIDTHS else _CODE
    return _CODE if question.codes(stripe) is not None else _BYTES


def _compared(question: LeafQuestion, wanted: WantedValues | None, stripe: StripeReader, rows: Rows) -> Rows:
    """The rows among `rows` for which the leaf is true. Rows are counted from the start of the stripe."""
    if question.is_single and (len(question.leaf.nodes) == 1 or question.is_solid(stripe)):
        codes = question.codes(stripe)
        if codes is not None and rows.count * _ROWS_OF_ENTRIES >= len(codes):
            return _looked_up(question, stripe, rows)
        if wanted is not None:
            found = _chosen(question, wanted, stripe, rows)
            if found is not None:
                return found
    return _evaluated(question, stripe, rows)


def _chosen(question: LeafQuestion, wanted: WantedValues, stripe: StripeReader, rows: Rows) -> Rows | None:
    """The rows for which the leaf is true, by comparing values in their blocks; None if that is not possible."""
    # If rows are close together, comparing every value of the hull is faster than picking single ones.
    asked = rows.hull if rows.is_dense else rows
    source = question.source(stripe)

    def in_blocks(values: Wanted, *, inverted: bool) -> Rows | None:
        bits = source.compare(values, asked, inverted=inverted)
        return None if bits is None else asked.chosen(bits).intersect(rows)

    if wanted.is_exact:
        return in_blocks(wanted.possible, inverted=question.inverted)
    possible = in_blocks(wanted.possible, inverted=False)
    sure = Rows.none(rows.origin) if wanted.sure is None else in_blocks(wanted.sure, inverted=False)
    true = in_blocks(wanted.possible, inverted=True) if question.inverted else sure
    if possible is None or sure is None or true is None:
        return None
    doubtful = possible.subtract(sure)
    return true.unite(_evaluated(question, stripe, doubtful)) if doubtful else true


def _evaluated(question: LeafQuestion, stripe: StripeReader, rows: Rows) -> Rows:
    """The rows for which the leaf is true, by reading the column."""
    from amudai.predicate import evaluate  # indexes and blocks decide most questions without it

    return rows.selected(evaluate(question.leaf, read_rows(stripe, question.column, rows)))


def _looked_up(question: LeafQuestion, stripe: StripeReader, rows: Rows) -> Rows:
    """Like `_compared`, but only by the codes of the dictionary."""
    answers, stored = question.codes(stripe), question.source(stripe).codes()
    assert answers is not None
    assert stored is not None
    if question.inverted:
        answers = ~answers
        if stored.entries.null_id is not None:
            answers[stored.entries.null_id] = False
    asked = rows.hull if rows.is_dense else rows
    return asked.chosen(stored.look_up(asked, answers)).intersect(rows)
