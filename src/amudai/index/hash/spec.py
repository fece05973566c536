"""`HashIndex`: what a user passes to ask for a hash index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from amudai.arguments import shown
from amudai.errors import InvalidArgument
from amudai.index.contract import require_level

__all__ = ["FIELD_HASHING", "HashIndex"]

FIELD_HASHING: Final = "field-hashing-index"  # the name of the type in shards


@dataclass(frozen=True, slots=True, init=False, repr=False)
class HashIndex:
    """An index that finds the rows with a value: `trace_id == "4bf92f35"`, `user.id` in a set.

    It takes about 9 bytes for each distinct value and 3 bytes for each row. A look-up reads a few blocks, however large
    the shard is. It brings nothing for numbers and times that are sorted or clustered, because the range index finds
    those as fast; a `NeedlessIndexWarning` says so.

    Fields of every type with single values can be indexed, also inside structs, lists and maps (`labels.key`,
    `labels.value`). A row is found by each value that its list or map has.

    Parameters
    ----------
    keys
        Paths of the fields to index. A tuple of paths, `("tenant", "user")`, is one composite key: it finds the rows
        that have given values in all these fields, for conditions joined by `and`. Fields of a composite key have one
        value for each row.
    level
        `"shard"`: one index of all rows. `"stripe"`: one index for each stripe, written together with the stripe.
        `"field"`: one index of all rows of a single field, in the descriptor of the field.

    Attributes
    ----------
    fields
        The paths of all fields, each once.
    keys
        The fields of each key.
    index_type
        The name of the type in shards, and in `Index.type`. It is a class attribute.

    Examples
    --------
    >>> HashIndex("trace_id", "user.id")
    HashIndex(fields=('trace_id', 'user.id'), level='shard')
    >>> HashIndex(("tenant", "user.id")).keys
    (('tenant', 'user.id'),)
    >>> HashIndex()
    Traceback (most recent call last):
    amudai.errors.InvalidArgument: HashIndex: expected at least one field, found none
    """

    index_type: ClassVar[str] = FIELD_HASHING

    fields: tuple[str, ...]
    level: str
    keys: tuple[tuple[str, ...], ...]

    def __init__(self, *keys: str | tuple[str, ...], level: str = "shard") -> None:
        if not keys:
            raise InvalidArgument("HashIndex: expected at least one field, found none")
        found = tuple((key,) if isinstance(key, str) else key for key in keys)
        for given, key in zip(keys, found, strict=True):
            if not isinstance(key, tuple) or not key or not all(isinstance(field, str) for field in key):
                raise InvalidArgument(f"HashIndex: expected paths of fields, found {shown(given)}")
            if found.count(key) > 1 or len(set(key)) < len(key):
                raise InvalidArgument(f"HashIndex: expected each field once, found {shown(given)} again")
        require_level(level)
        object.__setattr__(self, "fields", tuple(dict.fromkeys(field for key in found for field in key)))
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "keys", found)

    def __repr__(self) -> str:
        shown = tuple(key[0] if len(key) == 1 else key for key in self.keys)
        return f"HashIndex(fields={shown!r}, level={self.level!r})"
