"""What do the indexes of the shard say?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial, reduce
from operator import or_

from amudai.index import Every, Keys, Terms
from amudai.predicate import Alternative
from amudai.rows import Positions, Rows
from amudai.scan.evidence.contract import Evidence
from amudai.scan.evidence.facts import Facts
from amudai.scan.open_indexes import OpenIndex

__all__ = ["index_evidence"]

# An index is a file or two to open: fewer rows than this are sooner read.
_WORTH = 64


def index_evidence(indexes: Sequence[OpenIndex]) -> tuple[Evidence, ...]:
    """The evidence of each index of the shard, and of those that its stripes have one by one."""
    found = [
        Evidence(each.type.label, partial(_answer, each), _WORTH, of_fields=False)
        for each in indexes
        if each.rows is None
    ]
    for group in _alike([each for each in indexes if each.rows is not None]):
        count = "1 stripe" if len(group) == 1 else f"{len(group):,} stripes"
        found.append(Evidence(f"{group[0].type.label} of {count}", partial(_by_stripe, group), _WORTH, of_fields=False))
    return tuple(found)


def _alike(indexes: Sequence[OpenIndex]) -> list[list[OpenIndex]]:
    """Indexes of stripes in groups: the same type and fields, one of each stripe."""
    groups: dict[tuple[str, frozenset[int], int], list[OpenIndex]] = {}
    seen: Counter[tuple[str, frozenset[int], int]] = Counter()
    for index in indexes:
        kind, fields, stripe = index.type.name, index.schema_ids, id(index.rows)
        groups.setdefault((kind, fields, seen[kind, fields, stripe]), []).append(index)
        seen[kind, fields, stripe] += 1
    return list(groups.values())


def _by_stripe(indexes: Sequence[OpenIndex], facts: Facts, rows: Rows) -> Positions | None:
    """What the indexes of stripes say together; stripes without one stay in doubt."""
    said: list[Positions] = []
    told: list[Rows] = []
    for index in indexes:
        if not index.rows:
            continue  # a stripe without rows
        # Stripes that are ruled out are not asked.
        mine = rows.intersect(index.rows)
        found = _answer(index, facts, mine) if mine else None
        if found is not None:
            said.append(found.within(mine))
            told.append(index.rows)
    if not said:
        return None
    silent = rows.subtract(Rows.united(told, rows.origin))
    return Positions.united([*said, Positions.perhaps(silent)], rows.origin)


def _answer(index: OpenIndex, facts: Facts, rows: Rows) -> Positions | None:
    if facts.node.schema_id not in index.schema_ids:
        return None
    found = _keys(index, facts, rows) if Keys in index.type.capabilities.questions else None
    if found is None and Terms in index.type.capabilities.questions:
        found = next(
            (each for each in (_terms(index, facts, way, rows) for way in facts.terms) if each is not None), None
        )
    return found


def _keys(index: OpenIndex, facts: Facts, rows: Rows) -> Positions | None:
    return None if facts.keys is None else index.ask(facts.leaf.nodes, Keys(facts.keys), rows)


def _terms(index: OpenIndex, facts: Facts, way: Alternative, rows: Rows) -> Positions | None:
    """All of some questions, or all of some others; the first that the index cannot tell ends it."""
    parts = []
    for every in way.questions:
        answer = _asked(index, facts, every, rows)
        if answer is None:
            return None
        parts.append(answer)
    if not parts:
        return None
    found = reduce(or_, parts)
    return found if way.exact else found.unsure()


def _asked(index: OpenIndex, facts: Facts, every: tuple[Terms, ...], rows: Rows) -> Positions | None:
    if len(every) > 1 and Every in index.type.capabilities.questions:
        return index.ask(facts.leaf.nodes, Every(every), rows)
    answer: Positions | None = None
    for question in every:
        found = index.ask(facts.leaf.nodes, question, rows)
        if found is None:
            return None
        answer = found if answer is None else answer & found
        if not answer:
            break
    return answer
