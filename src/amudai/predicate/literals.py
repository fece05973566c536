"""What can an index be asked for a predicate?

An index of words knows which rows have a word, one of whole values which rows have a value. A question about text
becomes questions about words that every row must have for which it is true; sometimes that is all there is to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from string import ascii_letters, punctuation
from typing import Any, Final, TypeAlias

from amudai import _kernels
from amudai.index import Match, Terms
from amudai.predicate.bound import BoundLeaf
from amudai.predicate.comparison import is_text
from amudai.predicate.tree import Compare, IsIn, Matches, Text, TextOp

__all__ = ["Alternative", "Literal", "questions", "required_literals"]

# A text that must occur, and whether its case matters.
Literal: TypeAlias = tuple[str, bool]

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
# RE2 takes the Kelvin sign for a k and the long s for an s where case is ignored; the folding of indexes does not.
_SAFE_IN_ANY_CASE: Final = frozenset(ascii_letters + "0123456789 " + punctuation) - frozenset("kKsS")
# Python warns of these in sets, and does not know classes like [:alpha:].
_OTHER_SETS: Final = ("[[", "[:", "--", "&&", "~~", "||")


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
            literals = required_literals(pattern)
            words = tuple(dict.fromkeys(each for literal in literals for each in _words("contains", *literal)))
            within = tuple(Terms(text, Match.WITHIN, case, whole=True) for text, case in literals)
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


# ---- regular expressions ----


def required_literals(pattern: str) -> tuple[Literal, ...]:
    """Texts that occur in everything that a regular expression matches. What is not understood requires nothing."""
    if any(mark in pattern for mark in _OTHER_SETS):
        return ()
    try:
        parsed = parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return ()  # RE2's syntax is not quite Python's
    gathered = _Gathered()
    _walk(parsed, bool(parsed.state.flags & re.IGNORECASE), gathered)
    return gathered.finished()


class _Gathered:
    """Literals, and the one that is being read."""

    def __init__(self) -> None:
        self._done: dict[Literal, None] = {}
        self._text = ""
        self._case = True

    def add(self, character: str, ignore_case: bool) -> None:
        if ignore_case and character not in _SAFE_IN_ANY_CASE:
            self.cut()
            return
        if self._text and self._case is ignore_case:
            self.cut()
        self._text, self._case = self._text + character, not ignore_case

    def cut(self) -> None:
        """Whatever comes next need not follow at once."""
        if self._text:
            self._done[self._text, self._case] = None
        self._text = ""

    def finished(self) -> tuple[Literal, ...]:
        self.cut()
        return tuple(self._done)


def _walk(items: Any, ignore_case: bool, gathered: _Gathered) -> None:
    for code, argument in _items(items):
        if code is codes.LITERAL:
            gathered.add(chr(argument), ignore_case)
        elif code is codes.SUBPATTERN:
            _, added, removed, inner = argument
            flags = (re.IGNORECASE if ignore_case else 0) & ~removed | added
            _walk(inner, bool(flags & re.IGNORECASE), gathered)
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and argument[0] > 0:
            gathered.cut()
            _walk(argument[2], ignore_case, gathered)
            gathered.cut()
        else:
            gathered.cut()


def _items(items: Any) -> Iterator[tuple[Any, Any]]:
    yield from items
