"""Pruning: evidence about the leaves of a predicate, the cheapest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from amudai.frozen import quick_init
from amudai.lazy import lazy
from amudai.plan.composite import ConjunctionOfKeys, conjunctions_of_keys
from amudai.plan.evidence.alike import ALIKE
from amudai.plan.evidence.bloom import BLOOM
from amudai.plan.evidence.contract import Evidence
from amudai.plan.evidence.dictionary import DICTIONARY
from amudai.plan.evidence.indexes import STRIPE_FIELD_INDEXES, index_evidence, rows_with_all
from amudai.plan.evidence.ranges import RANGES
from amudai.plan.evidence.statistics import SHARD_STATISTICS, STATISTICS
from amudai.plan.leaf import LeafQuestion
from amudai.plan.open_indexes import OpenIndex
from amudai.plan.reading import prepare_columns
from amudai.plan.words import ConjunctionOfWords
from amudai.predicate import Bound, BoundAlways, BoundAnd, BoundLeaf, BoundOr, Compare, IsIn, Text
from amudai.rows import Positions, Rows
from amudai.shard import ShardReader
from amudai.types import BYTES, WIDTHS

__all__ = ["EvidenceStep", "LeafEvidence", "Pruner"]

# Rough order of what asking for evidence costs: numbers have small indexes, words large ones.
_NUMBER, _KEY, _WORDS, _OTHER = range(4)
_OF_FIELDS: Final = (STATISTICS, BLOOM, RANGES)
# An index of the whole shard is asked once. It takes about as long as the statistics and Bloom filters of this many
# stripes, which may rule out everything before the index is opened.
_FEW_STRIPES: Final = 8


Conjunction: TypeAlias = ConjunctionOfWords | ConjunctionOfKeys


@quick_init
@dataclass(frozen=True, slots=True, eq=False)
class EvidenceStep:
    """The answer to a leaf before and after one piece of evidence."""

    evidence: str
    before: Positions
    after: Positions


@dataclass(eq=False)
class LeafEvidence:
    """What all evidence says about a leaf.

    Attributes
    ----------
    rows
        The rows that the leaf was asked about: those that the leaves before it left.
    positions
        The rows among `rows` for which the leaf is true, surely or perhaps.
    """

    question: LeafQuestion
    rows: Rows
    positions: Positions
    steps: list[EvidenceStep] = field(default_factory=list)


class Pruner:
    """Asks all evidence about the leaves of one predicate and keeps the answers.

    Attributes
    ----------
    found
        The evidence of each leaf that was asked, by the leaf's name.
    """

    def __init__(
        self, shard: ShardReader, leaves: Mapping[str, LeafQuestion], indexes: Sequence[OpenIndex], within: Rows
    ) -> None:
        self._shard = shard
        self._leaves = leaves
        self._within = within
        self._is_prepared = False
        self._indexes = indexes
        parts = [index for index in indexes if index.rows is not None]
        whole = index_evidence([index for index in indexes if index.rows is None] if parts else indexes)
        of_parts = index_evidence(parts) if parts else ()
        by_index = (*whole, *of_parts)
        self._of_words = [evidence for evidence in by_index if evidence.all_words is not None]
        if not shard.is_own:
            of_parts = (*of_parts, STRIPE_FIELD_INDEXES)
            by_index = (*by_index, STRIPE_FIELD_INDEXES)
        # Statistics say almost nothing about words, and an index of words usually leaves no row in doubt.
        self._evidence_of_text = (SHARD_STATISTICS, *by_index, *_OF_FIELDS, DICTIONARY, ALIKE)
        self._evidence: tuple[Evidence, ...] = (SHARD_STATISTICS, *_OF_FIELDS, *by_index, DICTIONARY, ALIKE)
        if shard.directory.stripe_count > _FEW_STRIPES:
            self._evidence = (SHARD_STATISTICS, *whole, *_OF_FIELDS, *of_parts, DICTIONARY, ALIKE)
        self._evidence_behind_indexes = (*_OF_FIELDS, DICTIONARY, ALIKE)
        self.found: dict[str, LeafEvidence] = {}

    @lazy
    def _has_composites(self) -> bool:
        """Whether an index has keys of several fields."""
        return any(len(ids) > 1 for index in self._indexes for ids in index.descriptor.indexed_fields)

    def prune(self, bound: Bound, rows: Rows) -> Positions:
        """The rows among `rows` for which the predicate is true, surely or perhaps."""
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
                order = self._evidence_of_text if isinstance(bound.leaf, Text) else self._evidence
                if bound.unions:
                    order = ()  # evidence is about the values of a variant, also where another variant is chosen
                return self._weighed(LeafEvidence(self._leaves[bound.name], rows, Positions.perhaps(rows)), order)

    def _all(self, terms: Sequence[Bound | Conjunction], rows: Rows) -> Positions:
        found = Positions.surely(rows)
        for term in sorted(terms, key=_cost):
            left = found.candidates
            match term:
                case ConjunctionOfWords():
                    said = self._words(term, left)
                case ConjunctionOfKeys():
                    said = self._keys(term, left)
                case _:
                    said = self.prune(term, left)
            found = _narrowed(found, said)
            if not found:
                break
        return found

    def _grouped(self, terms: Sequence[Bound]) -> list[Bound | Conjunction]:
        """The terms, with leaves that an index looks up together joined to groups."""
        columns: dict[int, list[LeafQuestion]] = {}
        if self._of_words:
            for term in terms:
                if isinstance(term, BoundLeaf) and isinstance(term.leaf, Text) and not term.unions:
                    columns.setdefault(term.nodes[-1].schema_id, []).append(self._leaves[term.name])
        joined = (ConjunctionOfWords.of(leaves) for leaves in columns.values() if len(leaves) > 1)
        groups = [group for group in joined if group is not None]
        grouped = {question.name for group in groups for question, _ in group.parts}
        leaves = [self._leaves[term.name] for term in terms if isinstance(term, BoundLeaf)]
        keys = conjunctions_of_keys(leaves, self._indexes) if self._has_composites else []
        grouped |= {question.name for each in keys for question in each.leaves}
        alone = [term for term in terms if not (isinstance(term, BoundLeaf) and term.name in grouped)]
        return [*keys, *groups, *alone]

    def _words(self, group: ConjunctionOfWords, rows: Rows) -> Positions:
        """Ask the first index that can look up all words of a group, then other evidence about each leaf."""
        before = Positions.perhaps(rows)
        for evidence in self._of_words:
            assert evidence.all_words is not None
            said = evidence.all_words(group.words, rows) if rows.count >= evidence.worth else None
            if said is not None:
                break
        else:
            return self._all([question.leaf for question, _ in group.parts], rows)
        steps = [EvidenceStep(f"{evidence.name}, all words", before, before.refined(said))]
        told = steps[0].after
        found = Positions.surely(rows)
        for question, way in group.parts:
            left = found.candidates
            # The index was asked for words only. If a leaf asks for more, its rows are not sure.
            known = LeafEvidence(question, left, (told if way.exact else told.unsure()).within(left), steps)
            found = _narrowed(found, self._weighed(known, self._evidence_behind_indexes))
            steps = []
        return found

    def _keys(self, group: ConjunctionOfKeys, rows: Rows) -> Positions:
        """Ask the indexes with a composite key for the values of all its columns, then other evidence about each."""
        before = Positions.perhaps(rows)
        said = rows_with_all(group.question, self._indexes, rows)
        if said is None:
            return self._all([question.leaf for question in group.leaves], rows)
        told = before.refined(said)
        steps = [EvidenceStep("hash index, several columns", before, told)]
        found = Positions.surely(rows)
        for question in group.leaves:
            left = found.candidates
            known = LeafEvidence(question, left, told.unsure().within(left), steps)
            found = _narrowed(found, self._weighed(known, self._evidence))
            steps = []
        return found

    def _weighed(self, known: LeafEvidence, order: Sequence[Evidence]) -> Positions:
        """The rows of a leaf that are left after all evidence was asked, in this order."""
        question, before = known.question, known.positions
        doubtful, candidates = before.maybe.count, before.candidates
        for evidence in order:
            if doubtful < evidence.worth:
                continue
            if evidence.of_fields:
                self._prepare(candidates)
            said = evidence.answer(question, candidates)
            if said is None:
                continue
            if question.inverted and not evidence.of_leaf:
                said = _opposite(question, said, candidates)
            known.positions = before.refined(said)
            known.steps.append(EvidenceStep(evidence.name, before, known.positions))
            before = known.positions
            doubtful, candidates = before.maybe.count, before.candidates
        self.found[question.name] = known
        return known.positions

    def _prepare(self, rows: Rows) -> None:
        """Read the descriptors of the columns of all leaves together, when the first evidence needs one.

        If an index left only a few rows, the descriptors of their stripes are enough.
        """
        if self._is_prepared:
            return
        columns = [question.column for question in self._leaves.values()]
        if rows.count < self._shard.directory.stripe_count:
            prepare_columns(self._shard, columns, rows)
            return
        self._is_prepared = True
        prepare_columns(self._shard, columns, self._within)


def _narrowed(found: Positions, said: Positions) -> Positions:
    """The rows that are left after one more term. The term was asked only about the rows in `found`."""
    # If all rows in `found` are sure, the answer for the term is the answer for both.
    return found & said if found.maybe else said


def _opposite(question: LeafQuestion, said: Positions, rows: Rows) -> Positions:
    """The rows for which the plain leaf is false. A row without a value stays in doubt."""
    solid = Rows.none(rows.origin)
    for stripe, mine in question.stripes(rows):
        if question.is_solid(stripe):
            solid = solid.unite(mine)
    yes = solid.subtract(said.candidates)
    return Positions(yes, rows.subtract(said.yes).subtract(yes))


def _cost(term: Bound | Conjunction) -> int:
    match term:
        case ConjunctionOfKeys():
            return _NUMBER
        case ConjunctionOfWords():
            return _WORDS
        case BoundLeaf(leaf=leaf, nodes=nodes):
            if nodes[-1].basic_type in WIDTHS:
                return _NUMBER
            if isinstance(leaf, IsIn | Compare) and nodes[-1].basic_type in BYTES:
                return _KEY
            return _WORDS if isinstance(leaf, Text) else _OTHER
        case BoundAnd(terms):
            return min(map(_cost, terms))
        case BoundOr(terms):
            return max(map(_cost, terms))
    return _NUMBER
