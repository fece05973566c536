"""What does a user say who wants a term index?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from amudai.errors import InvalidArgument
from amudai.index.contract import require_level
from amudai.index.term.names import COLLATIONS, GRANULARITIES, INDEX_TYPE, TOKENIZERS
from amudai.storage import Size, size_of

__all__ = ["TermIndex"]


@dataclass(frozen=True, slots=True, init=False)
class TermIndex:
    """An index of the terms of text: which rows have this word, or one that begins so, ends so or holds this?

    Parameters
    ----------
    fields
        Paths of string fields: columns, members of structs, items of lists, keys and values of maps.
    tokenizer
        What a term is, for all fields or one for each. `"word"`: a run of letters and digits. `"log"`: the same, and
        IPv4 addresses as a whole besides. `"trivial"`: the value itself.
    collation
        `"case_preserving"` serves questions with and without regard to case; `"case_insensitive"` is for other readers
        that cannot ask the first kind without regard to case: here it leaves case-sensitive answers to be checked.
    granularity
        What a position is, for all fields or one for each. `"record"`: a row of the shard. `"element"`: a slot of the
        field, the item of a list say, from which rows are found through the lists above it. Answers are the same;
        other readers take slots for rows.
    max_bytes
        How large the index may be, as `memory_limit` is written: `"20MB"`; with `level="stripe"` each of them. None for
        exact lists. Where the index would be larger, lists of rows become ranges in which rows only may have the term,
        first those that save most for the least doubt; scans look at the values of such rows. Terms are never left
        out: less than they need is an error, and nothing is written.
    level
        `"shard"`: one index of all rows. `"stripe"`: one for each stripe, of its own rows, finished with it.

    Attributes
    ----------
    index_type
        The name of the type, as `Index.type` has it: an attribute of the class.

    Examples
    --------
    >>> TermIndex("message", "tags.item", tokenizer=["log", "trivial"])
    TermIndex(fields=('message', 'tags.item'), tokenizers=('log', 'trivial'), collation='case_preserving',
    granularities=('record', 'record'), max_bytes=None, level='shard')
    >>> TermIndex("message", max_bytes="20MB").max_bytes
    20000000
    """

    index_type: ClassVar[str] = INDEX_TYPE  # as shards name the type

    fields: tuple[str, ...]
    tokenizers: tuple[str, ...]
    collation: str
    granularities: tuple[str, ...]
    max_bytes: int | None
    level: str

    def __init__(
        self,
        *fields: str,
        tokenizer: str | Sequence[str] = "log",
        collation: str = "case_preserving",
        granularity: str | Sequence[str] = "record",
        max_bytes: Size | None = None,
        level: str = "shard",
    ) -> None:
        if not fields or not all(isinstance(field, str) for field in fields):
            raise InvalidArgument(f"fields: expected at least one path, found {fields}")
        if len(set(fields)) < len(fields):
            raise InvalidArgument(f"fields: expected each once, found {fields}")
        tokenizers = _of_each("tokenizer", tokenizer, len(fields), TOKENIZERS)
        granularities = _of_each("granularity", granularity, len(fields), GRANULARITIES)
        if collation not in COLLATIONS:
            raise InvalidArgument(f"collation: expected one of {', '.join(COLLATIONS)}, found {collation!r}")
        most = None if max_bytes is None else size_of(max_bytes)
        if most is not None and most < 1:
            raise InvalidArgument(f"max_bytes: expected at least 1, found {max_bytes!r}")
        require_level(level)
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "tokenizers", tokenizers)
        object.__setattr__(self, "collation", collation)
        object.__setattr__(self, "granularities", granularities)
        object.__setattr__(self, "max_bytes", most)
        object.__setattr__(self, "level", level)


def _of_each(name: str, given: str | Sequence[str], count: int, known: Collection[str]) -> tuple[str, ...]:
    """What is said of each field: the same of all, or one of each."""
    found = (given,) * count if isinstance(given, str) else tuple(given)
    if len(found) != count:
        raise InvalidArgument(f"{name}: expected one, or {count} as there are fields, found {found}")
    for each in found:
        if each not in known:
            raise InvalidArgument(f"{name}: expected one of {', '.join(known)}, found {each!r}")
    return found
