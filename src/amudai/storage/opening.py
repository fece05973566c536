"""The store and the URL that a user's location means."""

from __future__ import annotations

import os
import re
from typing import Final

from amudai.arguments import path_text, shown
from amudai.errors import InvalidArgument, located
from amudai.storage.contract import Store
from amudai.storage.local import LocalStore
from amudai.storage.references import container, file_url

__all__ = ["adapted", "open_store"]

# The size of the cache of remote files, unless AMUDAI_CACHE_SIZE says another.
_CACHE_SIZE: Final = "10GB"

_REMOTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://")


def open_store(location: str | os.PathLike[str], store: object | None = None) -> tuple[Store, str]:
    """The store that holds what a user calls `location`, and its URL there.

    Nothing is read, so a missing file is noticed by the first read.

    Parameters
    ----------
    location
        A path, a `file://` URL, or the URL of an object (`s3://bucket/logs.amudai.shard`), which needs obstore and
        takes credentials from the environment. If `AMUDAI_CACHE` names a folder, such objects are read through a
        `CachedStore` there. With `store`: a path or key in it.
    store
        An obstore store, an fsspec or pyarrow file system, or an object of a class that inherits from `Store`.

    Examples
    --------
    >>> _, url = open_store("/data/logs.amudai.shard")
    >>> url
    'file:///data/logs.amudai.shard'
    """
    try:
        text = path_text(location, "location")
    except InvalidArgument as error:
        raise InvalidArgument(f"location: expected a path or a URL, found {shown(location)}") from error
    if store is not None:
        return adapted(store), text
    if not isinstance(location, str) or not _REMOTE.match(text):
        return LocalStore(), file_url(text)
    if text.startswith("file://"):
        local = LocalStore()
        return local, file_url(local.local_path(text))
    return _remote(text), text


def adapted(store: object) -> Store:
    """A store that a caller passed, as a `Store`."""
    if isinstance(store, Store):
        return store
    # By name: none of these packages is imported to recognise the objects of another.
    lineage = [(kind.__module__.partition(".")[0], kind.__name__) for kind in type(store).__mro__]
    if ("fsspec", "AbstractFileSystem") in lineage:
        from amudai.storage.fsspec_fs import FsspecStore

        return FsspecStore(store)
    if ("pyarrow", "FileSystem") in lineage:
        from amudai.storage.arrow_fs import ArrowStore

        return ArrowStore(store)
    if any(package == "obstore" for package, _ in lineage):
        from amudai.storage.object_store import OBSTORES, ObjectStore

        if any(name in OBSTORES for package, name in lineage if package == "obstore"):
            return ObjectStore(store)
    expected = "an obstore store, an fsspec or pyarrow file system, or a Store"
    raise InvalidArgument(f"store: expected {expected}, found {type(store).__name__}")


def _remote(url: str) -> Store:
    authority, _, path = url.partition("://")[2].partition("/")
    if "@" in authority or "?" in url or "#" in url:
        # Not repeated in the message: it may hold a secret.
        raise InvalidArgument("location: expected a URL without credentials, query and fragment; pass store= instead")
    if not path or path.endswith("/"):
        raise InvalidArgument(f"location: expected the URL of a file, found {url}")
    from amudai.storage.object_store import object_store_at

    with located(url=url):
        store = object_store_at(container(url))
    folder = os.environ.get("AMUDAI_CACHE", "")
    if not folder:
        return store
    from amudai.storage.cached import CachedStore

    return CachedStore(store, folder, os.environ.get("AMUDAI_CACHE_SIZE", "") or _CACHE_SIZE)
