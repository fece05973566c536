"""Evidence from the indexes of the shard and of its stripes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Final

from amudai.index import CompositeKeys, Every, IndexQuestion, Keys, StoredKeys, Terms
from amudai.plan.evidence.contract import Evidence
from amudai.plan.leaf import LeafQuestion
from amudai.plan.open_indexes import OpenIndex, stripe_field_indexes
from amudai.plan.words import ColumnWords
from amudai.predicate import Alternative
from amudai.rows import Positions, Rows
from amudai.types import NodePath

if TYPE_CHECKING:
    from amudai.shard import StoredArray  # with what writes shards, which readers do not need

__all__ = ["STRIPE_FIELD_INDEXES", "index_evidence", "rows_with", "rows_with_all"]

# Asking an index opens a file or two. Reading fewer rows than this is faster.
_WORTH = 64


# Asks one index about some rows.
Ask = Callable[[OpenIndex, Rows], Positions | None]


def index_evidence(indexes: Sequence[OpenIndex]) -> tuple[Evidence, ...]:
    """One piece of evidence for each index of the shard, and one for each group of like indexes of stripes."""
    found = [
        _evidence(index.type.label, partial(_one, index), is_text=Terms in index.type.capabilities.questions)
        for index in indexes
        if index.rows is None
    ]
    for group in _alike([index for index in indexes if index.rows is not None]):
        part = group[0].part
        count = f"1 {part}" if len(group) == 1 else f"{len(group):,} {part}s"
        is_text = Terms in group[0].type.capabilities.questions
        found.append(_evidence(f"{group[0].type.label} of {count}", partial(_by_stripe, group), is_text=is_text))
    return tuple(found)


def _of_stripe_fields(question: LeafQuestion, rows: Rows) -> Positions | None:
    """The answers of indexes in the descriptors that stripes have of a field."""
    found = [
        index
        for stripe, _ in question.stripes(rows)
        for index in stripe_field_indexes(stripe, question.shard, question.leaf.nodes, question.unusable)
    ]
    said = [_by_stripe(group, partial(_leaf, question), rows) for group in _alike(found)]
    answers = [answer for answer in said if answer is not None]
    return reduce(and_, answers) if answers else None


# Evidence from indexes in the descriptors of fields of stripes. Descriptors are read for statistics, too.
STRIPE_FIELD_INDEXES: Final = Evidence("index of the field", _of_stripe_fields, _WORTH)


def rows_with_all(question: CompositeKeys, indexes: Sequence[OpenIndex], rows: Rows) -> Positions | None:
    """The rows among `rows` that may have given values in several fields; None if no index can tell."""
    key = tuple(path[-1].schema_id for path in question.paths)

    def ask(index: OpenIndex, mine: Rows) -> Positions | None:
        return index.ask(question.paths[0], question, mine)

    able = [index for index in indexes if any(tuple(ids) == key for ids in index.descriptor.indexed_fields)]
    for index in able:
        if index.rows is None and (said := ask(index, rows)) is not None:
            return said
    return _by_stripe([index for index in able if index.rows is not None], ask, rows)


def rows_with(values: StoredArray, nodes: NodePath, indexes: Sequence[OpenIndex], rows: Rows) -> Rows:
    """The rows among `rows` that may have one of many values, as far as indexes tell."""

    def ask(index: OpenIndex, mine: Rows) -> Positions | None:
        if nodes[-1].schema_id not in index.schema_ids or StoredKeys not in index.type.capabilities.questions:
            return None
        return index.ask(nodes, StoredKeys(values), mine)

    whole = [partial(_one, index) for index in indexes if index.rows is None]
    parts = [partial(_by_stripe, group) for group in _alike([index for index in indexes if index.rows is not None])]
    for put in (*whole, *parts):
        said = put(ask, rows)
        if said is not None:
            rows = rows.intersect(said.candidates)
    return rows


def _evidence(name: str, put: Callable[[Ask, Rows], Positions | None], *, is_text: bool) -> Evidence:
    """Evidence from one index or several: `put` asks each index and unites the answers."""

    def answer(question: LeafQuestion, rows: Rows) -> Positions | None:
        return put(partial(_leaf, question), rows)

    def all_words(words: ColumnWords, rows: Rows) -> Positions | None:
        return put(partial(_words, words), rows)

    return Evidence(name, answer, _WORTH, of_fields=False, all_words=all_words if is_text else None)


def _one(index: OpenIndex, ask: Ask, rows: Rows) -> Positions | None:
    return ask(index, rows)


def _alike(indexes: Sequence[OpenIndex]) -> list[list[OpenIndex]]:
    """The indexes of stripes or parts in groups of the same type and fields, with at most one index for each row."""
    if not indexes:
        return []
    groups: dict[tuple[str, str, frozenset[int], int], list[OpenIndex]] = {}
    seen: Counter[tuple[str, frozenset[int], object]] = Counter()
    for index in indexes:
        kind, fields = index.type.name, index.schema_ids
        # Two indexes of a stripe share one set of rows. Parts of a shard have sets of their own.
        rows = (index.rows.starts.tolist()[:1], index.part) if index.rows is not None else None
        key = kind, fields, str(rows)
        groups.setdefault((index.part, kind, fields, seen[key]), []).append(index)
        seen[key] += 1
    return list(groups.values())


def _by_stripe(indexes: Sequence[OpenIndex], ask: Ask, rows: Rows) -> Positions | None:
    """The united answers of the indexes of stripes. Rows of stripes without an index stay in doubt."""
    said: list[Positions] = []
    told: list[Rows] = []
    for index in indexes:
        mine = None if index.rows is None else rows.intersect(index.rows)
        if not mine:
            continue  # no row of the stripe is left
        found = ask(index, mine)
        if found is not None:
            said.append(found.within(mine))
            told.append(mine)
    if not said:
        return None
    silent = rows.subtract(Rows.united(told, rows.origin))
    return Positions.united([*said, Positions.perhaps(silent)], rows.origin)


def _leaf(question: LeafQuestion, index: OpenIndex, rows: Rows) -> Positions | None:
    if question.node.schema_id not in index.schema_ids:
        return None
    nodes, able = question.leaf.nodes, index.type.capabilities.questions
    if Keys in able and question.keys is not None:
        found = index.ask(nodes, Keys(question.keys), rows)
        if found is not None:
            # The index has ticks: other times of the same tick are found, too.
            return found if question.nanoseconds is None else found.unsure()
    if Terms in able:
        answers = (_alternative(way, nodes, index, rows) for way in question.terms)
        found = next((answer for answer in answers if answer is not None), None)
        if found is not None:
            return found
    if IndexQuestion in able and question.asked is not None:
        return index.ask(nodes, question.asked, rows)
    return None


def _words(words: ColumnWords, index: OpenIndex, rows: Rows) -> Positions | None:
    if words.nodes[-1].schema_id not in index.schema_ids or Terms not in index.type.capabilities.questions:
        return None
    return _all_terms(words.terms, words.nodes, index, rows)


def _alternative(way: Alternative, nodes: NodePath, index: OpenIndex, rows: Rows) -> Positions | None:
    """The rows that have all terms of at least one group; None if the index cannot tell for one of the groups."""
    groups = []
    for group in way.questions:
        answer = _all_terms(group, nodes, index, rows)
        if answer is None:
            return None
        groups.append(answer)
    if not groups:
        return None
    found = reduce(or_, groups)
    return found if way.exact else found.unsure()


def _all_terms(terms: tuple[Terms, ...], nodes: NodePath, index: OpenIndex, rows: Rows) -> Positions | None:
    if len(terms) > 1 and Every in index.type.capabilities.questions:
        return index.ask(nodes, Every(terms), rows)
    answer: Positions | None = None
    for term in terms:
        found = index.ask(nodes, term, rows)
        if found is None:
            return None
        answer = found if answer is None else answer & found
        if not answer:
            break
    return answer
