"""`TermIndex`: what a user passes to ask for a term index."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from amudai.arguments import sequence, shown
from amudai.errors import InvalidArgument
from amudai.index.contract import require_level
from amudai.index.term.custom import collation_of, tokenizer_of
from amudai.index.term.stored_form import COLLATIONS, GRANULARITIES, INDEX_TYPE, TOKENIZERS
from amudai.storage import Size, size_of

__all__ = ["TermIndex"]


@dataclass(frozen=True, slots=True, init=False)
class TermIndex:
    """An index of the terms in text. It finds rows by a word, or by the beginning, the end or a part of a word.

    Parameters
    ----------
    fields
        Paths of fields of text: columns, members of structs, items of lists, keys and values of maps. Bytes have terms
        where they are UTF-8, UUIDs as they are written.
    tokenizer
        What a term is, for all fields or one for each. `"word"`: a run of letters and digits. `"log"`: the same, and
        IPv4 addresses as a whole besides. `"trivial"`: the value itself. Or the name of a registered `Tokenizer`.
    collation
        `"case_preserving"` answers case-sensitive and case-insensitive questions. `"case_insensitive"` is for other
        readers that cannot search a case-preserving index without regard to case; our scans must then check the values
        to answer case-sensitive questions. Or the name of a registered `Collation`.
    granularity
        What the index stores for a term, for all fields or one for each. `"record"`: the rows of the shard.
        `"element"`: the slots of the field, such as the items of a list; rows are found through the offsets of the
        lists. Answers are the same. Other readers mistake slots for rows.
    max_bytes
        The largest size of the index, as a number or as text such as `"20MB"`; with `level="stripe"`, of each index.
        None keeps all lists exact. If the index would be larger, lists of rows become ranges of rows that may have the
        term, starting with the lists that save most bytes for the fewest doubtful rows; scans check the values of
        such rows. Terms are never left out: if they do not fit, that is an error, and nothing is written.
    level
        `"shard"`: one index of all rows. `"stripe"`: one index for each stripe, written together with the stripe.
        `"field"`: one index of all rows of a single field, in the descriptor of the field.

    Attributes
    ----------
    index_type
        The name of the type in shards, and in `Index.type`. It is a class attribute.

    Examples
    --------
    >>> TermIndex("message", "tags.item", tokenizer=["log", "trivial"])
    TermIndex(fields=('message', 'tags.item'), tokenizers=('log', 'trivial'), collation='case_preserving',
    granularities=('record', 'record'), max_bytes=None, level='shard')
    >>> TermIndex("message", max_bytes="20MB").max_bytes
    20000000
    """

    index_type: ClassVar[str] = INDEX_TYPE  # the name of the type in shards

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
            raise InvalidArgument(f"fields: expected at least one path, found {shown(fields)}")
        if len(set(fields)) < len(fields):
            raise InvalidArgument(f"fields: expected each field once, found {fields}")
        tokenizers = _of_each("tokenizer", tokenizer, len(fields), TOKENIZERS, tokenizer_of)
        granularities = _of_each("granularity", granularity, len(fields), GRANULARITIES)
        if not isinstance(collation, str) or (collation not in COLLATIONS and collation_of(collation) is None):
            raise InvalidArgument(f"collation: expected one of {', '.join(COLLATIONS)}, found {shown(collation)}")
        most = None if max_bytes is None else size_of(max_bytes)
        if most is not None and most < 1:
            raise InvalidArgument(f"max_bytes: expected at least 1, found {shown(max_bytes)}")
        require_level(level)
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "tokenizers", tokenizers)
        object.__setattr__(self, "collation", collation)
        object.__setattr__(self, "granularities", granularities)
        object.__setattr__(self, "max_bytes", most)
        object.__setattr__(self, "level", level)


def _of_each(
    name: str,
    given: str | Sequence[str],
    count: int,
    known: Collection[str],
    registered: Callable[[str], object | None] = lambda _: None,
) -> tuple[str, ...]:
    """The setting of each field: `given` for all fields, or one setting per field."""
    found = (given,) * count if isinstance(given, str) else sequence(given, name)
    if len(found) != count:
        raise InvalidArgument(f"{name}: expected one for all fields, or {count}, one for each field, found {found}")
    for each in found:
        if not isinstance(each, str) or (each not in known and registered(each) is None):
            raise InvalidArgument(f"{name}: expected one of {', '.join(known)}, found {shown(each)}")
    return found
