"""What must every store do?

Three verbs: `size`, `read_ranges`, `put_if_absent`. `Store` says what they promise; `StoreBase` keeps the promises that
are the same everywhere (exact bytes, counting, the place in errors), so that a store only says how bytes are fetched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Protocol, runtime_checkable

from amudai.errors import AmudaiError, StorageError, located
from amudai.storage.foreign import short_read

__all__ = ["Requests", "Store", "StoreBase"]


class Requests:
    """How often a store was asked, and for how many bytes.

    Attributes
    ----------
    requests
        Sizes asked for plus ranges read. Empty ranges and writes do not count.
    bytes
        Bytes of the ranges read.
    """

    def __init__(self) -> None:
        self.requests = 0
        self.bytes = 0
        self._lock = Lock()

    def add(self, requests: int, size: int) -> None:
        """Count `requests` more, which asked for `size` bytes together."""
        with self._lock:
            self.requests += requests
            self.bytes += size

    def __repr__(self) -> str:
        return f"Requests(requests={self.requests}, bytes={self.bytes})"


@runtime_checkable
class Store(Protocol):
    """Where the files of a shard live. Files are immutable: written once, as a whole, and never changed.

    What a URL looks like is the store's own matter: `file://` for local files, a key or path for others. All verbs may
    be called from several threads.
    """

    @property
    def counters(self) -> Requests:
        """What was asked of this store so far."""
        ...

    def size(self, url: str) -> int:
        """Bytes of the file at `url`."""
        ...

    def read_ranges(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[memoryview]:
        """Exactly the bytes of each half-open range, as read-only views of bytes; otherwise a `StorageError`."""
        ...

    def put_if_absent(self, url: str, parts: Iterable[bytes]) -> None:
        """Create the file at `url` from `parts`, all or nothing.

        A file that is there already stays as it is and is a `StorageError`. When `parts` raises, its error leaves and
        nothing is created.
        """
        ...


class StoreBase(ABC):
    """What all stores share. A store inherits it and says only how it finds, fetches and puts.

    The three hooks raise errors of ours (`foreign.translated` makes them); the URL is added here.
    """

    def __init__(self) -> None:
        self._counters = Requests()

    @property
    def counters(self) -> Requests:
        """What was asked of this store so far."""
        return self._counters

    def size(self, url: str) -> int:
        """Bytes of the file at `url`."""
        with located(url=url):
            self._counters.add(1, 0)
            return self._size(url)

    def read_ranges(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[memoryview]:
        """Exactly the bytes of each half-open range, as read-only views of bytes; otherwise a `StorageError`."""
        try:
            total = empty = 0
            for start, end in ranges:
                if not 0 <= start <= end:
                    raise StorageError(f"range: expected 0 <= start <= end, found {start}..{end}")
                total += end - start
                empty += start == end
            if not empty:
                return self._exactly(url, ranges, total)
            # Object stores refuse to read nothing, so nobody asks them to.
            asked = [(start, end) for start, end in ranges if start < end]
            found = iter(self._exactly(url, asked, total) if asked else ())
            return [next(found) if start < end else _NOTHING for start, end in ranges]
        except AmudaiError as error:
            error.locate(url=url)
            raise

    def read_range(self, url: str, start: int, end: int) -> memoryview:
        """Exactly the bytes of one half-open range: `read_ranges` for those who want a single one."""
        return self.read_ranges(url, ((start, end),))[0]

    def put_if_absent(self, url: str, parts: Iterable[bytes]) -> None:
        """Create the file at `url` from `parts`, all or nothing; a `StorageError` if there is one already."""
        with located(url=url):
            self._put(url, parts)

    def _exactly(self, url: str, ranges: Sequence[tuple[int, int]], total: int) -> Sequence[memoryview]:
        self._counters.add(len(ranges), total)
        found = self._fetch(url, ranges)
        views = [memoryview(each).cast("B").toreadonly() for each in found]
        if len(views) != len(ranges):
            raise StorageError(f"expected {len(ranges)} ranges, found {len(views)}")
        for (start, end), view in zip(ranges, views, strict=True):
            if len(view) != end - start:
                raise short_read(start, end, len(view))
        return views

    @abstractmethod
    def _size(self, url: str) -> int: ...

    @abstractmethod
    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes | memoryview]:
        """The bytes of each range, none of them empty. Too few bytes may be returned: they are noticed."""

    @abstractmethod
    def _put(self, url: str, parts: Iterable[bytes]) -> None: ...


_NOTHING = memoryview(b"")
