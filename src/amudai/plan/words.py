"""Conjunctions of words in one column, which an index looks up together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from amudai.index import Match, Terms
from amudai.plan.leaf import LeafQuestion
from amudai.predicate import Alternative, Text
from amudai.types import NodePath

__all__ = ["ColumnWords", "ConjunctionOfWords"]


@dataclass(frozen=True, slots=True)
class ColumnWords:
    """Words that a row must all have in one column."""

    nodes: NodePath
    terms: tuple[Terms, ...]


@dataclass(frozen=True, slots=True)
class ConjunctionOfWords:
    """Leaves about whole words of one column, joined by `and`. An index is asked once for all their words.

    Attributes
    ----------
    words
        The words of all leaves, each once.
    parts
        The leaves, each with the words that it asks for.
    """

    words: ColumnWords
    parts: tuple[tuple[LeafQuestion, Alternative], ...]

    @classmethod
    def of(cls, leaves: Sequence[LeafQuestion]) -> ConjunctionOfWords | None:
        """The conjunction of the leaves that match whole words; None if there are fewer than two."""
        ways = ((leaf, _whole_words(leaf)) for leaf in leaves)
        parts = tuple((leaf, way) for leaf, way in ways if way is not None)
        if len(parts) < 2:
            return None
        terms = dict.fromkeys(term for _, way in parts for term in way.questions[0])
        return cls(ColumnWords(parts[0][0].leaf.nodes, tuple(terms)), parts)


def _whole_words(question: LeafQuestion) -> Alternative | None:
    """The words of a leaf that matches whole words.

    Leaves that match parts of words are asked on their own: a part can match thousands of terms.
    """
    if question.inverted or not isinstance(question.leaf.leaf, Text):
        return None
    for way in question.terms:
        if not way.whole and all(term.match is Match.EQUAL for term in way.questions[0]):
            return way
    return None
