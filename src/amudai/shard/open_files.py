"""The files of an open shard."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TypeVar

import numpy as np

from amudai.column import Prefer
from amudai.errors import AmudaiError, StorageError, located
from amudai.format import (
    FOOTER,
    HEADER,
    TAIL_READ,
    DataRef,
    Fingerprint,
    ShardDirectory,
    ShardProperties,
    check_footer,
    check_header,
    directory_range,
    has_root_files,
    noted_time,
    references_of,
    require_few_entries,
    unframe,
)
from amudai.lazy import lazy
from amudai.limits import Limits
from amudai.storage import Allowed, Artifact, Store, StoredFile, container, is_relative, resolve

__all__ = ["OpenFiles", "require_same"]

T = TypeVar("T")

_NO_PROPERTIES = ShardProperties(creation_min=None, creation_max=None, standard=(), custom=())


class OpenFiles:
    """The root of an open shard, its directory, and the files that references lead to.

    The reader of the shard and the readers of its stripes share it. It holds none of them, so that there are no cycles:
    files are closed as soon as nobody uses the shard or its stripes.

    Parameters
    ----------
    end, file
        The end of the directory, for a shard that is embedded in a larger file, and that file if it is open already.
    limits
        How much memory and work the shard may take.
    prefer
        Which encoding is read if a column has several.
    tail
        The root file as its store described it, and its last bytes, the directory included, if they are known already.

    Attributes
    ----------
    root, directory_place
        The root file, and the place of the shard directory in it.
    """

    def __init__(
        self,
        store: Store,
        url: str,
        verify: bool,
        allow: Allowed,
        end: int | None,
        limits: Limits,
        prefer: Prefer = "native",
        tail: tuple[StoredFile, memoryview] | None = None,
        file: Artifact | None = None,
    ) -> None:
        self.store = store
        self.url = url
        self.verify = verify
        self.allow = allow
        self.limits = limits
        self.prefer: Prefer = prefer
        self._referred: dict[str, Artifact] = {}  # by reference, as stored
        self._resolved: dict[Artifact, str] = {}  # the URL of each file, which its store may know by another name
        self._stores: dict[str, Store] = {}  # of files elsewhere, by scheme and host
        self._lock = Lock()
        with located(url=url):
            self.root, self.directory_place = self._open(end, file) if tail is None else self._known(*tail)
            self.directory = self.message(self.directory_place, "ShardDirectory", self.root, ShardDirectory.decode)
        self._artifacts = {url: self.root}

    def _open(self, end: int | None, file: Artifact | None = None) -> tuple[Artifact, DataRef]:
        if end is None:
            return self._found(*self.store.read_tail(self.url, TAIL_READ))
        whole = Artifact.open(self.store, self.url) if file is None else file
        size = whole.size
        stop = min(end, size)
        start = max(0, stop - TAIL_READ)
        tail = whole.read(start, stop)
        first, last = directory_range(tail, size, end)
        check_footer(whole.read(size - len(FOOTER), size))
        if start == 0 and stop >= len(HEADER):
            check_header(tail)  # needs no request for a small file; `verify` checks larger files
        if first < start:
            start = first
            tail = whole.read(start, stop)
        return Artifact(self.store, self.url, size, (start, tail), whole.tag), DataRef("", first, last)

    def _found(self, file: StoredFile, tail: memoryview) -> tuple[Artifact, DataRef]:
        """The root file and its directory, whose place only the end of the file tells."""
        size = file.size
        first, last = directory_range(tail, size)
        start = size - len(tail)
        if start == 0:
            check_header(tail)  # needs no request for a small file; `verify` checks larger files
        whole = Artifact(self.store, self.url, size, (start, tail), file.tag)
        if first < start:
            whole = Artifact(self.store, self.url, size, (first, whole.read(first, size)), file.tag)
        return whole, DataRef("", first, last)

    def _known(self, file: StoredFile, tail: memoryview) -> tuple[Artifact, DataRef]:
        first, last = directory_range(tail, file.size, None)
        start = file.size - len(tail)
        if first < start:
            return self._open(None)
        return Artifact(self.store, self.url, file.size, (start, tail), file.tag), DataRef("", first, last)

    @lazy
    def properties(self) -> ShardProperties:
        """The properties of the shard."""
        if self.directory.properties is None or self.directory.properties.is_empty:
            return _NO_PROPERTIES
        return self.message(self.directory.properties, "ShardProperties", self.root, ShardProperties.decode)

    @lazy
    def _fingerprints(self) -> dict[str, Fingerprint]:
        """The fingerprints of the files of other roots that this root refers to, by URL."""
        if not self.has_own_properties:
            return {}
        named = references_of(self.properties).items()
        return {resolve(name, self.url) if is_relative(name) else name: mark for name, mark in named}

    def fingerprint_of(self, file: Artifact) -> Fingerprint | None:
        """What the root says about a file of another root; None if it says nothing."""
        return self._fingerprints.get(self._resolved.get(file, file.url))

    @lazy
    def is_own(self) -> bool:
        """Whether this library wrote the root. Then references are followed exactly, and none is guessed."""
        return self.has_own_properties and has_root_files(self.properties)

    @property
    def has_own_properties(self) -> bool:
        """Whether the properties are in the root. Elsewhere, the fingerprint of their file would have to be known."""
        ref = self.directory.properties
        return ref is not None and not ref.url

    def artifact(self, reference: str, anchor: Artifact) -> Artifact:
        """The file that `reference`, found in the file `anchor`, refers to."""
        if not reference:
            return anchor
        known = self._referred.get(reference)
        if known is not None:
            return known
        with located(url=self.url):
            url = self.url_of(reference)
            expected = None if url == self.url else self._fingerprints.get(url)
        with self._lock:
            found = self._artifacts.get(url)
            if found is None:
                found = self._artifacts[url] = _opened(*self.place(url), expected)
                self._resolved[found] = url
            self._referred[reference] = found
        return found

    def url_of(self, reference: str) -> str:
        """The URL of the file that a reference means, which is not empty. RefusedAccess if it may not be followed."""
        return resolve(reference, self.url, self.allow, exact=self.is_own)

    def place(self, url: str) -> tuple[Store, str]:
        """The store that has the file at a URL of `url_of`, and the file's URL there."""
        if is_relative(url) or (not is_relative(self.url) and url.startswith(container(self.url))):
            return self.store, url
        host = "/".join(url.split("/", 3)[:3])
        known = self._stores.get(host)
        if known is not None and known.serves(url):
            return known, url
        store, name = self.allow.place(url, self.store)
        if name == url and store is not self.store:
            self._stores[host] = store
        return store, name

    def close(self) -> None:
        """Close the files."""
        for store in (self.store, *self._stores.values()):
            store.close()

    def message(self, ref: DataRef, what: str, anchor: Artifact, decode: Callable[[memoryview], T]) -> T:
        """The message at `ref`: its payload, checked and decoded."""
        artifact = self.artifact(ref.url, anchor) if ref.url else anchor
        try:
            return decode(self.checked(artifact.read(ref.start, ref.end), what))
        except AmudaiError as error:
            error.locate(url=artifact.url, range=f"{ref.start}..{ref.end}")
            raise

    def payload(self, ref: DataRef, what: str, anchor: Artifact) -> tuple[memoryview, located]:
        """The payload of the message at `ref`, checked, and its place for errors when it is decoded later."""
        artifact = self.artifact(ref.url, anchor) if ref.url else anchor
        place = located(url=artifact.url, range=f"{ref.start}..{ref.end}")
        with place:
            return self.checked(artifact.read(ref.start, ref.end), what), place

    def checked(self, frame: memoryview, what: str) -> memoryview:
        """The payload of a frame: its checksum is right, and it does not hold too many entries."""
        payload = unframe(frame, what, self.verify)
        require_few_entries(what, payload, self.limits.entries)
        return payload


