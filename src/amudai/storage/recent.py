"""The files that were opened last."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["Recent"]

T = TypeVar("T")


class Recent(Generic[T]):
    """Keeps what was opened last, up to `limit`, and lets go of the rest.

    A shard may have more files than a process may hold open. Nothing is closed here: whoever still uses a file keeps it
    alive, and it is closed with its last user.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._opened: dict[str, T] = {}
        self._latest: tuple[str, T] | None = None
        self._lock = Lock()

    def latest(self, url: str) -> T | None:
        """The file at `url` if it was the last one asked for, which is the usual case; otherwise `get` finds it."""
        latest = self._latest
        return latest[1] if latest is not None and latest[0] == url else None

    def get(self, url: str, opening: Callable[[str], T]) -> T:
        """The file at `url`, opened by `opening` unless it is open."""
        with self._lock:
            found = self._opened.pop(url, None)
            if found is None:
                found = opening(url)
            self._opened[url] = found  # a dict keeps its order: the oldest comes first
            self._latest = (url, found)
            if len(self._opened) > self._limit:
                del self._opened[next(iter(self._opened))]
            return found

    def drop(self, url: str) -> None:
        """Let go of the file at `url`, if it is open: another may have its name by now."""
        with self._lock:
            self._opened.pop(url, None)
            self._latest = None

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._opened.clear()
            self._latest = None
