"""The store of an obstore store (S3, GCS, Azure, HTTP ...)."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from typing import Any, Final
from urllib.parse import quote, unquote

from amudai.errors import MissingFile, RefusedAccess, StorageError, UnsupportedFeature, located
from amudai.storage.contract import READ_AHEAD, REMOTE_GAP, Store, StoreCapabilities, StoredFile
from amudai.storage.foreign import short_read, translated
from amudai.storage.portable import PortableStore, check_settings, unportable
from amudai.threads import wait_for_each

__all__ = ["OBSTORES", "ObjectStore", "object_store_at"]

_LOCAL: Final = StoreCapabilities(create_only=True, suffix_ranges=True, listable=True, removes=True)
_CLOUD: Final = replace(_LOCAL, replaces=True, merge_gap=REMOTE_GAP, read_ahead=READ_AHEAD)

# By class name, so that obstore need not be imported. Azure has no suffix ranges. HTTP servers have no conditional put,
# and some of them ignore suffix ranges. obstore replaces local files without a condition only.
OBSTORES: Final = {
    "AzureStore": replace(_CLOUD, suffix_ranges=False),
    "GCSStore": _CLOUD,
    "HTTPStore": StoreCapabilities(merge_gap=REMOTE_GAP, read_ahead=READ_AHEAD),
    "LocalStore": _LOCAL,
    "MemoryStore": replace(_LOCAL, replaces=True),
    "S3Store": _CLOUD,
}

# A request that fails is made again, with growing pauses: six times take about ten seconds.
RETRIES: Final = {"max_retries": 6, "retry_timeout": timedelta(seconds=60)}
# Seconds after which an answer must be complete, unless the environment says another time (AWS_TIMEOUT): that is
# what obstore does. Uploads that may take longer get more seconds for each megabyte.
TIMEOUT: Final = 30
UPLOAD_SECONDS_PER_MEGABYTE: Final = 2
# The beginnings of the names of environment variables, and the schemes of URLs that they are for.
_VARIABLES: Final = {"AWS": ("s3", "s3a"), "AZURE": ("az", "adl", "azure", "abfs", "abfss"), "GOOGLE": ("gs",)}
_CLIENT: Final = (
    *(
        "allow_http",
        "allow_invalid_certificates",
        "connect_timeout",
        "http1_only",
        "http2_only",
        "proxy_ca_certificate",
    ),
    *("proxy_excludes", "proxy_url", "read_timeout", "timeout", "user_agent"),
)
# The name of an attribute of new objects. By its value a writer recognises an object that it has put, although the
# answer was lost.
_WRITER: Final = "amudaiwriter"

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

    An object is read by its tag (`If-Match`): if it is replaced meanwhile, the next read raises `ReplacedFile`. A new
    object is collected in memory and put with one conditional request, so S3 takes up to 5 GB.
    """

    def __init__(self, store: Any, base: str = "") -> None:
        super().__init__()
        self._store = store
        self._base = base
        self._by_url = False  # whether `base` alone is enough to open this store
        known = [kind.__name__ for kind in type(store).__mro__ if kind.__name__ in OBSTORES]
        self._capabilities = OBSTORES[known[0]] if known else StoreCapabilities()
        self._has_attributes = bool(known) and self._capabilities.replaces and known[0] != "MemoryStore"

    @property
    def capabilities(self) -> StoreCapabilities:
        """What this kind of object store can do."""
        return self._capabilities

    def read_tail(self, url: str, count: int) -> tuple[StoredFile, memoryview]:
        """The size and tag of the object at `url`, and its last `count` bytes, or all bytes of a smaller object."""
        if not self._capabilities.suffix_ranges or not count:
            return super().read_tail(url, count)
        with located(url=url):
            key = self._key(url)
        self._counters.add(1, 0)
        try:
            with located(url=url), translated():
                found = self._store.get(key, options={"range": {"suffix": count}})
                file, content = _stored(url, found.meta), memoryview(found.bytes()).cast("B").toreadonly()
        except (MissingFile, RefusedAccess):
            raise
        except StorageError:
            return super().read_tail(url, count)  # an empty object has no last bytes: S3 and GCS refuse the range
        self._counters.add(0, len(content))
        if len(content) != min(count, file.size):
            raise short_read(max(0, file.size - count), file.size, len(content), url=url)
        return file, content

    def serves(self, url: str) -> bool:
        """Whether `url` is below the URL of this store."""
        return bool(self._base) and url.startswith(self._base)

    def same_files(self, other: Store) -> bool:
        """Whether the other store wraps the same obstore store."""
        return isinstance(other, ObjectStore) and other._store is self._store and other._base == self._base

    def spelled(self, url: str) -> str:
        """A URL without the slashes at its ends, which obstore drops."""
        return url if self._base else url.strip("/")

    def portable(self) -> PortableStore:
        """Another process opens the URL, or makes the same obstore store if all of its settings are harmless."""
        if self._by_url:
            return PortableStore(object_store_at, (self._base,))
        check_settings(f"an obstore {type(self._store).__name__}", {"base": self._base}, {"base"})
        return PortableStore(_reopened, (type(self._store), _settings(self._store), self._base))

    def describe(self, url: str) -> StoredFile:
        """The size and tag of the object at `url`, and when it was modified."""
        with located(url=url):
            key = self._key(url)
            self._counters.add(1, 0)
            with translated():
                return _stored(url, self._store.head(key))

    def identify(self, url: str) -> StoredFile:
        """The size and tag of the object at `url`, for reading it."""
        return self.describe(url)

    def files_below(self, url: str, *, deep: bool = True) -> Iterator[StoredFile]:
        """All objects in the folder `url` and, if `deep`, in the folders below it."""
        if not self._capabilities.listable:
            raise self._lacks("listable")
        with located(url=url), translated():
            prefix = self._key(url).rstrip("/") or None
            pages = self._store.list(prefix) if deep else [self._store.list_with_delimiter(prefix)["objects"]]
            for page in pages:
                for found in page:
                    # Without the tag: lists of Azure spell it another way.
                    yield replace(_stored(self._url(found["path"]), found), tag=None)

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

    def _fetch_tagged(self, url: str, ranges: Sequence[tuple[int, int]], tag: str) -> Sequence[memoryview]:
        key, e_tag = self._key(url), _version(tag)["e_tag"]

        def fetch(part: tuple[int, int]) -> memoryview:
            found = self._store.get(key, options={"range": part, "if_match": e_tag})
            return memoryview(found.bytes())

        with translated():
            return wait_for_each(fetch, ranges)

    def _put(self, url: str, parts: Iterable[bytes]) -> None:
        self._write(self._key(url), b"".join(parts), "create")

    def _replace(self, url: str, parts: Iterable[bytes], tag: str) -> None:
        self._write(self._key(url), b"".join(parts), _version(tag))

    def _write(self, key: str, content: bytes, mode: object) -> None:
        """Put an object under a condition. The answer may get lost: then the object says whose it is."""
        writer = secrets.token_hex(16)
        options = {"attributes": {_WRITER: writer}} if self._has_attributes else {}
        with translated():
            try:
                self._uploading(len(content)).put(key, content, mode=mode, **options)
            except NotImplementedError as error:
                raise UnsupportedFeature(
                    "writing: expected a store that creates a file only where there is none, found one that cannot; "
                    "write to a local path, or pass another obstore store"
                ) from error
            except Exception:
                if not (options and self._has_written(key, writer)):
                    raise

    def _has_written(self, key: str, writer: str) -> bool:
        try:
            found = self._store.get(key, options={"head": True})
        except Exception:
            return False  # the first error says more
        return bool(found.attributes.get(_WRITER) == writer)

    def _uploading(self, size: int) -> Any:
        """The obstore store for an upload of `size` bytes, with enough time for it."""
        seconds = UPLOAD_SECONDS_PER_MEGABYTE * size // 1_000_000
        return self._store if seconds < TIMEOUT or not self._by_url else _obstore_at(self._base, TIMEOUT + seconds)

    def _remove(self, url: str) -> None:
        key = self._key(url)
        with translated():
            self._store.delete(key)

    def _key(self, url: str) -> str:
        if not url.startswith(self._base):
            raise StorageError(f"expected a URL below {self._base}, which this store serves")
        return unquote(url[len(self._base) :]) if self._base else url


