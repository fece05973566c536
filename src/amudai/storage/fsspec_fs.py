"""The store of an fsspec file system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Final

from amudai.errors import ExistingFile, MissingFile, StorageError, UnsupportedFeature, located
from amudai.storage.contract import MERGE_GAP, READ_AHEAD, REMOTE_GAP, Store, StoreCapabilities, StoredFile
from amudai.storage.foreign import EXISTS, FOLDER, NO_FOLDER, translated
from amudai.storage.portable import PortableStore, check_settings, unportable

__all__ = ["FsspecStore"]

_HARMLESS: Final = frozenset(
    {"account_name", "anon", "auto_mkdir", "default_block_size", "endpoint_url", "requester_pays", "use_ssl"}
)
# Protocols of file systems whose requests cost next to nothing.
_NEAR: Final = frozenset({"file", "local", "memory"})


class FsspecStore(Store):
    """Files of an fsspec file system; a URL is a path in it.

    Writing uses the exclusive mode (`"xb"`); a file system without it raises `UnsupportedFeature`. Whether that mode is
    safe against a second writer at the same moment depends on the file system, so `create_only` is not declared. A new
    file is collected in memory first.
    """

    def __init__(self, filesystem: Any) -> None:
        super().__init__()
        self._filesystem = filesystem
        inner = filesystem.fs if type(filesystem).__name__ == "DirFileSystem" else filesystem
        protocols = {inner.protocol} if isinstance(inner.protocol, str) else {*inner.protocol}
        self._gap = REMOTE_GAP if protocols.isdisjoint(_NEAR) else MERGE_GAP

    @property
    def capabilities(self) -> StoreCapabilities:
        """What all file systems of fsspec can do."""
        ahead = READ_AHEAD if self._gap == REMOTE_GAP else 0
        return StoreCapabilities(listable=True, removes=True, merge_gap=self._gap, read_ahead=ahead)

    def serves(self, url: str) -> bool:
        """Whether `url` has a protocol of this file system."""
        protocols = self._filesystem.protocol
        scheme = url.partition("://")[0]
        return scheme == protocols if isinstance(protocols, str) else scheme in protocols

    def same_files(self, other: Store) -> bool:
        """Whether the other store wraps an equal file system."""
        return isinstance(other, FsspecStore) and bool(other._filesystem == self._filesystem)

    def spelled(self, url: str) -> str:
        """A path with its protocol, as the file system spells it."""
        return str(self._filesystem.unstrip_protocol(url))

    def portable(self) -> PortableStore:
        """Another process makes a file system of the same class, if all of its settings are known to be harmless."""
        filesystem, folder = self._filesystem, None
        if type(filesystem).__name__ == "DirFileSystem":
            filesystem, folder = filesystem.fs, filesystem.path
        found = f"an fsspec {type(filesystem).__name__}"
        if any(kind.__name__ == "MemoryFileSystem" for kind in type(filesystem).__mro__):
            raise unportable(f"{found}, which lives in this process only", "write the files to disk")
        if filesystem.storage_args:
            raise unportable(f"{found} with positional arguments, which may hold credentials")
        check_settings(found, filesystem.storage_options, _HARMLESS)
        return PortableStore(_reopened, (type(filesystem), dict(filesystem.storage_options), folder))

    def describe(self, url: str) -> StoredFile:
        """The size of the file at `url`, and when it was modified."""
        with located(url=url):
            self._counters.add(1, 0)
            info = self._info(url)
            return StoredFile(url, self._size_in(info), _modified(info))

    def files_below(self, url: str, *, deep: bool = True) -> Iterator[StoredFile]:
        """All files in the folder `url` and, if `deep`, in the folders below it."""
        with located(url=url), translated():
            found = self._filesystem.find(url, maxdepth=None if deep else 1, detail=True)
        for path, info in found.items():
            yield StoredFile(path, int(info.get("size") or 0), _modified(info))

    def _info(self, url: str) -> dict[str, Any]:
        with translated():
            info: dict[str, Any] = self._filesystem.info(url)
        return info

    def _size(self, url: str) -> int:
        return self._size_in(self._info(url))

    def _size_in(self, info: dict[str, Any]) -> int:
        if info.get("type") == "directory":
            raise StorageError(FOLDER)
        size = info.get("size")
        if size is None:
            raise StorageError("expected a file of known size, found one whose size the file system cannot tell")
        return int(size)

    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        starts, ends = [start for start, _ in ranges], [end for _, end in ranges]
        with translated():
            found: list[bytes] = self._filesystem.cat_ranges([url] * len(ranges), starts, ends, on_error="raise")
            # Older asynchronous file systems return errors among the results even if they are told to raise them.
            for each in found:
                if isinstance(each, BaseException):
                    raise each
        return found

    def _put(self, url: str, parts: Iterable[bytes]) -> None:
        content = b"".join(parts)
        with translated():
            # Some versions treat "xb" as "wb". Only this check keeps them from overwriting.
            if self._filesystem.exists(url):
                raise ExistingFile(EXISTS)
            try:
                out = self._filesystem.open(url, "xb")
            except (NotImplementedError, ValueError) as error:
                raise UnsupportedFeature(
                    "writing: expected a store that creates a file only where there is none, found a file system "
                    'without mode "xb"; write to a local path, or pass an obstore store'
                ) from error
            except FileNotFoundError as error:
                raise MissingFile(NO_FOLDER) from error
            try:
                with out:
                    out.write(content)
            except BaseException:
                with suppress(Exception):
                    self._filesystem.rm_file(url)
                raise

    def _remove(self, url: str) -> None:
        with translated():
            self._filesystem.rm_file(url)


def _modified(info: dict[str, Any]) -> int | None:
    """The time of the last modification, which each file system calls by another name."""
    for name in ("mtime", "last_modified", "LastModified", "updated", "modified", "created"):
        found = info.get(name)
        if isinstance(found, datetime):
            # One without a zone must be the same time in every zone that a process may have.
            found = (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        if isinstance(found, (int, float)):
            return int(found * 1_000_000) * 1_000
    return None


def _reopened(kind: type, settings: dict[str, Any], folder: str | None) -> FsspecStore:
    filesystem = kind(**settings)
    if folder is not None:
        filesystem = import_module("fsspec.implementations.dirfs").DirFileSystem(folder, filesystem)
    return FsspecStore(filesystem)
