"""How does an obstore store (S3, GCS, Azure, HTTP ...) serve as a store?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import unquote

from amudai.errors import StorageError, UnsupportedFeature
from amudai.storage.contract import StoreBase
from amudai.storage.foreign import translated

__all__ = ["ObjectStore"]


class ObjectStore(StoreBase):
    """Objects of an obstore store; a URL is a key in it, or `base` and an escaped key where `base` is given.

    A new object is collected in memory and put with one conditional request, so S3 takes up to 5 GB.
    """

    def __init__(self, store: Any, base: str = "") -> None:
        super().__init__()
        self._store = store
        self._base = base

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
