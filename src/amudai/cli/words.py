"""Which rows have these words, and where are they in a text?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from amudai.api import Field, Predicate, Shard, col
from amudai.errors import InvalidArgument
from amudai.scan.predicate.values import is_text
from amudai.types import quote_name

__all__ = ["Words", "text_columns"]

# What words are made of: letters and digits. Python's \w has the underscore besides.
_BEFORE: Final = r"(?<![^\W_])"
_BEHIND: Final = r"(?![^\W_])"


@dataclass(frozen=True, slots=True)
class Words:
    """What a person looks for: the pieces between white space, and how they are meant."""

    texts: tuple[str, ...]
    match: str = "has"  # "has", "hasprefix" or "contains"
    any_of: bool = False
    case_sensitive: bool = False

    def predicate(self, columns: Sequence[str]) -> Predicate | None:
        """Rows where all words, or any, are found in some of the columns; None where there are no words."""
        if not self.texts:
            return None
        if not columns:
            raise InvalidArgument("search: expected a shard with columns of text, found none")
        operator = f"{self.match}_cs" if self.case_sensitive else self.match
        found = [_any([getattr(col(name), operator)(text) for name in columns]) for text in self.texts]
        return _any(found) if self.any_of else _all(found)

    def pattern(self) -> re.Pattern[str] | None:
        """What finds the words in a text, to show them in another colour."""
        if not self.texts:
            return None
        # Longer ones first, for the first alternative that fits wins.
        ordered = sorted(self.texts, key=len, reverse=True)
        before = "" if self.match == "contains" else _BEFORE
        behind = _BEHIND if self.match == "has" else r"\w*" if self.match == "hasprefix" else ""
        parts = [f"{before}{re.escape(text)}{behind}" for text in ordered]
        return re.compile("|".join(parts), 0 if self.case_sensitive else re.IGNORECASE)


def text_columns(shard: Shard) -> list[str]:
    """The paths of all texts of a shard: columns, members of structs, items of lists."""
    return [path for field in shard for path in _texts(field, quote_name(field.name))]


def _texts(field: Field, path: str) -> Iterator[str]:
    kind = field.type
    inner = field
    while _is_list(kind):
        (inner,) = inner
        kind = inner.type
    if is_text(kind):
        yield path
    elif pa.types.is_struct(kind):
        for child in inner:
            yield from _texts(child, f"{path}.{quote_name(child.name)}")


def _is_list(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(fits(kind) for fits in (*kinds, pa.types.is_list_view, pa.types.is_large_list_view))


def _any(terms: list[Predicate]) -> Predicate:
    found = terms[0]
    for term in terms[1:]:
        found = found | term
    return found


def _all(terms: list[Predicate]) -> Predicate:
    found = terms[0]
    for term in terms[1:]:
        found = found & term
    return found
