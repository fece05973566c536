"""The contract of all stores: three verbs (`size`, `read_ranges`, `put_if_absent`) and declared capabilities.

`Store` keeps the promises that are the same everywhere (exact bytes, counting, the place in errors), so that a store
only says how it fetches and puts bytes, and what else it can do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

from amudai.errors import AmudaiError, StorageError, UnsupportedFeature, located
from amudai.storage.foreign import short_read
from amudai.storage.meter import count_requests
from amudai.storage.portable import PortableStore, undeclared

__all__ = ["Requests", "Store", "StoreCapabilities"]


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
        count_requests(requests, size)

    def __repr__(self) -> str:
        return f"Requests(requests={self.requests}, bytes={self.bytes})"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCapabilities:
    """What a store can do. Readers and writers ask for this, and never for the class of a store.

    Attributes
    ----------
    mappable
        `Store.mapped` hands out a whole file as one view that copies nothing. A request costs next to nothing, so
        there is no need to read ranges together or ahead.
    create_only
        Of several writers that put one URL at the same moment, exactly one succeeds. Without it `put_if_absent` looks
        for a file first and then writes, so two writers at the same moment may both succeed and the later file stays;
        or it refuses to write at all, with `UnsupportedFeature`.
    suffix_ranges
        `Store.read_tail` takes one request: the last bytes of a file can be read without asking for its size first.
    local_path
        `Store.local_path` gives the path of a file in the local file system. A writer may create and replace files
        there by itself, and tells the store by `Store.forget`.
    """

    mappable: bool = False
    create_only: bool = False
    suffix_ranges: bool = False
    local_path: bool = False


class Store(ABC):
    """Where the files of a shard live. Files are immutable: written once, as a whole, and never changed.

    What a URL looks like is the store's own matter: `file://` for local files, a key or path for others. All verbs may
    be called from several threads.

    A store declares its `capabilities` and has three hooks: `_size`, `_fetch`, `_put`. They raise errors of ours
    (`foreign.translated` makes them: a file that is not there must be a `MissingFile`, one that is there already an
    `ExistingFile`); the URL is added here. A store that declares `mappable`, `suffix_ranges` or
    `local_path` overrides `mapped`, `read_tail` or `local_path`. A store that another process can open overrides
    `portable`.
    """

    def __init__(self) -> None:
        self._counters = Requests()

    @property
    @abstractmethod
    def capabilities(self) -> StoreCapabilities:
        """What this store can do beyond its three verbs."""

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

    def read_tail(self, url: str, count: int) -> tuple[int, memoryview]:
        """The size of the file at `url`, and its last `count` bytes, or all bytes of a smaller file."""
        size = self.size(url)
        start = max(0, size - count)
        return size, self.read_range(url, start, size) if start < size else _NOTHING

    def mapped(self, url: str, requests: int, size: int) -> memoryview:  # noqa: ARG002 - refused
        """The whole file, for a caller who reads `size` bytes of it in `requests` ranges. Needs `mappable`."""
        raise self._lacks("mappable")

    def local_path(self, url: str, *, new: bool = False) -> str:  # noqa: ARG002 - refused
        """The path of the file that `url` means, or of a new file of this URL. Needs the capability `local_path`."""
        raise self._lacks("local_path")

    def put_if_absent(self, url: str, parts: Iterable[bytes]) -> None:
        """Create the file at `url` from `parts`, all or nothing.

        A file that is there already stays as it is, and a `FileExistsError` is raised. When `parts` raises, its error
        leaves and nothing is created. `StoreCapabilities.create_only` says what happens when two do this at once.
        """
        with located(url=url):
            self._put(url, parts)

    def forget(self, url: str) -> None:  # noqa: B027 - most stores keep no file open
        """Let go of one file, if it is open: another file has its name by now."""

    def close(self) -> None:  # noqa: B027 - most stores keep no file open
        """Let go of all files. The store can still be used: files are opened again when they are read."""

    def portable(self) -> PortableStore:
        """How another process opens this store, without any secret; `InvalidArgument` where it cannot.

        Callers use `portable_store`, which does not take the answer of a parent class for that of the store.
        """
        raise undeclared(self)

    def _lacks(self, capability: str) -> UnsupportedFeature:
        return UnsupportedFeature(f"store: expected one with the capability {capability}, found {type(self).__name__}")

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
