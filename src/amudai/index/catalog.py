"""The types of index.

A range index is not one of them: it is a buffer of its field, and `range.py` opens it.
"""

from __future__ import annotations

from typing import Any, Final

from amudai.arguments import shown
from amudai.errors import InvalidArgument
from amudai.index.contract import IndexType
from amudai.index.hash.kind import HASH
from amudai.index.plugins import INDEXES_GROUP, load_announced
from amudai.index.term.kind import TERM

__all__ = ["TYPES", "index_type", "index_types", "register"]

TYPES: Final[tuple[IndexType, ...]] = (HASH, TERM)

_added: list[IndexType] = []


def index_types() -> tuple[IndexType, ...]:
    """All known types: our own and those that other packages registered."""
    return (*TYPES, *_added)


def index_type(name: str) -> IndexType | None:
    """The type that shards call `name`; None if it is unknown.

    >>> found = index_type("hashmap-index")
    >>> None if found is None else found.name
    'field-hashing-index'
    """
    found = _known(name)
    if found is None and name:
        load_announced(INDEXES_GROUP, _announce)
        found = _known(name)
    return found


def _known(name: str) -> IndexType | None:
    for each in (*TYPES, *_added):
        if name == each.name or name in each.aliases:
            return each
    return None


def _announce(plugin: Any) -> None:
    """Register what an entry point announces: a plug-in or its class, which says what type it is."""
    made = plugin() if isinstance(plugin, type) else plugin
    as_type = getattr(made, "as_index_type", None)
    if as_type is None:
        raise InvalidArgument(f"plug-in: expected an amudai.IndexPlugin, found {shown(plugin)}")
    register(as_type())


def register(added: IndexType) -> None:
    """Add a type of index. From now on scans use the indexes of this type that they find in shards.

    Raises InvalidArgument if its name or one of its aliases is taken.
    """
    for name in (added.name, *added.aliases):
        if _known(name) is not None:
            raise InvalidArgument(f"index type: expected a name that is not taken, found {shown(name)}")
    _added.append(added)
