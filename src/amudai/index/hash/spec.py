"""Which fields shall be found by their values?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from amudai.errors import InvalidArgument
from amudai.index.contract import require_level

__all__ = ["FIELD_HASHING", "HashIndex"]

FIELD_HASHING: Final = "field-hashing-index"  # as shards name the type


@dataclass(frozen=True, slots=True, init=False)
class HashIndex:
    """An index that finds the rows with a value: `trace_id == "4bf92f35"`, `user.id` in a set.

    It costs some 9 bytes for each distinct value and 3 for each row, and a lookup reads a few blocks, however large the
    shard is. Fields of any type can be indexed that hold single values, also inside structs and lists: then a row is
    found by each of its values.

    Parameters
    ----------
    fields
        Paths of the fields.
    level
        `"shard"`: one index of all rows. `"stripe"`: one for each stripe, of its own rows, finished with it.

    Attributes
    ----------
    index_type
        The name of the type, as `Index.type` has it: an attribute of the class.

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
