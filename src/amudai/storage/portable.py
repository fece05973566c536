"""How another process opens the same store: a small value that can be pickled and holds no secret.

Each store creates that value in its own `portable`. It contains only settings that are known to be harmless, and never
credentials: the other process takes them from its environment.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amudai.errors import InvalidArgument

if TYPE_CHECKING:
    from amudai.storage.contract import Store

__all__ = ["PortableStore", "check_settings", "portable_store", "undeclared", "unportable"]


@dataclass(frozen=True, slots=True)
class PortableStore:
    """How another process opens a store.

    Attributes
    ----------
    opener
        A class or function that another process can import. It returns the store.
    arguments
        What `opener` is called with: plain values and importable classes, never a secret.
    """

    opener: Callable[..., Store]
    arguments: tuple[Any, ...] = ()

    def open(self) -> Store:
        """A new store that serves the same files. Nothing is read yet."""
        return self.opener(*self.arguments)


def portable_store(store: Store) -> PortableStore:
    """How another process opens `store`; `InvalidArgument` if it cannot, or would need a secret of this process."""
    # An inherited answer would open a store of the parent class, which need not serve the same bytes.
    if "portable" not in vars(type(store)):
        raise undeclared(store)
    return store.portable()


def check_settings(found: str, settings: Mapping[str, object], harmless: Collection[str]) -> None:
    """Raise `InvalidArgument` if a setting is not `harmless` or its value may hold a secret. It names these settings.

    A text with `@` or `?` may be a URL with a password or a signature.
    """

    def is_plain(value: object) -> bool:
        return isinstance(value, bool | int | float | None) or (isinstance(value, str) and not {*"@?"} & {*value})

    refused = sorted(name for name, value in settings.items() if name not in harmless or not is_plain(value))
    if refused:
        raise unportable(f"{found} with settings that may hold credentials ({', '.join(refused)})")


def unportable(
    found: str, advice: str = "pass the URL, and let credentials come from the environment"
) -> InvalidArgument:
    """The error for a store that only this process can use."""
    return InvalidArgument(f"store: expected a store that another process can open, found {found}: {advice}")


def undeclared(store: Store) -> InvalidArgument:
    """The error for a store whose class does not override `portable`."""
    name = type(store).__name__
    return unportable(f"an object of {name}", f"override portable() in {name}, or pass the URL without a store")
