"""What an index of terms can be asked for a leaf of a predicate.

An index of words knows which rows have a word, one of whole values which rows have a value. A question about text
becomes questions about words that every row must have for which it is true; sometimes that is all there is to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from amudai import _kernels
from amudai.index import Match, Terms
from amudai.predicate.bound import BoundLeaf
from amudai.predicate.comparison import is_text
from amudai.predicate.regex import required_texts
from amudai.predicate.tree import Compare, IsIn, Matches, Text, TextOp

__all__ = ["Alternative", "questions"]

# In which of these a word of the text that touches its left or right end may go on beyond it.
_OPEN_LEFT: Final = frozenset({"hassuffix", "contains", "endswith"})
_OPEN_RIGHT: Final = frozenset({"hasprefix", "contains", "startswith"})
# Operators that are true wherever an index finds their only word.
_WORDS: Final = frozenset({"has", "hasprefix", "hassuffix", "contains"})
_WHOLE: Final[dict[TextOp, Match]] = {
    "equals": Match.EQUAL,
    "startswith": Match.PREFIX,
    "endswith": Match.SUFFIX,
    "contains": Match.WITHIN,
}


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to ask an index for the rows of a leaf, as if it were not negated.

    Attributes
    ----------
    questions
        The rows lie among those for which all questions of any of these groups are true.
    exact
        Whether they are just these.
    whole
        Whether the index must be one of whole values, or of words.
    """

    questions: tuple[tuple[Terms, ...], ...]
    exact: bool
    whole: bool


def questions(leaf: BoundLeaf) -> list[Alternative]:
    """How the rows of a leaf about text can be found by an index: of words, of whole values, or not at all."""
    if not is_text(leaf.type):
        return []
    match leaf.leaf:
        case Compare(_, "==", _) | IsIn():
            texts = [scalar.as_py() for scalar in leaf.scalars]
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


def _alternatives(
    words: list[tuple[Terms, ...]], exact: bool, whole: tuple[tuple[Terms, ...], ...], whole_exact: bool
) -> list[Alternative]:
    """Those that rule anything out: a group without a question is true for every row."""
    found = []
    if all(words):
        found.append(Alternative(tuple(words), exact, whole=False))
    if all(group and all(term.text or term.match is Match.EQUAL for term in group) for group in whole):
        found.append(Alternative(whole, whole_exact, whole=True))
    return found


def _is_word(text: str) -> bool:
    return [word for word, _, _ in _kernels.split_words(text)] == [text]


def _words(op: TextOp, text: str, case_sensitive: bool) -> tuple[Terms, ...]:
    """What the words of a value must be like for which the operator is true."""
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
    return tuple(dict.fromkeys(found))
