"""Which rows are ruled out before values are read?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from amudai.encoding import Ranges
from amudai.index import Positions
from amudai.scan.evidence import BLOOM, DICTIONARY, RANGES, STATISTICS, Evidence, Facts, index_evidence
from amudai.scan.open_indexes import OpenIndex
from amudai.scan.predicate import Bound, BoundAnd, BoundConstant, BoundLeaf, BoundOr, Compare, IsIn, Text
from amudai.types import BYTES, WIDTHS

__all__ = ["Known", "Pruner", "Step"]


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What one piece of evidence made of what was known of a leaf."""

    evidence: str
    before: Positions
    after: Positions


@dataclass(eq=False)
class Known:
    """What is known of a leaf before values are read.

    Attributes
    ----------
    rows
        Those it was asked about: what the leaves before it had left.
    positions
        Of these, the rows for which it is true.
    """

    facts: Facts
    rows: Ranges
    positions: Positions
    steps: list[Step] = field(default_factory=list)


class Pruner:
    """Asks all evidence about the leaves of a predicate, the cheapest first, and remembers what it said.

    Parameters
    ----------
    prepare
        Reads how the fields of all leaves are stored, once somebody wants to know.
    """

    def __init__(
        self, leaves: Sequence[Facts], indexes: Sequence[OpenIndex], prepare: Callable[[], object] = lambda: None
    ) -> None:
        self._facts = {id(facts.leaf): facts for facts in leaves}
        self._prepare: Callable[[], object] | None = prepare
        by_index = index_evidence(indexes)
        self._evidence: tuple[Evidence, ...] = (STATISTICS, BLOOM, RANGES, *by_index, DICTIONARY)
        # What statistics tell of words is next to nothing, and an index of words leaves as a rule no row in doubt.
        self._evidence_of_text = (*by_index, STATISTICS, BLOOM, RANGES, DICTIONARY)
        self.known: dict[int, Known] = {}  # by the identity of leaves: they are large to hash

    def prune(self, bound: Bound, rows: Ranges) -> Positions:
        """Of these rows those for which the predicate is true, surely or perhaps."""
        match bound:
            case BoundConstant(value):
                return Positions.surely(rows) if value else Positions.none()
            case BoundAnd(terms):
                found = Positions.surely(rows)
                for term in sorted(terms, key=_cost):
                    said = self.prune(term, found.candidates)
                    # It speaks of rows in question alone: where all of them were sure, nothing is left to combine.
                    found = found & said if len(found.maybe) else said
                    if found.is_empty:
                        break
                return found
            case BoundOr(terms):
                found = Positions.none()
                for term in terms:
                    found |= self.prune(term, rows)
                return found
            case BoundLeaf():
                return self._leaf(bound, rows)

    def _leaf(self, leaf: BoundLeaf, rows: Ranges) -> Positions:
        facts = self._facts[id(leaf)]
        known = Known(facts, rows, Positions.perhaps(rows))
        for evidence in self._evidence_of_text if isinstance(leaf.leaf, Text) else self._evidence:
            before = known.positions
            if len(before.maybe) < evidence.worth and before.maybe.count < evidence.worth:
                continue
            if evidence.of_fields and self._prepare is not None:
                self._prepare()
                self._prepare = None
            said = evidence.answer(facts, before.candidates)
            if said is None:
                continue
            if facts.inverted:
                said = _opposite(facts, said, before.candidates)
            known.positions = before.refined(said)
            known.steps.append(Step(evidence.name, before, known.positions))
        found = known.positions
        # The same leaf may stand in a predicate twice, and be asked about other rows each time.
        other = self.known.get(id(leaf))
        if other is not None:
            asked = max(rows, other.rows, key=lambda asked: asked.count)
            known = Known(facts, asked, known.positions | other.positions, other.steps)
        self.known[id(leaf)] = known
        return found


def _opposite(facts: Facts, said: Positions, rows: Ranges) -> Positions:
    """Rows for which the question is false. A row without a value is none of them: it stays in doubt."""
    solid = Ranges.one(0, 0)
    for stripe, mine in facts.stripes(rows):
        if facts.is_solid(stripe):
            solid = solid.unite(mine)
    yes = solid.subtract(said.candidates)
    return Positions(yes, rows.subtract(said.yes).subtract(yes))


def _cost(bound: Bound) -> int:
    """What it costs to look for evidence: numbers have small indexes, words large ones."""
    match bound:
        case BoundLeaf(leaf=leaf, nodes=nodes):
            if nodes[-1].basic_type in WIDTHS:
                return 0
            if isinstance(leaf, IsIn | Compare) and nodes[-1].basic_type in BYTES:
                return 1
            return 2 if isinstance(leaf, Text) else 3
        case BoundAnd(terms):
            return min(map(_cost, terms))
        case BoundOr(terms):
            return max(map(_cost, terms))
    return 0
