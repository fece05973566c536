"""The store of files in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import Lock

import xxhash

from amudai.errors import ExistingFile, MissingFile, ReplacedFile
from amudai.storage.contract import Store, StoreCapabilities, StoredFile
from amudai.storage.foreign import EXISTS, MISSING, REPLACED
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

    capabilities = StoreCapabilities(create_only=True, replaces=True, removes=True)

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        super().__init__()
        self._files = dict(files or {})
        self._tags: dict[str, tuple[bytes, str]] = {}  # with the content that a tag was computed of
        self._lock = Lock()

    def portable(self) -> PortableStore:
        """Raises `InvalidArgument`: no other process can see these files."""
        raise unportable("a MemoryStore, which lives in this process only", "write the files to disk")

    def identify(self, url: str) -> StoredFile:
        """The size and the tag of the file at `url`."""
        return StoredFile(url, self.size(url), tag=self._tag(url))

    def _size(self, url: str) -> int:
        return len(self._content(url))

    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[memoryview]:
        content = memoryview(self._content(url))
        return [content[start:end] for start, end in ranges]

    def _fetch_tagged(self, url: str, ranges: Sequence[tuple[int, int]], tag: str) -> Sequence[memoryview]:
        if self._tag(url) != tag:
            raise ReplacedFile(REPLACED)
        return self._fetch(url, ranges)

    def _put(self, url: str, parts: Iterable[bytes]) -> None:
        content = b"".join(parts)
        with self._lock:
            if url in self._files:
                raise ExistingFile(EXISTS)
            self._files[url] = content

    def _replace(self, url: str, parts: Iterable[bytes], tag: str) -> None:
        content = b"".join(parts)
        with self._lock:
            if self._tag(url) != tag:
                raise ReplacedFile(REPLACED)
            self._files[url] = content

    def _remove(self, url: str) -> None:
        with self._lock:
            if self._files.pop(url, None) is None:
                raise MissingFile(MISSING)

    def _content(self, url: str) -> bytes:
        content = self._files.get(url)
        if content is None:
            raise MissingFile(MISSING)
        return content

    def _tag(self, url: str) -> str:
        content = self._content(url)
        known = self._tags.get(url)
        if known is None or known[0] is not content:
            known = self._tags[url] = (content, xxhash.xxh3_64_hexdigest(content))
        return known[1]
