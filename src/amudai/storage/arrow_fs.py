"""The store of a `pyarrow.fs.FileSystem`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Final

from amudai.errors import MissingFile, StorageError, UnsupportedFeature
from amudai.storage.contract import MERGE_GAP, READ_AHEAD, REMOTE_GAP, Store, StoreCapabilities
from amudai.storage.foreign import FOLDER, MISSING, translated
from amudai.storage.portable import PortableStore, check_settings, unportable
from amudai.storage.recent import RecentFiles
from amudai.threads import wait_for_each

__all__ = ["ArrowStore"]

MAX_OPEN: Final = 64

# Without `default_metadata` and the settings of proxies and roles, which may hold secrets.
_HARMLESS: Final = frozenset(
    {
        *("allow_bucket_creation", "allow_bucket_deletion", "allow_delayed_open", "anonymous", "background_writes"),
        *("connect_timeout", "endpoint_override", "force_virtual_addressing", "region", "request_timeout", "scheme"),
        *("tls_ca_file_path",),
    }
)


class ArrowStore(Store):
    """Files of a `pyarrow.fs.FileSystem`; a URL is a path in it. It reads only: Arrow has no create-only write."""

    def __init__(self, filesystem: Any) -> None:
        super().__init__()
        self._filesystem = filesystem
        self._gap = MERGE_GAP if _inner(filesystem).type_name == "local" else REMOTE_GAP
        self._files: RecentFiles[Any] = RecentFiles(MAX_OPEN)  # opening asks S3 for the size again

    @property
    def capabilities(self) -> StoreCapabilities:
        """It reads, and nothing else."""
        return StoreCapabilities(merge_gap=self._gap, read_ahead=READ_AHEAD if self._gap == REMOTE_GAP else 0)

    def forget(self, url: str) -> None:
        """Close the file at `url`, if it is open: another file may have its name by now."""
        self._files.drop(url)

    def close(self) -> None:
        """Close all files."""
        self._files.clear()

    def serves(self, url: str) -> bool:  # noqa: ARG002 - paths have no scheme
        """False: a path in an Arrow file system is no URL."""
        return False

    def same_files(self, other: Store) -> bool:
        """Whether the other store wraps an equal file system."""
        return isinstance(other, ArrowStore) and bool(self._filesystem.equals(other._filesystem))

    def portable(self) -> PortableStore:
        """Another process makes a file system of the same class, if pyarrow shows that it holds no credentials."""
        filesystem, folder = _inner(self._filesystem), None
        if filesystem is not self._filesystem:
            folder = self._filesystem.base_path
        kind = type(filesystem)
        found = f"a pyarrow {kind.__name__}"
        if kind.__module__ == "pyarrow._fs" and kind.__name__ == "LocalFileSystem":
            return PortableStore(_reopened, (kind, {}, folder and os.path.abspath(folder)))
        if kind.__module__ != "pyarrow._s3fs":
            raise unportable(found)
        settings = _s3_settings(filesystem)
        check_settings(found, settings, _HARMLESS)
        return PortableStore(_reopened, (kind, settings, folder))

    def _size(self, url: str) -> int:
        with translated():
            info = self._filesystem.get_file_info(url)
        if not info.is_file:
            raise MissingFile(MISSING) if info.type.name == "NotFound" else StorageError(FOLDER)
        return int(info.size)

    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        with translated():
            file = self._files.get(url, self._filesystem.open_input_file)
            return wait_for_each(lambda each: _read(file, each), ranges)  # Arrow reads one range per call

    def _put(self, url: str, parts: Iterable[bytes]) -> None:  # noqa: ARG002 - refused before it is looked at
        raise UnsupportedFeature(
            "writing: expected a store that creates a file only where there is none, found a pyarrow file system, "
            "which cannot; write to a local path, or pass an obstore store"
        )


def _inner(filesystem: Any) -> Any:
    return filesystem.base_fs if type(filesystem).__name__ == "SubTreeFileSystem" else filesystem


def _read(file: Any, part: tuple[int, int]) -> bytes:
    start, end = part
    content: bytes = file.read_at(end - start, start)
    return content


def _s3_settings(filesystem: Any) -> dict[str, Any]:
    """The settings that differ from pyarrow's defaults, taken from its pickled form: it shows them nowhere else."""
    (shown,) = filesystem.__reduce__()[1]
    # Always included: the defaults of these two depend on the environment.
    always = {"anonymous": shown["anonymous"], "region": shown["region"]}
    (defaults,) = type(filesystem)(anonymous=True, region=shown["region"]).__reduce__()[1]
    return always | {name: value for name, value in shown.items() if name not in always and value != defaults[name]}


def _reopened(kind: type, settings: dict[str, Any], folder: str | None) -> ArrowStore:
    filesystem = kind(**settings)
    if folder is not None:
        filesystem = import_module("pyarrow.fs").SubTreeFileSystem(folder, filesystem)
    return ArrowStore(filesystem)
