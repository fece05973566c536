"""What the roots in a folder refer to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from amudai.errors import AmudaiError, StorageError
from amudai.format import MAGIC
from amudai.shard import INDEX_SUFFIX, STRIPE_SUFFIX, ShardReader
from amudai.storage import Allowed, Store, StoredFile, container, is_relative

__all__ = ["References", "is_part_of_shard", "references_of", "urls_of"]

_ROOT_SUFFIX: Final = ".amudai.shard"
_NOTHING_ELSE: Final = Allowed()


@dataclass(frozen=True, slots=True)
class References:
    """What roots say about other files, by the URLs of the files.

    Attributes
    ----------
    used
        The files that a root refers to or owns.
    names
        The names, without their folders, of files that a root refers to by other URLs than those of the folder. They
        may be files of the folder all the same: by a link, by a prefix that `allow=` maps to the store, or by a URL of
        a store that lists its files by keys.
    retired
        When files that former roots owned were replaced.
    """

    used: frozenset[str]
    names: frozenset[str]
    retired: Mapping[str, datetime]

    def may_use(self, url: str) -> bool:
        """Whether a root refers to a file, or may refer to it by another URL."""
        return url in self.used or url[url.rfind("/") + 1 :] in self.names


def references_of(store: Store, folder: str, files: Iterable[StoredFile], allow: Allowed = _NOTHING_ELSE) -> References:
    """What the roots among `files`, which are all in `folder` or below it, refer to.

    A prefix that `allow` maps to the store tells which files of the folder the URLs with this prefix name.

    Raises StorageError if a root cannot be read: then nobody knows what it refers to.
    """
    used: set[str] = set()
    elsewhere: set[str] = set()
    retired: dict[str, datetime] = {}
    for file in files:
        if is_part_of_shard(file.url) or not _is_root(store, file):
            continue
        own_folder = container(file.url)
        try:
            reader = ShardReader(file.url, store, allow=allow)
            said, names = reader.files, _names(reader)
        except AmudaiError as error:
            message = "a root that cannot be read: expected a sound root, because its files are not garbage"
            raise StorageError(f"{message}; {error.message}", url=file.url) from error
        used.update(_urls(own_folder, names, is_own=said is not None))
        elsewhere.update(name for name in names if not is_relative(name))
        for name, since in (said.retired if said is not None else {}).items():
            retired[own_folder + name] = max(since, retired.get(own_folder + name, since))
    known = {url: allow.url_in(store, url) for url in elsewhere}
    used.update(url for url in known.values() if url is not None)
    elsewhere = {url for url in elsewhere if known[url] is None and not _is_in(store, folder, url)}
    unclear = {url[url.rfind("/") + 1 :] for url in elsewhere}
    return References(frozenset(used), frozenset(unclear), retired)


def urls_of(reader: ShardReader) -> frozenset[str]:
    """The URLs of the files that a root refers to or owns."""
    return frozenset(_urls(container(reader.url), _names(reader), is_own=reader.files is not None))


def is_part_of_shard(url: str) -> bool:
    """Whether the name of a file is one that this library gives to files of stripes and indexes."""
    return url.endswith((STRIPE_SUFFIX, INDEX_SUFFIX))


def _names(reader: ShardReader) -> set[str]:
    """The names of the files that a root refers to or owns."""
    said = reader.files
    return {*reader.urls} if said is None else {*reader.urls, *said.owned, *said.references}


def _is_root(store: Store, file: StoredFile) -> bool:
    """Whether a file is a root: by its name, or by the mark at its beginning."""
    if file.url.endswith(_ROOT_SUFFIX):
        return True
    return file.size >= len(MAGIC) and bytes(store.read_range(file.url, 0, len(MAGIC))) == MAGIC


def _is_in(store: Store, folder: str, url: str) -> bool:
    """Whether `url` is the URL by which the store lists a file below `folder`."""
    if is_relative(folder) or not url.startswith(folder):
        return False
    if not store.capabilities.local_path:
        return True
    path, top = store.local_path(url), store.local_path(folder)
    return os.path.realpath(path) == os.path.join(os.path.realpath(top), os.path.relpath(path, top))


def _urls(folder: str, names: set[str], *, is_own: bool) -> Iterator[str]:
    for name in names:
        if is_relative(name):
            yield folder + name
            continue
        yield name
        if not is_own:
            yield folder + name[name.rfind("/") + 1 :]  # the shard may have been moved
