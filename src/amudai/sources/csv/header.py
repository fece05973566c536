"""The header of a CSV file: whether it has one, and the names of the columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from amudai.errors import InvalidArgument, InvalidSchema
from amudai.sources.contract import Duplicates
from amudai.sources.files import InputFile

__all__ = ["column_names", "has_header", "is_clearly_header"]

_KINDS: Final = {
    "number": r"[-+]?[$€£]?(?:\d[\d.,' ]*|[.,]\d+)(?:[eE][-+]?\d+)?\s?[%€$£]?",
    "time": r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ].*)?|\d\d?:\d\d(?::\d\d)?.*",
    "boolean": r"(?i:true|false)",
}
_ANY_KIND: Final = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _KINDS.items()))
_MISSING: Final = frozenset({"", "-", "?", "--", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "\\n", "."})
_MOSTLY: Final = 0.9
_CELLS: Final = 4000  # that are looked at


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of some rows has the names of the columns.

    It has them if it does not look like the others: a word above numbers, times or booleans. It does not if it looks
    like the others: a number above numbers, or a word that the column has again. Numbers that count up, such as years,
    can be names, and so can one year. In doubt it has them, because most files do.

    >>> has_header([["id", "city"], ["1", "Oslo"]]), has_header([["1", "Oslo"], ["2", "Rome"]])
    (True, False)
    """
    first, body = rows[0], _body(rows)
    if not body:
        return not any(_kind(value) in ("number", "time") for value in first)
    unlike, like, known = _compared(first, body)
    if not any(first):
        return True
    if unlike or like:
        return 2 * unlike >= like or (not known and _counts_up(first, body))
    return 2 * known < sum(not _is_missing(name) for name in first)


def is_clearly_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of some rows has words above numbers, times or booleans, and none of these itself.

    >>> is_clearly_header([["id", "city"], ["1", "Oslo"]]), is_clearly_header([["Oslo", "city"], ["Rome", "city"]])
    (True, False)
    """
    unlike, like, _ = _compared(rows[0], _body(rows))
    return unlike > 0 and like == 0


def _body(rows: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    return rows[1 : 1 + max(20, _CELLS // len(rows[0]))]


def _compared(first: Sequence[str], body: Sequence[Sequence[str]]) -> tuple[int, int, int]:
    """Values of the first row that are unlike the column below, like it, and texts that the column has again."""
    unlike = like = known = 0
    for place, name in enumerate(first):
        values = Counter(row[place] for row in body if place < len(row))
        for value in [value for value in values if _is_missing(value)]:
            del values[value]
        if _is_missing(name) or not values:
            continue
        kind = _column_kind(values)
        if kind == "text":
            known += name in values
        elif _kind(name) == kind:
            like += 1
        else:
            unlike += 1
    return unlike, like, known


def _counts_up(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether the numbers of the first row count up (2019, 2020, 2021) or are one year, and those below do not."""
    places = [place for place, name in enumerate(first) if _kind(name) == "number"]
    if not places or len(places) == len(first) or (len(places) == 1 and any(map(_is_missing, first))):
        return False

    def is_count(row: Sequence[str]) -> bool:
        if any(place >= len(row) or not row[place].strip().isdecimal() for place in places):
            return False
        numbers = [int(row[place]) for place in places]
        steps = {after - before for before, after in pairwise(numbers)}
        if all(1800 < number < 2100 for number in numbers):  # years, some of which may be left out
            return min(steps, default=1) > 0 or max(steps) < 0
        return len(numbers) > 2 and len(steps) == 1 and steps != {0}

    return is_count(first) and not any(map(is_count, body[:20]))


def _is_missing(value: str) -> bool:
    return value.strip().lower() in _MISSING


def _kind(value: str) -> str:
    found = _ANY_KIND.fullmatch(value.strip())
    return "text" if found is None else found.lastgroup or "text"


def _column_kind(values: Counter[str]) -> str:
    kinds: Counter[str] = Counter()
    total = values.total()
    for value, count in values.items():
        kinds[_kind(value)] += count
        if total - kinds["text"] < _MOSTLY * total:
            break  # no other kind can be that of most values
    return next((name for name in _KINDS if kinds[name] >= _MOSTLY * total), "text")


def column_names(
    file: InputFile, found: Sequence[str] | int, told: Sequence[str] | None, duplicates: Duplicates
) -> list[str]:
    """The names of the columns: those of the caller, or those in the header.

    Parameters
    ----------
    found
        The names in the header; without one, the number of columns, whose names are `column_1`, `column_2`... A name
        that is empty in the header becomes such a name too.
    """
    count = found if isinstance(found, int) else len(found)
    if told is not None and len(told) != count:
        raise InvalidArgument(f"columns: expected {count} names, found {len(told)}", file=file.path)
    given = told if told is not None else [""] * count if isinstance(found, int) else found
    names: dict[str, None] = {}
    taken = set(given)
    for place, name in enumerate(given, 1):
        chosen = name or _free(f"column_{place}", taken)
        if chosen in names:
            if duplicates == "raise":
                way_out = 'name the columns (columns= or --columns); duplicates="rename" renames the second'
                message = f"header: expected unique names, found {name!r} twice: {way_out}"
                raise InvalidSchema(message, file=file.path)
            chosen = _free(name, taken)
        taken.add(chosen)
        names[chosen] = None
    return list(names)


def _free(name: str, taken: set[str]) -> str:
    """The name, or the first of `name_1`, `name_2`... that is free."""
    if name not in taken:
        return name
    number = 1
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"
