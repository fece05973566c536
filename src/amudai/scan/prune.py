"""Which rows are ruled out before values are read?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from amudai.predicate import Bound, BoundAlways, BoundAnd, BoundLeaf, BoundOr, Compare, IsIn, Text
from amudai.rows import Positions, Rows
from amudai.scan.evidence import BLOOM, DICTIONARY, RANGES, STATISTICS, Evidence, Facts, Together, index_evidence
from amudai.scan.open_indexes import OpenIndex
from amudai.types import BYTES, WIDTHS

__all__ = ["Known", "Pruner", "Step"]

_WORDS: Final = 2


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
    rows: Rows
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
        self._by_index = by_index
        self._evidence: tuple[Evidence, ...] = (STATISTICS, BLOOM, RANGES, *by_index, DICTIONARY)
        # What statistics tell of words is next to nothing, and an index of words leaves as a rule no row in doubt.
        self._evidence_of_text = (*by_index, STATISTICS, BLOOM, RANGES, DICTIONARY)
        self._evidence_behind_indexes = (STATISTICS, BLOOM, RANGES, DICTIONARY)
        self.known: dict[int, Known] = {}  # by the identity of leaves: they are large to hash

    def prune(self, bound: Bound, rows: Rows) -> Positions:
        """Of these rows those for which the predicate is true, surely or perhaps."""
        match bound:
            case BoundAlways(value):
                return Positions.surely(rows) if value else Positions.none(rows.origin)
            case BoundAnd(terms):
                return self._all(self._grouped(terms), rows)
            case BoundOr(terms):
                found = Positions.none(rows.origin)
                for term in terms:
                    found |= self.prune(term, rows)
                return found
            case BoundLeaf():
                return self._leaf(bound, rows)

    def _all(self, terms: Sequence[Bound | Together], rows: Rows) -> Positions:
        found = Positions.surely(rows)
        for term in sorted(terms, key=_cost):
            left = found.candidates
            found = _narrowed(found, self._words(term, left) if isinstance(term, Together) else self.prune(term, left))
            if not found:
                break
        return found

    def _grouped(self, terms: Sequence[Bound]) -> list[Bound | Together]:
        """The terms, leaves about the words of one field as one."""
        fields: dict[int, list[Facts]] = {}
        if self._by_index:
            for term in terms:
                if isinstance(term, BoundLeaf) and isinstance(term.leaf, Text):
                    fields.setdefault(term.nodes[-1].schema_id, []).append(self._facts[id(term)])
        every = (Together.of(leaves) for leaves in fields.values() if len(leaves) > 1)
        groups = [group for group in every if group is not None]
        grouped = {id(facts.leaf) for group in groups for facts, _ in group.parts}
        return [*groups, *(term for term in terms if id(term) not in grouped)]

    def _words(self, group: Together, rows: Rows) -> Positions:
        """What the first index says that knows all words of a group, and what other evidence says of each leaf."""
        before = Positions.perhaps(rows)
        for evidence in self._by_index:
            said = evidence.answer(group, rows) if rows.count >= evidence.worth else None
            if said is not None:
                break
        else:
            return self._all([facts.leaf for facts, _ in group.parts], rows)
        steps = [Step(f"{evidence.name}, all words", before, before.refined(said))]
        told = steps[0].after
        found = Positions.surely(rows)
        for facts, way in group.parts:
            left = found.candidates
            # The index was asked for words: where a leaf asks for more, nothing is sure.
            known = Known(facts, left, (told if way.exact else told.unsure()).within(left), steps)
            found = _narrowed(found, self._weighed(known, self._evidence_behind_indexes))
            steps = []
        return found

    def _leaf(self, leaf: BoundLeaf, rows: Rows) -> Positions:
        known = Known(self._facts[id(leaf)], rows, Positions.perhaps(rows))
        return self._weighed(known, self._evidence_of_text if isinstance(leaf.leaf, Text) else self._evidence)

    def _weighed(self, known: Known, every: Sequence[Evidence]) -> Positions:
        """What all this evidence leaves of what is known of a leaf."""
        facts, leaf, rows = known.facts, known.facts.leaf, known.rows
        for evidence in every:
            before = known.positions
            if before.maybe.count < evidence.worth:
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


def _narrowed(found: Positions, said: Positions) -> Positions:
    """What is left of rows after one more term, which spoke of them alone."""
    # Where all of them were sure, nothing is left to combine.
    return found & said if found.maybe else said


def _opposite(facts: Facts, said: Positions, rows: Rows) -> Positions:
    """Rows for which the question is false. A row without a value is none of them: it stays in doubt."""
    solid = Rows.none(rows.origin)
    for stripe, mine in facts.stripes(rows):
        if facts.is_solid(stripe):
            solid = solid.unite(mine)
    yes = solid.subtract(said.candidates)
    return Positions(yes, rows.subtract(said.yes).subtract(yes))


def _cost(bound: Bound | Together) -> int:
    """What it costs to look for evidence: numbers have small indexes, words large ones."""
    match bound:
        case Together():
            return _WORDS
        case BoundLeaf(leaf=leaf, nodes=nodes):
            if nodes[-1].basic_type in WIDTHS:
                return 0
            if isinstance(leaf, IsIn | Compare) and nodes[-1].basic_type in BYTES:
                return 1
            return _WORDS if isinstance(leaf, Text) else _WORDS + 1
        case BoundAnd(terms):
            return min(map(_cost, terms))
        case BoundOr(terms):
            return max(map(_cost, terms))
    return 0
