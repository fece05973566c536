"""The most recently opened files."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["RecentFiles"]

T = TypeVar("T")


class RecentFiles(Generic[T]):
    """Keeps the `limit` most recently opened files, and drops older ones.

    A shard may have more files than a process may have open. Dropping a file does not close it: a file is closed when
    its last user is gone.

    Attributes
    ----------
    latest
        The file that was requested last, with its URL: the next request is usually for the same. None if there is none.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._opened: dict[str, T] = {}
        self.latest: tuple[str, T] | None = None
        self._lock = Lock()

    def get(self, url: str, opening: Callable[[str], T]) -> T:
        """The file at `url`. `opening` opens it if it is not open."""
        with self._lock:
            found = self._opened.pop(url, None)
            if found is None:
                found = opening(url)
            self._opened[url] = found  # a dict keeps its order: the oldest comes first
            self.latest = (url, found)
            if len(self._opened) > self._limit:
                del self._opened[next(iter(self._opened))]
            return found

    def drop(self, url: str) -> None:
        """Drop the file at `url`, if it is open: another file may have its name by now."""
        with self._lock:
            self._opened.pop(url, None)
            self.latest = None

    def clear(self) -> None:
        """Drop all files."""
        with self._lock:
            self._opened.clear()
            self.latest = None
