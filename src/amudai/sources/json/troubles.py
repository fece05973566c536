"""What is wrong with a record, in words."""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Final

from amudai.sources.json.plan import ColumnPlan

__all__ = ["WAY_OUT", "Trouble", "explained", "kind_of", "missing_in_array"]

_SHOWN: Final = 60
WAY_OUT: Final = "set the type of column {!r} (types= or --type)"


class Trouble(IntEnum):
    """The kinds of trouble. The numbers are those of the kernels."""

    VALUE = 0
    NAME = 1
    COLON = 2
    END_OF_OBJECT = 3
    END_OF_ARRAY = 4
    END_OF_TEXT = 5
    CONTROL = 6
    ESCAPE = 7
    SURROGATE = 8
    NUMBER = 9
    NOT_A_NUMBER = 10
    UTF8 = 11
    DEPTH = 12
    REST = 13
    NOT_AN_OBJECT = 14
    REPEATED = 15
    UNKNOWN = 16
    KIND = 17
    INEXACT = 18
    RANGE = 19


# What a record breaks of JSON itself: what was expected at that place.
_EXPECTED: Final = {
    Trouble.VALUE: "a JSON value",
    Trouble.NAME: "a name in quotes",
    Trouble.COLON: "a colon after a name",
    Trouble.END_OF_OBJECT: "a comma or a closing brace after a member",
    Trouble.END_OF_ARRAY: "a comma or a closing bracket after an element",
    Trouble.END_OF_TEXT: "a quote that closes the text",
    Trouble.CONTROL: "an escape such as \\n in a text, not a control character",
    Trouble.ESCAPE: "a known escape in a text",
    Trouble.SURROGATE: "both halves of an escaped surrogate pair",
    Trouble.NUMBER: "a JSON number",
    Trouble.REST: "the end of the record",
}

_KINDS: Final = {
    ord('"'): "a text",
    ord("{"): "an object",
    ord("["): "an array",
    ord("t"): "a boolean",
    ord("f"): "a boolean",
    ord("n"): "null",
}


def kind_of(value: bytes) -> str:
    """What kind of value begins like this: `"an object"`."""
    return _KINDS.get(value[0], "a number") if value else "nothing"


def explained(trouble: Trouble, record: bytes, at: int, end: int, column: ColumnPlan) -> str:
    """The reason why a record was refused.

    Parameters
    ----------
    at, end
        The part of the record that the trouble is about.
    column
        The column in which it occurred, or the root.
    """
    part = record[at:end]
    path, kind, way_out = column.path, column.type, WAY_OUT.format(column.top)
    match trouble:
        case Trouble.UTF8:
            return "expected UTF-8, found other bytes"
        case Trouble.DEPTH:
            return "expected at most 64 levels of brackets, found more"
        case Trouble.NOT_A_NUMBER:
            return f"expected a JSON number, found {_shown(part)} at byte {at + 1}: the option nan (--nan) reads it"
        case Trouble.NOT_AN_OBJECT:
            return f"expected an object, found {kind_of(record[at:].lstrip())}"
        case Trouble.REPEATED:
            return f"expected each name once in an object, found {_name(part)!r} twice"
        case Trouble.UNKNOWN:
            where = f"in column {path!r}" if path else "in the first records"
            return f"expected the names {where}, found {_name(part)!r}: {WAY_OUT.format(column.top or _name(part))}"
        case Trouble.KIND:
            return f"expected {kind} in column {path!r}, found {kind_of(part)}, {_shown(part)}: {way_out}"
        case Trouble.INEXACT | Trouble.RANGE:
            return f"expected numbers that {kind} can hold in column {path!r}, found {_shown(part)}: {way_out}"
    found = f"{_shown(record[at : at + 20])} at byte {at + 1}" if at < len(record.rstrip()) else "the end of the record"
    return f"expected {_EXPECTED[trouble]}, found {found}"


def missing_in_array(following: bytes) -> str:
    """The reason for a gap in an array, before this character."""
    if following in (b",", b"]"):
        return f"expected a value in the array, found {following.decode()}"
    return "expected a comma between two values of the array, found none"


def _name(part: bytes) -> str:
    """A name without its escapes."""
    name: str = json.loads(b'"' + part + b'"')
    return name[:_SHOWN]


def _shown(part: bytes) -> str:
    text = " ".join(part.decode("utf-8", "replace").split())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
