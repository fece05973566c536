"""How large does a KQL query become when its names are replaced by what they stand for?"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Final

from amudai.errors import LimitExceeded

__all__ = ["require_moderate"]

# A query unfolds to as many parts as this, or to a few times as many as it is written with.
_MOST: Final = 1 << 15
_FOLD: Final = 4


def require_moderate(tree: Any) -> None:
    """Raise `LimitExceeded` if a tree unfolds to very much.

    A name of `let` stands in the tree as what it means, the same object each time. So thirty lines of
    `let b = a + a;` are a small tree that unfolds to a billion parts, and whoever walks it sees them all.
    """
    sizes: dict[int, int] = {}
    waiting = [(tree, False)]
    while waiting:
        node, is_done = waiting.pop()
        if is_done:
            sizes[id(node)] = 1 + sum(sizes.get(id(each), 0) for each in _below(node))
        elif id(node) not in sizes:
            sizes[id(node)] = 0
            waiting.append((node, True))
            waiting += [(each, False) for each in _below(node) if id(each) not in sizes]
    if sizes[id(tree)] > max(_MOST, _FOLD * len(sizes)):
        raise LimitExceeded(f"kql: expected a query that unfolds to at most {_MOST} parts, found one with more")


def _below(node: Any) -> Iterator[Any]:
    """The parts of a node that have parts themselves, or may."""
    values = (
        node
        if isinstance(node, tuple | list)
        else [getattr(node, field.name) for field in dataclasses.fields(node)]
        if dataclasses.is_dataclass(node)
        else ()
    )
    return (each for each in values if isinstance(each, tuple | list) or dataclasses.is_dataclass(each))
