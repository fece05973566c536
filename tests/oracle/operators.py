"""What the text operators mean, code point by code point: `docs/operators.md` as code, slow and obvious.

Words and folds come from Python's own tables, which stand at Unicode 14 in Python 3.11: texts for tests are made of
characters that it knows.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

# Alphabetic, but neither a letter nor a number by its category: what Python's categories do not say.
_OTHER_ALPHABETIC = [
    (0x0345, 0x0345),
    (0x24B6, 0x24E9),
    (0x0903, 0x0903),
    (0x093E, 0x0940),
    (0x1F130, 0x1F149),
]


def is_word(character: str) -> bool:
    """A letter, a number of any kind, or a sign that Unicode calls alphabetic."""
    code = ord(character)
    if any(first <= code <= last for first, last in _OTHER_ALPHABETIC):
        return True
    return unicodedata.category(character) in {"Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No"}


def fold(character: str) -> str:
    """Upper case, where that is one other character."""
    if character == "\u00df":
        return "\u1e9e"
    upper = character.upper()
    return upper if len(upper) == 1 else character


def words(text: str) -> list[tuple[str, bool, bool]]:
    """Maximal runs of word characters; whether they touch the left and the right end of the text."""
    found: list[tuple[str, bool, bool]] = []
    start = None
    for at, character in enumerate([*text, None]):
        inside = character is not None and is_word(character)
        if inside and start is None:
            start = at
        if not inside and start is not None:
            found.append((text[start:at], start == 0, at == len(text)))
            start = None
    return found


def _occurrences(value: str, text: str, case_sensitive: bool) -> list[int]:
    """Where the text stands in the value."""
    same: Callable[[str, str], bool] = (lambda a, b: a == b) if case_sensitive else (lambda a, b: fold(a) == fold(b))
    return [
        at
        for at in range(len(value) - len(text) + 1)
        if all(same(value[at + index], character) for index, character in enumerate(text))
    ]


def is_true(op: str, value: str | None, text: str, case_sensitive: bool) -> bool | None:
    """What an operator says of a value; None where the value is null."""
    if value is None:
        return None
    places = _occurrences(value, text, case_sensitive)
    if op == "equals":
        return len(value) == len(text) and 0 in places
    if text == "":
        return True
    if op == "contains":
        return bool(places)
    if op == "startswith":
        return 0 in places
    if op == "endswith":
        return len(value) - len(text) in places

    def left(at: int) -> bool:
        return not is_word(text[0]) or at == 0 or not is_word(value[at - 1])

    def right(at: int) -> bool:
        end = at + len(text)
        return not is_word(text[-1]) or end == len(value) or not is_word(value[end])

    if op == "has":
        return any(left(at) and right(at) for at in places)
    if op == "hasprefix":
        return any(left(at) for at in places)
    assert op == "hassuffix"
    return any(right(at) for at in places)


def is_like(value: str, pattern: str, *, case_sensitive: bool) -> bool:
    """Whether a whole value fits a pattern of SQL's LIKE: `%` is any text and `_` any one character."""
    if not pattern:
        return not value
    if pattern[0] == "%":
        return any(is_like(value[at:], pattern[1:], case_sensitive=case_sensitive) for at in range(len(value) + 1))
    if not value:
        return False
    same = value[0] == pattern[0] if case_sensitive else fold(value[0]) == fold(pattern[0])
    return (pattern[0] == "_" or same) and is_like(value[1:], pattern[1:], case_sensitive=case_sensitive)
