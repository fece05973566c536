"""Plug-ins that installed packages announce as entry points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from amudai.errors import InvalidArgument

__all__ = ["COLLATIONS_GROUP", "INDEXES_GROUP", "TOKENIZERS_GROUP", "load_announced"]

INDEXES_GROUP: Final = "amudai.indexes"
TOKENIZERS_GROUP: Final = "amudai.tokenizers"
COLLATIONS_GROUP: Final = "amudai.collations"

_loaded: set[str] = set()


def load_announced(group: str, register: Callable[[Any], object]) -> None:
    """Register what installed packages announce in a group of entry points. Each group is looked at once.

    An entry point is what `register` takes, or a function without arguments that returns it.
    """
    if group in _loaded:
        return
    _loaded.add(group)
    from importlib.metadata import entry_points  # slow to import, and only needed for names that are not known

    for announced in entry_points(group=group):
        try:
            found = announced.load()
        except Exception as error:
            message = f"entry point {announced.name!r} of {group}: expected an object to load, found an error: {error}"
            raise InvalidArgument(message) from error
        register(found)
