"""Translation of a leaf of a predicate into questions for a term index.

A term index knows the rows of each word, or the rows of each whole value. A leaf about text becomes questions about the
words that a matching row must have. In some cases these questions are equivalent to the leaf; otherwise the rows that
the index finds must be checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from amudai import _kernels
from amudai.frozen import quick_init
from amudai.index import Match, Terms
from amudai.predicate.bound import BoundLeaf
from amudai.predicate.comparison import can_be_text, is_text, is_uuid
from amudai.predicate.regex import required_texts
from amudai.predicate.tree import Compare, IsIn, Matches, Text, TextOp

__all__ = ["Alternative", "term_questions"]

# Operators for which a word at the left or right end of the text may be only a part of a longer word in the value.
_OPEN_LEFT: Final = frozenset({"hassuffix", "contains", "endswith"})
_OPEN_RIGHT: Final = frozenset({"hasprefix", "contains", "startswith"})
# Operators that are equivalent to the look-up of their text, if the text is a single word.
_WORDS: Final = frozenset({"has", "hasprefix", "hassuffix", "contains"})
_WHOLE: Final[dict[TextOp, Match]] = {
    "equals": Match.EQUAL,
    "startswith": Match.PREFIX,
    "endswith": Match.SUFFIX,
    "contains": Match.WITHIN,
}


@quick_init
@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to ask an index for the rows of a leaf, without the negation of the leaf.

    Attributes
    ----------
    questions
        Groups of questions. For a row of the leaf, all questions of at least one group are true.
    exact
        Whether the reverse holds too, so that the rows need no check.
    whole
        True if the index must be one of whole values, False if it must be one of words.
    """

    questions: tuple[tuple[Terms, ...], ...]
    exact: bool
    whole: bool


def term_questions(leaf: BoundLeaf) -> list[Alternative]:
    """The ways to find the rows of a leaf about text: by an index of words, and by an index of whole values."""
    if not can_be_text(leaf.type):
        return []
    match leaf.leaf:
        case Compare(_, "==", _) | IsIn():
            texts = _texts(leaf)
            if texts is None:
                return []
            groups = [_words("equals", text, True) for text in texts]
            whole = tuple((Terms(text, Match.EQUAL, True, whole=True),) for text in texts)
            return _alternatives(groups, False, whole, True)
        case Text(_, op, text, case_sensitive):
            exact = op in _WORDS and _is_word(text)
            question = Terms(text, _WHOLE.get(op, Match.WITHIN), case_sensitive, whole=True)
            return _alternatives([_words(op, text, case_sensitive)], exact, ((question,),), op in _WHOLE)
        case Matches(_, pattern):
            required = required_texts(pattern)
            words = tuple(dict.fromkeys(each for text in required for each in _words("contains", *text)))
            within = tuple(Terms(text, Match.WITHIN, case, whole=True) for text, case in required)
            return _alternatives([words], False, (within,), False)
    return []


def _texts(leaf: BoundLeaf) -> list[str] | None:
    """The values that a leaf asks for, as an index has them; None if one of them is no text, which no index has."""
    values = [scalar.as_py() for scalar in leaf.scalars]
    if is_text(leaf.type):
        return values
    try:
        return [str(UUID(bytes=value)) if is_uuid(leaf.type) else value.decode() for value in values]
    except UnicodeDecodeError:
        return None


def _alternatives(
    words: list[tuple[Terms, ...]], exact: bool, whole: tuple[tuple[Terms, ...], ...], whole_exact: bool
) -> list[Alternative]:
    """The alternatives that can rule rows out. A group without questions is true for every row, so it cannot."""
    found = []
    if all(words):
        found.append(Alternative(tuple(words), exact, whole=False))
    if all(group and all(term.text or term.match is Match.EQUAL for term in group) for group in whole):
        found.append(Alternative(whole, whole_exact, whole=True))
    return found


def _is_word(text: str) -> bool:
    return [word for word, _, _ in _kernels.split_words(text)] == [text]


def _words(op: TextOp, text: str, case_sensitive: bool) -> tuple[Terms, ...]:
    """The words that a value must have if the operator is true for it."""
    found = []
    for word, left, right in _kernels.split_words(text):
        match (left and op in _OPEN_LEFT, right and op in _OPEN_RIGHT):
            case (True, True):
                kind = Match.WITHIN
            case (True, False):
                kind = Match.SUFFIX
            case (False, True):
                kind = Match.PREFIX
            case _:
                kind = Match.EQUAL
        found.append(Terms(word, kind, case_sensitive))
    return tuple(found) if len(found) < 2 else tuple(dict.fromkeys(found))
