"""The predicate of a search for words, and the columns that such a search covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import and_, or_
from typing import Literal

import pyarrow as pa

from amudai.arguments import flag, is_one_of, shown
from amudai.errors import InvalidArgument
from amudai.predicate.column import col
from amudai.predicate.comparison import is_text
from amudai.predicate.tree import Predicate
from amudai.types import quote_name

__all__ = ["WordMatch", "text_columns", "words_predicate"]

WordMatch = Literal["has", "hasprefix", "contains"]
_MATCHES = ("has", "hasprefix", "contains")


def words_predicate(
    text: str, columns: Sequence[str], *, match: WordMatch = "has", any_word: bool = False, case_sensitive: bool = False
) -> Predicate | None:
    """The predicate that is true if each word of `text` is found in at least one of `columns`; None for no words.

    Words are separated by white space. With `any_word`, one found word is enough.

    >>> words_predicate("disk full", ["message"])
    col("message").has("disk") & col("message").has("full")
    """
    if not isinstance(text, str):
        raise InvalidArgument(f"text: expected words, found {shown(text)}")
    if not is_one_of(match, _MATCHES):
        raise InvalidArgument(f"match: expected {', '.join(_MATCHES)}, found {shown(match)}")
    words = list(dict.fromkeys(text.split()))  # each once: a word may be repeated thousands of times
    if not words:
        return None
    if not columns:
        raise InvalidArgument("search: expected a shard with text columns, found none")
    operator = f"{match}_cs" if flag(case_sensitive, "case_sensitive") else match
    found: list[Predicate] = [reduce(or_, (getattr(col(name), operator)(word) for name in columns)) for word in words]
    return reduce(or_ if flag(any_word, "any_word") else and_, found)


def text_columns(schema: pa.Schema) -> tuple[str, ...]:
    """The paths of all text columns, including text members of structs and lists of text.

    >>> text_columns(pa.schema([("n", pa.int64()), ("tags", pa.list_(pa.string())), ("a.b", pa.string())]))
    ('tags', '`a.b`')
    """
    return tuple(path for field in schema for path in _texts(field.type, quote_name(field.name)))


def _texts(kind: pa.DataType, path: str) -> Iterator[str]:
    while _is_list(kind):
        kind = kind.value_type
    if is_text(kind):
        yield path
    elif pa.types.is_struct(kind):
        for field in kind:
            yield from _texts(field.type, f"{path}.{quote_name(field.name)}")


def _is_list(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(fits(kind) for fits in (*kinds, pa.types.is_list_view, pa.types.is_large_list_view))
