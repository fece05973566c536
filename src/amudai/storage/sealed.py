"""Publishing all files of a shard at once.

Each file is written without its name. When all of them are complete and on the disk they get their names, the root file
last, because nothing refers to the others without it. A failure before that moment leaves no file behind.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

import xxhash

from amudai.arguments import flag
from amudai.errors import ExistingFile, InvalidArgument, MissingFile, StorageError, UnsupportedFeature, located
from amudai.storage.contract import Store, StoredFile
from amudai.storage.foreign import EXISTS, FOLDER, NO_FOLDER, translated
from amudai.storage.spool import Data, Spool, SpoolRange, view_of
from amudai.storage.unpublished import UnpublishedFile, is_part, remove_abandoned, sync_folder

__all__ = ["SealedFile", "Sealing", "remove_files"]

IN_MEMORY: Final = 64 * 1024 * 1024  # bytes of files for a store that is not local, before a scratch file is used


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
        """Start to hash the bytes that are written from now on."""
        self._hash = xxhash.xxh3_128()

    def hash_so_far(self) -> bytes:
        """The hash of the bytes written since `hash_from_here`; empty if none were written."""
        return b"" if self._hash is None else self._hash.digest()

    def tell(self) -> int:
        """Bytes written so far."""
        return self._position

    def write(self, data: Data) -> int:
        """Append `data`; return its size."""
        piece = view_of(data)
        if self._closed:
            raise InvalidArgument("file: expected an open file, found a closed one", url=self.url)
        if len(piece):
            with located(url=self.url), translated():
                self._write(piece)
            self._position += len(piece)
            if self._hash is not None:
                self._hash.update(piece)
        return len(piece)

    def align(self, to: int) -> int:
        """Append zeros up to the next multiple of `to`; return that offset."""
        self.write(bytes(-self._position % to))
        return self._position

    def close(self) -> None:
        """Mark the file as complete and free its handle: a shard may have more files than a process may have open."""
        if not self._closed:
            self._closed = True
            with located(url=self.url), translated():
                self._finish()

    @abstractmethod
    def _write(self, piece: memoryview) -> None: ...

    @abstractmethod
    def _finish(self) -> None: ...


class Sealing:
    """Writes the files of one shard and publishes them together.

    A local file is written without a name in its final folder, synced, and then named. Naming never replaces another
    file, except for the root with `overwrite`. Files for other stores wait in scratch memory and are then put one after
    the other with `put_if_absent`. A process that is killed after the first file got its name and before the root did
    leaves files that nothing refers to. Killed earlier, it leaves nothing, or a `.amudai-*.part` file on systems that
    have no files without names.

    Parameters
    ----------
    root
        The URL of the root file. If it exists already, `FileExistsError` is raised before anything is written.
    overwrite
        Replace an existing root atomically: a reader finds the old shard or the new one. In a store that is not local,
        only the root that is there now is replaced: `ReplacedFile` is raised if another writer was faster.
    replaces
        The root that may be replaced, as its store described it when it was read. None: the one that is there now.
    temp_folder
        The folder of the scratch file. None stands for the system's folder for temporary files.

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

    def __init__(
        self,
        store: Store,
        root: str,
        *,
        overwrite: bool = False,
        replaces: StoredFile | None = None,
        temp_folder: str | None = None,
    ) -> None:
        self._root = root
        self._files: dict[str, SealedFile] = {}
        self._open = True
        self._publisher: _Publisher
        if store.capabilities.local_path:
            self._publisher = _Local(store, flag(overwrite, "overwrite"))
        else:
            self._publisher = _Remote(store, flag(overwrite, "overwrite"), replaces, temp_folder)
        with located(url=root):
            self._publisher.check(root)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def file(self, url: str) -> SealedFile:
        """A new file of the shard: the root or another one."""
        self._check_open()
        if url in self._files:
            raise InvalidArgument("file: expected a new name, found one that was created before", url=url)
        with located(url=url):
            created = self._files[url] = self._publisher.create(url)
        return created

    @property
    def created(self) -> dict[str, SealedFile]:
        """The files that were created, by URL, without the root."""
        return {url: file for url, file in self._files.items() if url != self._root}

    def publish(self) -> None:
        """Give all files their names: the root last, the others in the order in which they were created."""
        self._check_open()
        if self._root not in self._files:
            raise InvalidArgument("publish: expected a root file, found that none was created", url=self._root)
        self._open = False
        self._publisher.publish(self._root)

    @property
    def is_published(self) -> bool | None:
        """Whether the root has its name; None if the store did not say. Publishing may raise an error afterwards."""
        return self._publisher.is_published

    def close(self) -> None:
        """Free all resources and drop everything that was not published."""
        self._open = False
        self._publisher.discard()

    def _check_open(self) -> None:
        if not self._open:
            raise InvalidArgument("sealing: expected an open one, found one that was published or closed")


