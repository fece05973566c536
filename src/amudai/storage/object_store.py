"""The store of an obstore store (S3, GCS, Azure, HTTP ...)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import unquote

from amudai.errors import MissingFile, RefusedAccess, StorageError, UnsupportedFeature, located
from amudai.storage.contract import Store, StoreCapabilities
from amudai.storage.foreign import short_read, translated

__all__ = ["OBSTORES", "ObjectStore"]

# By the names of obstore's classes, so that obstore need not be imported. Azure has no suffix ranges. Servers for HTTP
# have no conditional put, and some of them ignore suffix ranges.
OBSTORES: Final = {
    "AzureStore": StoreCapabilities(create_only=True),
    "GCSStore": StoreCapabilities(create_only=True, suffix_ranges=True),
    "HTTPStore": StoreCapabilities(),
    "LocalStore": StoreCapabilities(create_only=True, suffix_ranges=True),
    "MemoryStore": StoreCapabilities(create_only=True, suffix_ranges=True),
    "S3Store": StoreCapabilities(create_only=True, suffix_ranges=True),
}


class ObjectStore(Store):
    """Objects of an obstore store; a URL is a key in it, or `base` and an escaped key where `base` is given.

    A new object is collected in memory and put with one conditional request, so S3 takes up to 5 GB.
    """

    def __init__(self, store: Any, base: str = "") -> None:
        super().__init__()
        self._store = store
        self._base = base
        known = (OBSTORES[kind.__name__] for kind in type(store).__mro__ if kind.__name__ in OBSTORES)
        self._capabilities = next(known, StoreCapabilities())

    @property
    def capabilities(self) -> StoreCapabilities:
        """What this kind of object store can do."""
        return self._capabilities

    def read_tail(self, url: str, count: int) -> tuple[int, memoryview]:
        """The size of the object at `url`, and its last `count` bytes, or all bytes of a smaller object."""
        if not self._capabilities.suffix_ranges or not count:
            return super().read_tail(url, count)
        with located(url=url):
            key = self._key(url)
        self._counters.add(1, 0)
        try:
            with located(url=url), translated():
                found = self._store.get(key, options={"range": {"suffix": count}})
                size, content = int(found.meta["size"]), memoryview(found.bytes()).cast("B").toreadonly()
        except (MissingFile, RefusedAccess):
            raise
        except StorageError:
            return super().read_tail(url, count)  # an empty object has no last bytes: S3 and GCS refuse the range
        self._counters.add(0, len(content))
        if len(content) != min(count, size):
            raise short_read(max(0, size - count), size, len(content), url=url)
        return size, content

    def _size(self, url: str) -> int:
        key = self._key(url)
        with translated():
            return int(self._store.head(key)["size"])

    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[memoryview]:
        key = self._key(url)
        starts, ends = [start for start, _ in ranges], [end for _, end in ranges]
        with translated():
            # coalesce=0: ranges arrive merged, and what was counted is what is read.
            found = self._store.get_ranges(key, starts=starts, ends=ends, coalesce=0)
            return [memoryview(each) for each in found]

    def _put(self, url: str, parts: Iterable[bytes]) -> None:
        key = self._key(url)
        content = b"".join(parts)
        with translated():
            try:
                self._store.put(key, content, mode="create")
            except NotImplementedError as error:
                raise UnsupportedFeature(
                    "writing: expected a store that creates a file only where there is none, found one that cannot; "
                    "write to a local path, or pass another obstore store"
                ) from error

    def _key(self, url: str) -> str:
        if not url.startswith(self._base):
            raise StorageError(f"expected a URL below {self._base}, which this store serves")
        return unquote(url[len(self._base) :]) if self._base else url
