"""The files of a shard that appear all at once.

Each is written aside. When all are complete and on the disk they get their names: the root file last, for without it
the others mean nothing. Whatever goes wrong before that moment leaves no file at all.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

import xxhash

from amudai.errors import ExistingFile, InvalidArgument, MissingFile, StorageError, UnsupportedFeature, located
from amudai.storage.aside import Aside, sync_folder
from amudai.storage.contract import Store
from amudai.storage.foreign import EXISTS, FOLDER, NO_FOLDER, translated
from amudai.storage.spool import Data, Extent, Spool, view_of

__all__ = ["SealedFile", "Sealing", "remove_files"]

IN_MEMORY: Final = 64 * 1024 * 1024  # of files on their way to a store that is not local


class SealedFile(ABC):
    """A file that is being written, from its first byte to its last. It gets its name from `Sealing.publish`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._position = 0
        self._closed = False
        self._hash: xxhash.xxh3_128 | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.close()

    def hash_from_here(self) -> None:
        """Hash what is written from now on."""
        self._hash = xxhash.xxh3_128()

    def hash_so_far(self) -> bytes:
        """The hash of what was written since `hash_from_here`; empty where nothing was."""
        return b"" if self._hash is None else self._hash.digest()

    def tell(self) -> int:
        """Bytes written so far."""
        return self._position

    def write(self, data: Data) -> int:
        """Append `data`; return its size."""
        piece = view_of(data)
        if self._closed:
            raise InvalidArgument("file: expected an open one, found it closed", url=self.url)
        if len(piece):
            with located(url=self.url), translated():
                self._write(piece)
            self._position += len(piece)
            if self._hash is not None:
                self._hash.update(piece)
        return len(piece)

    def align(self, to: int) -> int:
        """Append zeros up to the next multiple of `to`; return where that is."""
        self.write(bytes(-self._position % to))
        return self._position

    def close(self) -> None:
        """Say that the file is complete. A shard may have more files than a process may hold open."""
        if not self._closed:
            self._closed = True
            with located(url=self.url), translated():
                self._finish()

    @abstractmethod
    def _write(self, piece: memoryview) -> None: ...

    @abstractmethod
    def _finish(self) -> None: ...


class Sealing:
    """The files of one shard on their way to a store.

    A local file is written aside in its own folder, synced, and named without ever replacing another; only the root is
    replaced, and only with `overwrite`. Files for other stores wait in scratch memory and are put one after the other
    by `put_if_absent`. A process that is killed between the first name and the root's leaves files that nothing refers
    to; killed earlier, it leaves nothing, or a `.amudai-*.part` where the system has no files without names.

    Parameters
    ----------
    root
        The URL of the root file. A root that is there already is a `FileExistsError` before anything is written.
    overwrite
        Replace a root that is there, in one step: a reader finds the old shard or the new one. Local files only.
    temp_folder
        For scratch memory; the system's folder for temporary files where it is None.

    Examples
    --------
    >>> from amudai.storage import MemoryStore
    >>> store = MemoryStore()
    >>> with Sealing(store, "logs.amudai.shard") as sealing:
    ...     with sealing.file("1f.amudai.stripe") as stripe:
    ...         _ = stripe.write(b"values")
    ...     with sealing.file("logs.amudai.shard") as root:
    ...         _ = root.write(b"where the values are")
    ...     sealing.publish()
    >>> store.size("logs.amudai.shard")
    20
    """

    def __init__(self, store: Store, root: str, *, overwrite: bool = False, temp_folder: str | None = None) -> None:
        self._root = root
        self._urls: set[str] = set()
        self._open = True
        self._publisher: _Publisher
        if store.capabilities.local_path:
            self._publisher = _Local(store, overwrite)
        else:
            self._publisher = _Remote(store, overwrite, temp_folder)
        with located(url=root):
            self._publisher.check(root)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def file(self, url: str) -> SealedFile:
        """A new file of the shard: the root, or one of its others."""
        self._check_open()
        if url in self._urls:
            raise InvalidArgument("file: expected one of each name, found a second", url=url)
        with located(url=url):
            created = self._publisher.create(url)
        self._urls.add(url)
        return created

    @property
    def created(self) -> frozenset[str]:
        """URLs of the files that were begun, without the root."""
        return frozenset(self._urls - {self._root})

    def publish(self, remove: Iterable[str] = ()) -> None:
        """Make all files appear: the others in the order in which they were begun, then the root.

        Parameters
        ----------
        remove
            Files to remove once the new root is there, and not otherwise. A file that cannot be removed stays.
        """
        self._check_open()
        if self._root not in self._urls:
            raise InvalidArgument("publish: expected a root file, found none written", url=self._root)
        self._open = False
        self._publisher.publish(self._root)
        self._publisher.remove([url for url in remove if url not in self._urls])

    def close(self) -> None:
        """Let go of everything; what was not published never was."""
        self._open = False
        self._publisher.discard()

    def _check_open(self) -> None:
        if not self._open:
            raise InvalidArgument("sealing: expected it before it is published or closed, found it after")


