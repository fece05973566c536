"""Where do bytes live?

In stores: local files, memory, and whatever obstore, fsspec or pyarrow.fs can reach. `contract.py` has the three verbs
that all of them share and the capabilities that they declare, `artifact.py` reads one file in few requests,
`resolve.py` says which file a reference means. Writers keep pieces in a `Spool` until their place is known, and files
in a `Sealing` until all of them are complete. `portable.py` says how another process opens the same store. Nothing
here knows what the bytes mean.
"""

from __future__ import annotations

import os
import re
from typing import Final

from amudai.errors import InvalidArgument, located
from amudai.storage.arrow_fs import ArrowStore
from amudai.storage.artifact import MAX_READ, MERGE_GAP, Artifact, Pieces
from amudai.storage.contract import Requests, Store, StoreCapabilities
from amudai.storage.fsspec_fs import FsspecStore
from amudai.storage.local import LocalStore
from amudai.storage.memory import MemoryStore
from amudai.storage.meter import Meter, count_blocks, metered
from amudai.storage.object_store import OBSTORES, ObjectStore, object_store_at
from amudai.storage.portable import PortableStore, portable_store
from amudai.storage.resolve import check_reference, container, file_url, is_relative, resolve
from amudai.storage.sealed import SealedFile, Sealing, remove_files
from amudai.storage.sizes import Size, size_of
from amudai.storage.spool import Spool

__all__ = [
    "MAX_READ",
    "MERGE_GAP",
    "ArrowStore",
    "Artifact",
    "FsspecStore",
    "LocalStore",
    "MemoryStore",
    "Meter",
    "ObjectStore",
    "Pieces",
    "PortableStore",
    "Requests",
    "SealedFile",
    "Sealing",
    "Size",
    "Spool",
    "Store",
    "StoreCapabilities",
    "check_reference",
    "container",
    "count_blocks",
    "file_url",
    "is_relative",
    "metered",
    "open_store",
    "portable_store",
    "remove_files",
    "resolve",
    "size_of",
]

_REMOTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://")


def open_store(location: str | os.PathLike[str], store: object | None = None) -> tuple[Store, str]:
    """The store that holds what a user calls `location`, and its URL there.

    Nothing is read, so a missing file is noticed by the first read.

    Parameters
    ----------
    location
        A path, a `file://` URL, or the URL of an object (`s3://bucket/logs.amudai.shard`), which needs obstore and
        takes credentials from the environment. With `store`: a path or key in it.
    store
        An obstore store, an fsspec or pyarrow file system, or an object of a class that inherits from `Store`.

    Examples
    --------
    >>> _, url = open_store("/data/logs.amudai.shard")
    >>> url
    'file:///data/logs.amudai.shard'
    """
    text = os.fsdecode(location)
    if store is not None:
        return _adapted(store), text
    if not isinstance(location, str) or not _REMOTE.match(text):
        return LocalStore(), file_url(text)
    if text.startswith("file://"):
        local = LocalStore()
        return local, file_url(local.local_path(text))
    return _remote(text), text


def _adapted(store: object) -> Store:
    if isinstance(store, Store):
        return store
    # By name: none of these packages is imported to recognise the objects of another.
    lineage = [(kind.__module__.partition(".")[0], kind.__name__) for kind in type(store).__mro__]
    if ("fsspec", "AbstractFileSystem") in lineage:
        return FsspecStore(store)
    if ("pyarrow", "FileSystem") in lineage:
        return ArrowStore(store)
    if any(package == "obstore" and name in OBSTORES for package, name in lineage):
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
    with located(url=url):
        return object_store_at(container(url))