def object_store_at(base: str) -> ObjectStore:
    """The store of the objects in the folder `base`. Credentials come from the environment."""
    with translated():
        store = ObjectStore(_obstore_at(base), base)
    store._by_url = True
    return store


def _obstore_at(base: str, timeout: int | None = None) -> Any:
    try:
        obstore = import_module("obstore.store")
    except ImportError as error:
        message = "expected a local path, or obstore (pip install amudai[remote]), or store=; found none of them"
        raise StorageError(message) from error
    client = _client_options(base) if timeout is None else {**_client_options(base), "timeout": f"{timeout} seconds"}
    # Without the slash: HTTP stores would ask for folder//name.
    return obstore.from_url(base.removesuffix("/"), retry_config=RETRIES, client_options=client)


def _client_options(base: str) -> dict[str, Any]:
    """Options of the client in the environment, such as AWS_ALLOW_HTTP: obstore forgets them if it is given others."""
    scheme = base.partition("://")[0]
    if scheme in ("http", "https"):
        return {"allow_http": scheme == "http"}  # the caller asks for it by such a URL
    beginnings = [begin for begin, schemes in _VARIABLES.items() if scheme in schemes]
    named = ((name, os.environ.get(f"{begin}_{name.upper()}")) for begin in beginnings for name in _CLIENT)
    return {name: value for name, value in named if value}


def _stored(url: str, meta: Any) -> StoredFile:
    """A file, as obstore describes it. The tag is the ETag and, on a line of its own, the version if there is one."""
    modified = int(meta["last_modified"].timestamp() * 1_000_000) * 1_000
    e_tag, version = meta.get("e_tag"), meta.get("version")
    # Weak tags do not tell bytes apart, and no condition on one is ever fulfilled.
    has_tag = e_tag is not None and not e_tag.startswith("W/")
    tag = None if not has_tag else e_tag if version is None else f"{e_tag}\n{version}"
    return StoredFile(url, int(meta["size"]), modified, tag)


def _version(tag: str) -> dict[str, str]:
    """The version that a tag of `_stored` stands for. obstore refuses a version of None, so the key is left out."""
    e_tag, mark, version = tag.partition("\n")
    return {"e_tag": e_tag} | ({"version": version} if mark else {})


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
