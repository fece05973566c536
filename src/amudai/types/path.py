"""Paths of nested fields."""

from __future__ import annotations

import re
from typing import Final

from amudai.arguments import shown
from amudai.errors import InvalidArgument

__all__ = ["parse_path", "quote_name"]

_QUOTED: Final = re.compile(r"`((?:[^`]|``)*)`", re.DOTALL)


def parse_path(path: str) -> tuple[str, ...]:
    """Split a column name into steps. Dots separate the steps; backticks quote a name that contains dots.

    Between backticks, two of them stand for one.

    >>> parse_path("http.status")
    ('http', 'status')
    >>> parse_path("`k8s.pod`.name")
    ('k8s.pod', 'name')
    """
    if not isinstance(path, str):
        raise InvalidArgument(f"column: expected a name, found {shown(path)}")
    steps: list[str] = []
    rest = path
    while True:
        if rest.startswith("`"):
            quoted = _QUOTED.match(rest)
            if quoted is None:
                raise InvalidArgument(f"column {path!r}: expected a closing backtick")
            step, rest = quoted[1].replace("``", "`"), rest[quoted.end() :]
            if rest and not rest.startswith("."):
                raise InvalidArgument(f"column {path!r}: expected a dot after the closing backtick")
        else:
            end = rest.find(".")
            step, rest = (rest, "") if end < 0 else (rest[:end], rest[end:])
        steps.append(step)
        if not rest:
            return tuple(steps)
        rest = rest[1:]


def quote_name(name: str) -> str:
    """`name` as one step of a path.

    >>> quote_name("k8s.pod")
    '`k8s.pod`'
    >>> parse_path(quote_name("`k8s`.pod"))
    ('`k8s`.pod',)
    """
    if "." not in name and not name.startswith("`"):
        return name
    return "`{}`".format(name.replace("`", "``"))
