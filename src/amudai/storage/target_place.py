"""The place of a new file, and whether a known file is there already, perhaps under another name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from amudai.errors import AmudaiError
from amudai.lazy import lazy
from amudai.storage.artifact import Artifact
from amudai.storage.contract import Store, StoredFile

__all__ = ["TargetPlace"]

# As many links as systems follow.
_MOST_LINKS: Final = 40
# Bytes at the end of a file that are compared. Roots have checksums there.
_COMPARED: Final = 4096
# Two stores of the same files may tell times with different precision.
_SECOND: Final = 10**9


class TargetPlace:
    """Where a new file is put."""

    def __init__(self, store: Store, url: str) -> None:
        self._store = store
        self._url = url

    def is_of(self, file: Artifact) -> bool:
        """Whether a new file here takes the place of `file`, by whatever name that is known.

        A local file is known by links as well. Two different stores may have the same files: files with the same size,
        time of modification and end are taken for one.
        """
        store, url = self._store, self._url
        if store.capabilities.local_path and file.store.capabilities.local_path:
            if url == file.url:
                return True
            return _entry(store.local_path(url, new=True)) in _entries(file.store.local_path(file.url))
        if file.store.same_files(store):
            return store.spelled(url) == file.store.spelled(file.url)
        return self._is_there_as(file)

    @lazy
    def _there(self) -> StoredFile | None:
        """The file that is here now; None if there is none, or if its store does not say when it was modified."""
        try:
            found = self._store.describe(self._url)
        except AmudaiError:
            return None
        return None if found.modified is None else found

    def _is_there_as(self, file: Artifact) -> bool:
        there = self._there
        if there is None or there.size != file.size or there.modified is None:
            return False
        start = max(0, there.size - _COMPARED)
        try:
            modified = file.store.describe(file.url).modified
            if modified is None or modified // _SECOND != there.modified // _SECOND:
                return False
            return self._store.read_range(self._url, start, there.size) == file.read(start, file.size)
        except AmudaiError:
            return False  # one of them cannot be read: then nothing is known


def _entries(path: str) -> Iterator[str]:
    """The names that lead to a local file: its own, and those that its links stand for."""
    for _ in range(_MOST_LINKS):
        entry = _entry(path)
        yield entry
        try:
            link = os.readlink(entry)
        except OSError:
            return
        path = os.path.join(os.path.dirname(entry), link)


def _entry(path: str) -> str:
    """A path without links to folders. Its last name may be a link."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)
