"""SQL LIKE patterns as predicates."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import Final

import numpy as np

from amudai import _kernels
from amudai.arguments import shown
from amudai.errors import InvalidArgument
from amudai.predicate.regex import quoted
from amudai.predicate.tree import Matches, Predicate, Text, TextOp

__all__ = ["like"]


class _Wildcard(Enum):
    ONE = "_"
    MANY = "%"


# A part of a pattern: a wildcard, or a text that stands for itself.
_Part = _Wildcard | str

# The operator for a text, by whether a `%` stands before it and behind it.
_OPERATORS: Final[dict[tuple[bool, bool], TextOp]] = {
    (False, False): "equals",
    (False, True): "startswith",
    (True, False): "endswith",
    (True, True): "contains",
}
# No character above this code has upper and lower case.
_LAST_CASED: Final = 0x1FFFF


def like(path: str, pattern: object, escape: object, *, case_sensitive: bool) -> Predicate:
    """The predicate that is true if the whole text of a column matches the pattern.

    A text with `%` before it, behind it or both becomes a text operator, which indexes can answer. All other patterns
    become regular expressions.
    """
    op = "like" if case_sensitive else "ilike"
    if not isinstance(pattern, str):
        raise InvalidArgument(f"{op}: expected a pattern, found {shown(pattern)}")
    if escape is not None and (not isinstance(escape, str) or len(escape) != 1):
        raise InvalidArgument(f"{op}: expected a single escape character, found {shown(escape)}")
    parts = list(_parts(op, pattern, escape))
    before, behind = parts[:1] == [_Wildcard.MANY], parts[-1:] == [_Wildcard.MANY]
    inner = parts[before : len(parts) - behind]
    if not inner:
        return Text(path, "contains" if parts else "equals", "", case_sensitive)
    if len(inner) == 1 and isinstance(inner[0], str):
        return Text(path, _OPERATORS[before, behind], inner[0], case_sensitive)
    start, end = "" if before else r"\A", "" if behind else r"\z"
    return Matches(path, "".join(["(?s)", start, *(_regex(part, case_sensitive) for part in inner), end]))


def _parts(op: str, pattern: str, escape: str | None) -> Iterator[_Part]:
    """The parts of a pattern. Adjacent texts are joined, and adjacent `%` are one."""
    text, after_many = "", False
    characters = iter(pattern)
    for character in characters:
        is_escaped = character == escape
        if is_escaped:
            character = next(characters, "")
            if not character:
                raise InvalidArgument(f"{op}: expected a character behind the last {escape!r}, found {shown(pattern)}")
        if is_escaped or character not in "_%":
            text, after_many = text + character, False
            continue
        if text:
            yield text
        wildcard = _Wildcard(character)
        if wildcard is _Wildcard.ONE or not after_many:
            yield wildcard
        text, after_many = "", wildcard is _Wildcard.MANY
    if text:
        yield text


def _regex(part: _Part, case_sensitive: bool) -> str:
    if isinstance(part, _Wildcard):
        return "." if part is _Wildcard.ONE else ".*"
    return quoted(part) if case_sensitive else "".join(map(_in_any_case, part))


def _in_any_case(character: str) -> str:
    """A regular expression for the character in any case, as our case-insensitive operators understand case.

    RE2's own `(?i)` would also fold other characters, such as the Kelvin sign.
    """
    spellings = _spellings().get(_kernels.fold(character.encode()))
    return quoted(character) if spellings is None else f"[{spellings}]"


@lru_cache(1)
def _spellings() -> dict[bytes, str]:
    """The characters that differ only in case, by the character that they fold to."""
    characters = "".join(map(chr, [*range(0xD800), *range(0xE000, _LAST_CASED)]))
    folded = _kernels.fold(characters.encode()).decode()
    codes, folded_codes = (np.frombuffer(text.encode("utf-32-le"), np.uint32) for text in (characters, folded))
    found: dict[bytes, str] = {}
    for at in np.flatnonzero(codes != folded_codes).tolist():
        spelling = folded[at]
        found[spelling.encode()] = found.get(spelling.encode(), spelling) + characters[at]
    return found
