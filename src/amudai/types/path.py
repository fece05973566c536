"""Paths of nested fields."""

from __future__ import annotations

from amudai.arguments import shown
from amudai.errors import InvalidArgument

__all__ = ["parse_path", "quote_name"]


def parse_path(path: str) -> tuple[str, ...]:
    """Split a column name into steps. Dots separate the steps; backticks quote a name that contains dots.

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
            end = rest.find("`", 1)
            if end < 0:
                raise InvalidArgument(f"column {path!r}: expected a closing backtick")
            step, rest = rest[1:end], rest[end + 1 :]
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
    """
    return f"`{name}`" if "." in name or name.startswith("`") else name
