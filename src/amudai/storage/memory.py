"""The store of files in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import Lock

from amudai.errors import ExistingFile, MissingFile
from amudai.storage.contract import Store, StoreCapabilities
from amudai.storage.foreign import EXISTS, MISSING
from amudai.storage.portable import PortableStore, unportable

__all__ = ["MemoryStore"]


class MemoryStore(Store):
    """Files in a dict, for tests and small data. Any string is a URL.

    It does not declare `mappable`, so that it behaves like stores in which each request costs time.

    >>> store = MemoryStore({"logs/a": b"0123456789"})
    >>> [bytes(view) for view in store.read_ranges("logs/a", [(0, 2), (7, 10)])]
    [b'01', b'789']
    >>> store.counters
    Requests(requests=2, bytes=5)
    """

    capabilities = StoreCapabilities(create_only=True)

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        super().__init__()
        self._files = dict(files or {})
        self._lock = Lock()

    def portable(self) -> PortableStore:
        """Raises `InvalidArgument`: no other process can see these files."""
        raise unportable("a MemoryStore, which lives in this process only", "write the files to disk")

    def _size(self, url: str) -> int:
        return len(self._content(url))

    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[memoryview]:
        content = memoryview(self._content(url))
        return [content[start:end] for start, end in ranges]

    def _put(self, url: str, parts: Iterable[bytes]) -> None:
        content = b"".join(parts)
        with self._lock:
            if url in self._files:
                raise ExistingFile(EXISTS)
            self._files[url] = content

    def _content(self, url: str) -> bytes:
        content = self._files.get(url)
        if content is None:
            raise MissingFile(MISSING)
        return content
