"""What do the indexes of the shard say?"""

from __future__ import annotations

from functools import partial, reduce
from operator import and_, or_

from amudai.encoding import Ranges
from amudai.index import Keys, Positions, Question, Terms
from amudai.scan.evidence.contract import Evidence
from amudai.scan.evidence.facts import Facts
from amudai.scan.open_indexes import OpenIndex
from amudai.scan.predicate import Alternative, questions

__all__ = ["index_evidence"]

# An index is a file or two to open: fewer rows than this are sooner read.
_WORTH = 64


def index_evidence(index: OpenIndex) -> Evidence:
    """The evidence of one index."""
    return Evidence(index.type.label, partial(_answer, index), _WORTH)


def _answer(index: OpenIndex, facts: Facts, rows: Ranges) -> Positions | None:
    if facts.node.schema_id not in index.schema_ids:
        return None
    found = _keys(index, facts) if Keys in index.type.capabilities.questions else None
    if found is None and Terms in index.type.capabilities.questions:
        found = next((each for each in (_terms(index, facts, way) for way in questions(facts.question)) if each), None)
    if found is None or index.rows is None:
        return found
    # An index of one stripe says nothing of the others.
    return found.within(index.rows) | Positions.perhaps(rows.subtract(index.rows))


def _keys(index: OpenIndex, facts: Facts) -> Positions | None:
    return None if facts.keys is None else index.ask(facts.leaf.nodes, Keys(facts.keys))


def _terms(index: OpenIndex, facts: Facts, way: Alternative) -> Positions | None:
    """All of some questions, or all of some others; the first that the index cannot tell ends it."""
    parts = []
    for every in way.questions:
        answers = _asked(index, facts, every)
        if answers is None:
            return None
        parts.append(reduce(and_, answers))
    if not parts:
        return None
    found = reduce(or_, parts)
    return found if way.exact else found.unsure()


def _asked(index: OpenIndex, facts: Facts, every: tuple[Question, ...]) -> list[Positions] | None:
    answers = []
    for question in every:
        found = index.ask(facts.leaf.nodes, question)
        if found is None:
            return None
        answers.append(found)
        if found.is_empty:
            break
    return answers or None
