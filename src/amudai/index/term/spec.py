"""What does a user say who wants a term index?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.index.term.names import COLLATIONS, INDEX_TYPE, TOKENIZERS

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
        What a position is: `"record"`, a row of the shard.

    Examples
    --------
    >>> TermIndex("message", "tags.item", tokenizer=["log", "trivial"])
    TermIndex(fields=('message', 'tags.item'), tokenizers=('log', 'trivial'), collation='case_preserving',
    granularity='record')
    """

    fields: tuple[str, ...]
    tokenizers: tuple[str, ...]
    collation: str
    granularity: str

    def __init__(
        self,
        *fields: str,
        tokenizer: str | Sequence[str] = "log",
        collation: str = "case_preserving",
        granularity: str = "record",
    ) -> None:
        if not fields or not all(isinstance(field, str) for field in fields):
            raise InvalidArgument(f"fields: expected at least one path, found {fields}")
        if len(set(fields)) < len(fields):
            raise InvalidArgument(f"fields: expected each once, found {fields}")
        tokenizers = (tokenizer,) * len(fields) if isinstance(tokenizer, str) else tuple(tokenizer)
        if len(tokenizers) != len(fields):
            raise InvalidArgument(f"tokenizer: expected one, or {len(fields)} as there are fields, found {tokenizers}")
        for name in tokenizers:
            if name not in TOKENIZERS:
                raise InvalidArgument(f"tokenizer: expected one of {', '.join(TOKENIZERS)}, found {name!r}")
        if collation not in COLLATIONS:
            raise InvalidArgument(f"collation: expected one of {', '.join(COLLATIONS)}, found {collation!r}")
        if granularity == "element":
            raise UnsupportedFeature("granularity: term indexes of elements are not written by this version")
        if granularity != "record":
            raise InvalidArgument(f"granularity: expected 'record', found {granularity!r}")
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "tokenizers", tokenizers)
        object.__setattr__(self, "collation", collation)
        object.__setattr__(self, "granularity", granularity)

    @property
    def index_type(self) -> str:
        """The name of the type."""
        return INDEX_TYPE
