"""The store of local files."""

from __future__ import annotations

import mmap
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from threading import Lock
from typing import Final
from urllib.parse import unquote_to_bytes

from amudai.errors import AmudaiError, ExistingFile, MissingFile, ReplacedFile, StorageError, located
from amudai.storage.contract import Store, StoreCapabilities, StoredFile
from amudai.storage.foreign import CHANGED, EXISTS, FOLDER, NO_FOLDER, REPLACED, short_read, translated, translation
from amudai.storage.portable import PortableStore
from amudai.storage.recent import RecentFiles
from amudai.storage.references import file_url
from amudai.storage.unpublished import UnpublishedFile, sync_folder

__all__ = ["LocalStore"]

# Each file needs a descriptor, or two if it is mapped, and many systems allow 1024 or only 256 of them.
MAX_OPEN: Final = 64
# Ranges up to this size are copied, which is cheaper than mapping a file and touching its pages for the first time.
# From 128 KiB on it is not: the system's allocator maps fresh pages for each copy.
MAX_COPIED: Final = 127 * 1024

_FILE_URL: Final = re.compile(r"file://(?:localhost)?(/.*)", re.DOTALL)


class LocalStore(Store):
    """Local files, by `file://` URLs. Small ranges are read; large ones are views of a mapped file, without a copy.

    Replacing a file by another is harmless: an open file keeps its content. If somebody writes into an open file, the
    next read of it raises `ReplacedFile`. Nobody may truncate a file while it is read: the system kills a process that
    reads a mapping beyond the new end.
    """

    capabilities = StoreCapabilities(mappable=True, create_only=True, local_path=True, listable=True, removes=True)

    def __init__(self) -> None:
        super().__init__()
        self._files: RecentFiles[_File] = RecentFiles(MAX_OPEN)

    def close(self) -> None:
        """Close all files. A file with views in use is closed with its last view."""
        self._files.clear()

    def forget(self, url: str) -> None:
        """Close the file at `url`, if it is open: another file may have its name by now."""
        self._files.drop(url)

    def _size(self, url: str) -> int:
        return self._file(url).size

    def identify(self, url: str) -> StoredFile:
        """The size and the tag of the file at `url`, which stays open."""
        self._counters.add(1, 0)
        try:
            file = self._file(url)
        except AmudaiError as error:
            error.locate(url=url)
            raise
        return StoredFile(url, file.size, tag=file.tag)

    def read_range(self, url: str, start: int, end: int, tag: str | None = None) -> memoryview:
        """Exactly the bytes of one half-open range."""
        latest = self._files.latest
        if latest is not None and latest[0] == url and (tag is None or tag == latest[1].tag):
            file = latest[1]
        else:
            file = self._file(url, tag)
        size = end - start
        if not 0 <= start <= end <= file.size:
            raise StorageError(f"range: expected start <= end <= {file.size}, found {start}..{end}", url=url)
        self._counters.add(1, size)
        if size > MAX_COPIED or file.mapped is not None:
            file.require_unchanged(url)
            return file.whole()[start:end]
        try:
            found = os.pread(file.handle.number, size, start)
            facts = os.fstat(file.handle.number)
        except OSError as error:
            raise translation(error, url=url) from error
        # As `require_unchanged`, without a call: most of what a question reads is small and comes this way.
        if facts.st_mtime_ns != file.modified or facts.st_size != file.size:
            raise ReplacedFile(CHANGED, url=url)
        if len(found) != size:
            raise short_read(start, end, len(found), url=url)
        return memoryview(found)

    def mapped(self, url: str, requests: int, size: int, tag: str | None = None) -> memoryview:
        """Map the whole file. Counts `requests` ranges of `size` bytes in total, which the caller is going to read."""
        self._counters.add(requests, size)
        file = self._file(url, tag)
        file.require_unchanged(url)
        return file.whole()

    def confirm(self, url: str, tag: str) -> None:
        """Raise `ReplacedFile` if somebody wrote into the file at `url` since it was opened."""
        self._file(url, tag).require_unchanged(url)

    def local_path(self, url: str, *, new: bool = False) -> str:
        """The path of the file at a `file://` URL; with `new`, of a file to create there."""
        return _candidates(url)[0] if new else _existing_path(url)

    def describe(self, url: str) -> StoredFile:
        """The size of the file at `url`, and when it was modified."""
        with located(url=url), translated():
            self._counters.add(1, 0)
            facts = os.stat(self.local_path(url))
        return StoredFile(url, facts.st_size, facts.st_mtime_ns, _tag(facts))

    def files_below(self, url: str, *, deep: bool = True) -> Iterator[StoredFile]:
        """All files in the folder `url` and, if `deep`, in the folders below it. Links to folders are not followed."""
        with located(url=url):
            folder = self.local_path(url)
            if not os.path.isdir(folder):
                raise MissingFile(NO_FOLDER)
            for path, folders, names in os.walk(folder):
                if not deep:
                    folders.clear()
                for name in names:
                    whole = os.path.join(path, name)
                    try:
                        facts = os.stat(whole)
                    except FileNotFoundError:
                        continue  # removed since it was listed, or a link that leads nowhere
                    if stat.S_ISREG(facts.st_mode):
                        yield StoredFile(file_url(whole), facts.st_size, facts.st_mtime_ns, _tag(facts))

    def serves(self, url: str) -> bool:
        """Whether `url` is a `file://` URL."""
        return url.startswith("file://")

    def same_files(self, other: Store) -> bool:
        """Whether the other store is one of local files, too."""
        return isinstance(other, LocalStore)

    def portable(self) -> PortableStore:
        """Another process opens the same files by their URLs."""
        return PortableStore(LocalStore)

    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> list[memoryview]:
        return self._fetch_tagged(url, ranges, None)

    def _fetch_tagged(self, url: str, ranges: Sequence[tuple[int, int]], tag: str | None) -> list[memoryview]:
        file = self._file(url, tag)
        file.require_unchanged(url)
        whole = file.whole()
        return [whole[start:end] for start, end in ranges]

    def _remove(self, url: str) -> None:
        with translated():
            os.unlink(self.local_path(url))
        self.forget(url)

    def _put(self, url: str, parts: Iterable[bytes]) -> None:
        path = self.local_path(url, new=True)
        if os.path.lexists(path):
            raise ExistingFile(EXISTS)
        folder = os.path.dirname(path)
        if not os.path.isdir(folder):
            raise MissingFile(NO_FOLDER)
        with translated():
            aside = UnpublishedFile(folder)
        try:
            for part in parts:  # outside of `translated`: errors of the caller are not translated
                with translated():
                    aside.out.write(part)
            with translated():
                aside.sync()
                aside.publish(path)
                try:
                    sync_folder(folder)
                except OSError:
                    aside.withdraw(path)  # not sealed: it might be gone after a loss of power
                    raise
        finally:
            aside.discard()

    def _file(self, url: str, tag: str | None = None) -> _File:
        latest = self._files.latest
        if latest is not None and latest[0] == url:
            found = latest[1]
        else:
            try:
                found = self._files.get(url, _open)
            except Exception:
                with translated():
                    raise
        if tag is not None and tag != found.tag:
            raise ReplacedFile(REPLACED, url=url)
        return found