class _Publisher(ABC):
    """What local files and other stores do differently."""

    @abstractmethod
    def check(self, root: str) -> None:
        """Refuse a root that could not be published."""

    @abstractmethod
    def create(self, url: str) -> SealedFile:
        """A new file."""

    @abstractmethod
    def publish(self, root: str) -> None:
        """Name all files, the root last."""

    @abstractmethod
    def remove(self, urls: list[str]) -> None:
        """Remove files that nothing refers to, as far as that goes."""

    @abstractmethod
    def discard(self) -> None:
        """Let go of everything that was not published."""


class _LocalFile(SealedFile):
    def __init__(self, url: str, path: str, owner: _Local) -> None:
        super().__init__(url)
        self.path, self.folder = path, os.path.dirname(path)
        with translated():
            self.aside = Aside(self.folder)
        self._owner = owner

    def _write(self, piece: memoryview) -> None:
        self.aside.out.write(piece)

    def _finish(self) -> None:
        self.aside.sync()
        self._owner.make_room(self.aside)


class _Local(_Publisher):
    def __init__(self, store: Store, overwrite: bool) -> None:
        self._store = store
        self._overwrite = overwrite
        self._files: dict[str, _LocalFile] = {}
        self._named: list[_LocalFile] = []
        self._root: _LocalFile | None = None
        self._sealed = False
        self._handles, self._max_handles = 0, _max_handles()

    def make_room(self, aside: Aside) -> None:
        if self._handles > self._max_handles:
            aside.park()
            self._handles -= 1

    def check(self, root: str) -> None:
        path = self._path(root)
        if os.path.isdir(path) and not os.path.islink(path):
            raise StorageError(FOLDER)
        if not self._overwrite and os.path.lexists(path):
            raise ExistingFile(EXISTS)

    def create(self, url: str) -> SealedFile:
        file = self._files[url] = _LocalFile(url, self._path(url), self)
        self._handles += 1
        return file

    def publish(self, root: str) -> None:
        for file in self._files.values():
            file.close()  # synced: no name appears before all content is on the disk
        self._root = self._files[root]
        for file in self._files.values():
            # Named by content, a file may be there already: from the shard that is replaced, or from a run that died.
            if file is not self._root and not file.aside.equals(file.path):
                self._name(file)
        self._sync(*{file.folder for file in self._named})
        if self._overwrite:
            with located(url=root), translated():
                self._root.aside.replace(self._root.path)
            self._sealed = True
            self._store.forget(root)
            self._sync(self._root.folder)
        else:
            self._name(self._root)
            self._sync(self._root.folder)  # a name that may be gone after a loss of power was not given
            self._sealed = True

    def remove(self, urls: list[str]) -> None:
        kept = {file.path for file in self._files.values()}
        for url in urls:
            with suppress(StorageError):
                if self._store.local_path(url) not in kept:
                    remove_files(self._store, [url])

    def discard(self) -> None:
        root, self._root = self._root, None
        if root is not None and not self._sealed:
            # An interrupt may have come between the replacing of the root and the note that it is done.
            self._sealed = self._overwrite and root.aside.has(root.path)
        if not self._sealed:
            for file in reversed(self._named):
                file.aside.withdraw(file.path)
        for file in self._files.values():
            file.aside.discard()
        self._files, self._named = {}, []

    def _path(self, url: str) -> str:
        path = self._store.local_path(url, new=True)
        if not os.path.isdir(os.path.dirname(path)):
            raise MissingFile(NO_FOLDER)
        return path

    def _name(self, file: _LocalFile) -> None:
        self._named.append(file)  # before: what an interrupt leaves half done is withdrawn as well
        with located(url=file.url), translated():
            file.aside.publish(file.path)

    def _sync(self, *folders: str) -> None:
        for folder in sorted(folders):
            with located(folder=folder), translated():
                sync_folder(folder)


