"""`HashIndex`: what a user passes to ask for a hash index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from amudai.errors import InvalidArgument
from amudai.index.contract import require_level

__all__ = ["FIELD_HASHING", "HashIndex"]

FIELD_HASHING: Final = "field-hashing-index"  # the name of the type in shards


@dataclass(frozen=True, slots=True, init=False)
class HashIndex:
    """An index that finds the rows with a value: `trace_id == "4bf92f35"`, `user.id` in a set.

    It takes about 9 bytes for each distinct value and 3 bytes for each row. A look-up reads a few blocks, however large
    the shard is. It brings nothing for numbers and times that are sorted or clustered, because the range index finds
    those as fast; a `NeedlessIndexWarning` says so.

    Fields of every type with single values can be indexed, also inside structs, lists and maps (`labels.key`,
    `labels.value`). A row is found by each value that its list or map has.

    Parameters
    ----------
    fields
        Paths of the fields to index.
    level
        `"shard"`: one index of all rows. `"stripe"`: one index for each stripe, written together with the stripe.

    Attributes
    ----------
    index_type
        The name of the type in shards, and in `Index.type`. It is a class attribute.

    Examples
    --------
    >>> HashIndex("trace_id", "user.id")
    HashIndex(fields=('trace_id', 'user.id'), level='shard')
    >>> HashIndex()
    Traceback (most recent call last):
    amudai.errors.InvalidArgument: HashIndex: expected at least one field, found none
    """

    index_type: ClassVar[str] = FIELD_HASHING

    fields: tuple[str, ...]
    level: str

    def __init__(self, *fields: str, level: str = "shard") -> None:
        if not fields:
            raise InvalidArgument("HashIndex: expected at least one field, found none")
        for field in fields:
            if not isinstance(field, str):
                raise InvalidArgument(f"HashIndex: expected paths of fields, found {field!r}")
            if fields.count(field) > 1:
                raise InvalidArgument(f"HashIndex: expected each field once, found {field!r} again")
        require_level(level)
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "level", level)