class _Publisher(ABC):
    """The steps that differ between local files and other stores."""

    @abstractmethod
    def check(self, root: str) -> None:
        """Raise an error if the root cannot be published."""

    @abstractmethod
    def create(self, url: str) -> SealedFile:
        """A new file."""

    @abstractmethod
    def publish(self, root: str) -> None:
        """Name all files, the root last."""

    @property
    @abstractmethod
    def is_published(self) -> bool | None:
        """Whether the root has its name; None if nobody knows."""

    @abstractmethod
    def discard(self) -> None:
        """Drop everything that was not published."""


class _LocalFile(SealedFile):
    def __init__(self, url: str, path: str, owner: _Local) -> None:
        super().__init__(url)
        self.path, self.folder = path, os.path.dirname(path)
        with translated():
            self.aside = UnpublishedFile(self.folder)
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

    def make_room(self, aside: UnpublishedFile) -> None:
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
            # Names come from the content, so the file may exist: from the shard that is replaced, or a killed process.
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
            self._sync(self._root.folder)  # sealed only once the name survives a loss of power
            self._sealed = True

    @property
    def is_published(self) -> bool:
        """Whether the root has its name, and keeps it when this is discarded."""
        root = self._root
        # An interrupt may have come after the root was replaced and before `_sealed` was set.
        return self._sealed or (root is not None and self._overwrite and root.aside.has(root.path))

    def discard(self) -> None:
        self._sealed = self.is_published
        self._root = None
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
        self._named.append(file)  # first, so that the name is withdrawn even after an interrupt in between
        with located(url=file.url), translated():
            file.aside.publish(file.path)

    def _sync(self, *folders: str) -> None:
        for folder in sorted(folders):
            with located(folder=folder), translated():
                sync_folder(folder)


def remove_files(store: Store, urls: Iterable[str]) -> list[str]:
    """Remove files as far as possible; return the URLs of the removed ones. Needs the capability `removes`.

    A part file whose writer is still running stays.
    """
    if not store.capabilities.removes:
        raise UnsupportedFeature("removing files: expected a store that can, found one that cannot remove files")
    removed = []
    for url in urls:
        with suppress(OSError, StorageError):
            if store.capabilities.local_path and is_part(url[url.rfind("/") + 1 :]):
                if not remove_abandoned(store.local_path(url)):
                    continue
                store.forget(url)
            else:
                store.remove(url)
            removed.append(url)
    return removed


def _max_handles() -> int:
    """How many files to keep open: a file without a name needs its handle, but a process has few handles."""
    try:
        import resource
    except ImportError:  # Windows has no `resource`
        return 256
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1024 if allowed == resource.RLIM_INFINITY else allowed // 4


class _RemoteFile(SealedFile):
    def __init__(self, url: str, spool: Spool) -> None:
        super().__init__(url)
        self.ranges: list[SpoolRange] = []
        self._spool = spool

    def _write(self, piece: memoryview) -> None:
        start = self._spool.append(piece)
        self.ranges.append((start, start + len(piece)))

    def _finish(self) -> None:
        return None


class _Remote(_Publisher):
    def __init__(self, store: Store, overwrite: bool, replaces: StoredFile | None, temp_folder: str | None) -> None:
        self._store = store
        self._overwrite = overwrite
        self._replaced: StoredFile | None = replaces
        self._spool = Spool(temp_folder, IN_MEMORY)
        self._files: dict[str, _RemoteFile] = {}
        self._published: bool | None = False

    @property
    def is_published(self) -> bool | None:
        """Whether the store took the root; None if it was asked to, and no answer came but an error."""
        return self._published

    def check(self, root: str) -> None:
        if self._replaced is None:
            try:
                self._replaced = self._store.identify(root)
            except MissingFile:
                return
        if not self._overwrite:
            raise ExistingFile(EXISTS)
        if not self._store.capabilities.replaces or self._replaced.tag is None:
            raise UnsupportedFeature("overwrite: expected a store that can, found one that cannot replace files safely")

    def create(self, url: str) -> SealedFile:
        file = self._files[url] = _RemoteFile(url, self._spool)
        return file

    def publish(self, root: str) -> None:
        put: list[str] = []
        others = [url for url in self._files if url != root]
        try:
            for url in (*others, root):
                self._files[url].close()
                pieces = self._spool.pieces(self._files[url].ranges)
                if url == root:
                    self._published = None
                if url == root and self._replaced is not None and self._replaced.tag is not None:
                    self._store.replace(url, pieces, self._replaced.tag)
                elif url == root or not self._is_there(url):
                    self._store.put_if_absent(url, pieces)
                    put.append(url)
            self._published = True
        except BaseException as error:
            if put:
                error.add_note(f"files that nothing refers to were left behind: {', '.join(put)}")
            raise

    def _is_there(self, url: str) -> bool:
        """Whether the store has a file with the same content, left by a process that was killed."""
        file, at = self._files[url], 0
        try:
            if self._store.size(url) != file.tell():
                return False
        except StorageError:
            return False
        for piece in self._spool.pieces(file.ranges):
            if self._store.read_ranges(url, [(at, at + len(piece))])[0] != piece:
                return False
            at += len(piece)
        return True

    def discard(self) -> None:
        self._spool.close()