def remove_files(store: Store, urls: Iterable[str]) -> list[str]:
    """Remove files as far as possible; return the URLs of those that are gone. Needs the capability `local_path`."""
    if not store.capabilities.local_path:
        raise UnsupportedFeature("removing files: expected local files, found a store that never removes any")
    removed = []
    for url in urls:
        with suppress(OSError, StorageError):
            os.unlink(store.local_path(url))
            store.forget(url)
            removed.append(url)
    return removed


def _max_handles() -> int:
    """How many files to keep open: one without a name lives as long as its handle, but few of them are ours."""
    try:
        import resource
    except ImportError:  # not every system limits what a process may hold
        return 256
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1024 if allowed == resource.RLIM_INFINITY else allowed // 4


class _RemoteFile(SealedFile):
    def __init__(self, url: str, spool: Spool) -> None:
        super().__init__(url)
        self.extents: list[Extent] = []
        self._spool = spool

    def _write(self, piece: memoryview) -> None:
        start = self._spool.append(piece)
        self.extents.append((start, start + len(piece)))

    def _finish(self) -> None:
        return None


class _Remote(_Publisher):
    def __init__(self, store: Store, overwrite: bool, temp_folder: str | None) -> None:
        self._store = store
        self._overwrite = overwrite
        self._spool = Spool(temp_folder, IN_MEMORY)
        self._files: dict[str, _RemoteFile] = {}

    def check(self, root: str) -> None:
        try:
            self._store.size(root)
        except MissingFile:
            return
        if self._overwrite:
            raise UnsupportedFeature("overwrite: expected a local file, found one in a store that never replaces files")
        raise ExistingFile(EXISTS)

    def create(self, url: str) -> SealedFile:
        file = self._files[url] = _RemoteFile(url, self._spool)
        return file

    def publish(self, root: str) -> None:
        put: list[str] = []
        others = [url for url in self._files if url != root]
        try:
            for url in (*others, root):
                self._files[url].close()
                if url == root or not self._is_there(url):
                    self._store.put_if_absent(url, self._spool.pieces(self._files[url].extents))
                    put.append(url)
        except BaseException as error:
            if put:
                error.add_note(f"files that nothing refers to were left behind: {', '.join(put)}")
            raise

    def _is_there(self, url: str) -> bool:
        """Whether the store has this very file, left by a run that died."""
        file, at = self._files[url], 0
        try:
            if self._store.size(url) != file.tell():
                return False
        except StorageError:
            return False
        for piece in self._spool.pieces(file.extents):
            if self._store.read_ranges(url, [(at, at + len(piece))])[0] != piece:
                return False
            at += len(piece)
        return True

    def remove(self, urls: list[str]) -> None:
        """Nothing: only what is local is overwritten."""

    def discard(self) -> None:
        self._spool.close()