def _opened(store: Store, url: str, expected: Fingerprint | None) -> Artifact:
    """Open a file. An error if it is not the file that the root was made from."""
    if expected is None:
        return Artifact.open(store, url)
    try:
        described = store.describe(url) if expected.modified else None
        if described is None:
            found = Artifact.open(store, url)
        else:
            found = Artifact(store, url, described.size, tag=described.tag)
    except StorageError as error:
        message = f"the file from which this shard was made: {error.message}"
        raise type(error)(message, **error.place) from error
    require_same(found, expected, "from which this shard was made")
    modified = None if described is None else described.modified
    if modified is not None and noted_time(modified) != expected.modified:
        then, now = np.array([expected.modified, noted_time(modified)], np.uint64).view("datetime64[ns]")
        message = f"expected the file from which this shard was made, modified at {then}, found it modified at {now}"
        raise StorageError(message, url=url)
    return found


def require_same(found: Artifact, expected: Fingerprint, purpose: str) -> None:
    """Raise StorageError if a file is not the expected one. `purpose` says in the error what it was expected for."""
    if found.size != expected.size or not expected.matches(found.read(expected.start, expected.end)):
        message = f"expected the file of {expected.size} bytes {purpose}"
        raise StorageError(f"{message}, found another of {found.size} bytes: it was overwritten", url=found.url)
