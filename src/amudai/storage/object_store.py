"""The store of an obstore store (S3, GCS, Azure, HTTP ...)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, Final
from urllib.parse import quote, unquote

from amudai.errors import MissingFile, RefusedAccess, StorageError, UnsupportedFeature, located
from amudai.storage.contract import Store, StoreCapabilities, StoredFile
from amudai.storage.foreign import short_read, translated
from amudai.storage.portable import PortableStore, check_settings, unportable

__all__ = ["OBSTORES", "ObjectStore", "object_store_at"]

# By class name, so that obstore need not be imported. Azure has no suffix ranges. HTTP servers have no conditional put,
# and some of them ignore suffix ranges.
OBSTORES: Final = {
    "AzureStore": StoreCapabilities(create_only=True, listable=True),
    "GCSStore": StoreCapabilities(create_only=True, suffix_ranges=True, listable=True),
    "HTTPStore": StoreCapabilities(),
    "LocalStore": StoreCapabilities(create_only=True, suffix_ranges=True, listable=True),
    "MemoryStore": StoreCapabilities(create_only=True, suffix_ranges=True, listable=True),
    "S3Store": StoreCapabilities(create_only=True, suffix_ranges=True, listable=True),
}

_HARMLESS: Final = frozenset(
    {
        *("account_name", "bucket", "checksum_algorithm", "conditional_put", "container_name", "default_region"),
        *("endpoint", "region", "request_payer", "s3_express", "skip_signature", "unsigned_payload", "url"),
        *("use_emulator", "use_fabric_endpoint", "virtual_hosted_style_request"),
        *("allow_http", "connect_timeout", "http1_only", "http2_only", "timeout"),  # options of the client
    }
)


# Characters of a key that need no escape in a URL.
_PLAIN: Final = "/!$&'()*+,;=:@"


class ObjectStore(Store):
    """Objects of an obstore store. A URL is a key in it; if `base` is given, it is `base` followed by an escaped key.

    A new object is collected in memory and put with one conditional request, so S3 takes up to 5 GB.
    """

    def __init__(self, store: Any, base: str = "") -> None:
        super().__init__()
        self._store = store
        self._base = base
        self._by_url = False  # whether `base` alone is enough to open this store
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

    def serves(self, url: str) -> bool:
        """Whether `url` is below the URL of this store."""
        return bool(self._base) and url.startswith(self._base)

    def same_files(self, other: Store) -> bool:
        """Whether the other store wraps the same obstore store."""
        return isinstance(other, ObjectStore) and other._store is self._store and other._base == self._base

    def portable(self) -> PortableStore:
        """Another process opens the URL, or makes the same obstore store if all of its settings are harmless."""
        if self._by_url:
            return PortableStore(object_store_at, (self._base,))
        check_settings(f"an obstore {type(self._store).__name__}", {"base": self._base}, {"base"})
        return PortableStore(_reopened, (type(self._store), _settings(self._store), self._base))

    def describe(self, url: str) -> StoredFile:
        """The size of the object at `url`, and when it was modified."""
        with located(url=url):
            key = self._key(url)
            self._counters.add(1, 0)
            with translated():
                found = self._store.head(key)
        return StoredFile(url, int(found["size"]), _nanoseconds(found))

    def files_below(self, url: str, *, deep: bool = True) -> Iterator[StoredFile]:
        """All objects in the folder `url` and, if `deep`, in the folders below it."""
        if not self._capabilities.listable:
            raise self._lacks("listable")
        with located(url=url), translated():
            prefix = self._key(url).rstrip("/") or None
            pages = self._store.list(prefix) if deep else [self._store.list_with_delimiter(prefix)["objects"]]
            for page in pages:
                for found in page:
                    yield StoredFile(self._url(found["path"]), int(found["size"]), _nanoseconds(found))

    def _url(self, key: str) -> str:
        return self._base + quote(key, safe=_PLAIN) if self._base else key

    def _size(self, url: str) -> int:
        key = self._key(url)
        with translated():
            return int(self._store.head(key)["size"])

    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[memoryview]:
        key = self._key(url)
        starts, ends = [start for start, _ in ranges], [end for _, end in ranges]
        with translated():
            # coalesce=0: the ranges are merged already, and the counters must match what is read.
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


def object_store_at(base: str) -> ObjectStore:
    """The store of the objects in the folder `base`. Credentials come from the environment."""
    try:
        obstore = import_module("obstore.store")
    except ImportError as error:
        message = "expected a local path, or obstore (pip install amudai[remote]), or store=; found none of them"
        raise StorageError(message) from error
    # obstore refuses http:// by default. The caller asks for it by such a URL.
    options = {"client_options": {"allow_http": True}} if base.startswith("http://") else {}
    with translated():
        # Without the slash: HTTP stores would ask for folder//name.
        store = ObjectStore(obstore.from_url(base.removesuffix("/"), **options), base)
    store._by_url = True
    return store


def _nanoseconds(found: Any) -> int:
    return int(found["last_modified"].timestamp() * 1_000_000) * 1_000


def _settings(store: Any) -> dict[str, Any]:
    """The arguments that create the same obstore store, none of them a secret."""
    kind = type(store)
    found = f"an obstore {kind.__name__}"
    if kind.__module__.partition(".")[0] != "obstore":
        raise unportable(f"an object of {kind.__name__}, which is no class of obstore's own")
    if kind.__name__ == "MemoryStore":
        raise unportable(f"{found}, which lives in this process only", "write the files to disk")
    if kind.__name__ == "LocalStore":
        return {} if store.prefix is None else {"prefix": os.path.abspath(store.prefix)}
    if getattr(store, "credential_provider", None) is not None:
        raise unportable(f"{found} with explicit credentials (credential_provider)")
    config = {"url": store.url} if kind.__name__ == "HTTPStore" else {"config": _config(store, found)}
    options = store.client_options or {}
    check_settings(found, config.get("config", config), _HARMLESS)
    check_settings(found, options, _HARMLESS)
    others = {"client_options": options, "prefix": getattr(store, "prefix", None), "retry_config": store.retry_config}
    return config | {name: value for name, value in others.items() if value}


def _config(store: Any, found: str) -> dict[str, Any]:
    try:
        return dict(store.config)
    except BaseException as error:
        # obstore 0.12 panics if the configuration contains a client option. A panic is not an Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise unportable(f"{found} whose configuration cannot be read", "pass client_options= apart") from None


def _reopened(kind: type, settings: dict[str, Any], base: str) -> ObjectStore:
    return ObjectStore(kind(**settings), base)