class _Handle:
    """A file descriptor that is closed with its last user. Every read holds a reference to it."""

    __slots__ = ("__del__", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        # Not a method: Ctrl-C that arrives while Python runs one would be lost. Closing a removed file takes long.
        self.__del__ = partial(os.close, number)


class _File:
    """A local file that stays open as long as it is referenced.

    Attributes
    ----------
    mapped
        All bytes, if they are mapped already; None otherwise.
    modified
        When the file was last modified, in nanoseconds from 1970.
    """

    __slots__ = ("_lock", "handle", "mapped", "modified", "size", "tag")

    def __init__(self, handle: _Handle) -> None:
        facts = os.fstat(handle.number)
        if not stat.S_ISREG(facts.st_mode):
            if stat.S_ISDIR(facts.st_mode):
                raise StorageError(FOLDER)
            raise StorageError("expected a file, found a device, a pipe or a socket")
        self.size = facts.st_size
        self.tag = _tag(facts)
        self.handle = handle
        self.modified = facts.st_mtime_ns
        self.mapped: memoryview | None = None
        self._lock = Lock()

    def require_unchanged(self, url: str) -> None:
        """Raise `ReplacedFile` if somebody wrote into the file since it was opened."""
        facts = os.fstat(self.handle.number)
        if facts.st_mtime_ns != self.modified or facts.st_size != self.size:
            raise ReplacedFile(CHANGED, url=url)

    def whole(self) -> memoryview:
        """All bytes, mapped into memory. The mapping ends with its last view."""
        with self._lock:
            if self.mapped is None:
                self.mapped = self._map()
            return self.mapped

    def _map(self) -> memoryview:
        if self.size == 0:
            return memoryview(b"")  # mmap rejects empty files
        with translated():
            if sys.version_info >= (3, 13):  # before, a mapping has a descriptor of its own besides
                return memoryview(mmap.mmap(self.handle.number, self.size, access=mmap.ACCESS_READ, trackfd=False))
            return memoryview(mmap.mmap(self.handle.number, self.size, access=mmap.ACCESS_READ))


def _open(url: str) -> _File:
    # Without O_NONBLOCK, opening a pipe would wait for its other end.
    return _File(_Handle(os.open(_existing_path(url), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)))


def _tag(facts: os.stat_result) -> str:
    return f"{facts.st_ino:x}-{facts.st_size:x}-{facts.st_mtime_ns:x}"


def _existing_path(url: str) -> str:
    names = _candidates(url)
    if len(names) == 1:
        return names[0]
    return next((name for name in names if os.path.lexists(name)), names[0])


def _candidates(url: str) -> tuple[str, ...]:
    """The paths that `url` may refer to, most likely first.

    The reference implementation does not decode the name that it appends to a folder, so a name that needs escapes is
    stored in its escaped form.
    """
    match = _FILE_URL.fullmatch(url)
    if match is None:
        raise StorageError("expected a URL like file:///folder/name of this machine")
    escaped = match[1]
    if "%" not in escaped:
        return (escaped,)
    if "%2f" in escaped.lower():
        raise StorageError("expected names without slashes, found an escaped one (%2F)")
    path = os.fsdecode(unquote_to_bytes(escaped))
    return path, os.path.join(os.path.dirname(path), os.path.basename(escaped)), escaped
