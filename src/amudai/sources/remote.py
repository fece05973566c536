"""Input files at URLs: which store has them, and which files a folder of a store has."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from amudai.errors import InvalidArgument, MissingFile, StorageError, UnsupportedFeature, located
from amudai.sources.content import Content, StoreContent
from amudai.storage import FsspecStore, Store, container, object_store_at

__all__ = ["check_url", "file_at", "files_in"]

# The schemes of obstore. Other schemes are those of fsspec.
_OBJECTS: Final = frozenset({"s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss", "http", "https"})


def check_url(url: str) -> None:
    """Raise `InvalidArgument` if a URL holds a secret or what may be one."""
    scheme, _, rest = url.partition("://")
    query = scheme.lower() in ("http", "https") and "?" in rest
    if "@" in rest.partition("/")[0] or query:
        # The URL is not repeated in the message, because of the secret.
        raise InvalidArgument("paths: expected a URL without credentials and query, found one with them")


def file_at(url: str) -> Content | None:
    """The file at a URL; None if there is none, or a folder."""
    store, key = _store_of(url)
    try:
        with located(url=url):
            return StoreContent(store, store.describe(key), url)
    except MissingFile:
        if not store.capabilities.listable:
            raise
        return None
    except StorageError:
        if store.capabilities.listable and any(True for _ in store.files_below(key)):
            return None
        raise


def files_in(url: str) -> list[tuple[str, Content]]:
    """The URLs of all files below a folder, in the order of their names, and their content."""
    folder = f"{url.rstrip('/')}/"
    store, key = _store_of(folder)
    try:
        with located(url=url):
            found = sorted(store.files_below(key), key=lambda file: file.url)
    except UnsupportedFeature as error:
        raise InvalidArgument("paths: expected the URL of a file, because this store lists none", url=url) from error
    except MissingFile:
        return []
    files: list[tuple[str, Content]] = []
    for file in found:
        # A file system of fsspec knows its files by paths, an object store of ours by URLs.
        name = file.url if key == folder else folder + file.url.lstrip("/").removeprefix(key.strip("/")).lstrip("/")
        files.append((name, StoreContent(store, file, name)))
    return files


def _store_of(url: str) -> tuple[Store, str]:
    """The store of a URL, and what the store calls the URL."""
    scheme = url.partition("://")[0].lower()
    with located(url=url):
        if scheme in _OBJECTS:
            return object_store_at(container(url)), url
        try:
            core = import_module("fsspec.core")
        except ImportError as error:
            raise StorageError(f"expected fsspec for {scheme}:// (pip install amudai[remote]), found none") from error
        try:
            filesystem, path = core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise InvalidArgument(f"paths: expected the URL of a store that is installed, found {error}") from error
        return FsspecStore(filesystem), path
