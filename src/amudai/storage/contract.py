"""The contract of all stores: three verbs (`size`, `read_ranges`, `put_if_absent`), and two more where a store can.

`Store` implements what is the same everywhere (exact bytes, counting, the place in errors). A subclass only says how it
fetches and puts bytes, and declares what else it can do: replace a file (`replace`), remove one (`remove`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from amudai.errors import AmudaiError, ReplacedFile, StorageError, UnsupportedFeature, located
from amudai.frozen import quick_init
from amudai.storage.foreign import short_read
from amudai.storage.meter import COUNTING, current_meter
from amudai.storage.portable import PortableStore, undeclared

__all__ = ["MERGE_GAP", "READ_AHEAD", "REMOTE_GAP", "Requests", "Store", "StoreCapabilities", "StoredFile"]

# Two ranges this close are read as one: a request costs more than the bytes between them.
MERGE_GAP: Final = 16 * 1024
# Over a network, a megabyte takes about as long as the first byte of an answer.
REMOTE_GAP: Final = 1024 * 1024
# A small range is read together with its neighbourhood, because the next one is often near.
READ_AHEAD: Final = 64 * 1024
# How often a file that is opened may be replaced between the request for its size and that for its last bytes.
_MOST_REPLACED: Final = 20


class Requests:
    """How many requests a store received, and for how many bytes.

    Attributes
    ----------
    requests
        Sizes asked for plus ranges read. Empty ranges and writes do not count.
    bytes
        Bytes of the ranges read.
    """

    def __init__(self) -> None:
        self.requests = 0
        self.bytes = 0

    def add(self, requests: int, size: int) -> None:
        """Count `requests` more, for `size` bytes in total."""
        meter = current_meter()
        with COUNTING:
            self.requests += requests
            self.bytes += size
            if meter is not None:
                meter.requests += requests
                meter.bytes += size

    def __repr__(self) -> str:
        return f"Requests(requests={self.requests}, bytes={self.bytes})"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCapabilities:
    """What a store can do. Readers and writers check this, never the class of a store.

    Attributes
    ----------
    mappable
        `Store.mapped` returns a whole file as one view without a copy. A request costs next to nothing, so ranges need
        not be merged or read ahead.
    create_only
        If several writers put the same URL at the same moment, exactly one succeeds. Without this capability
        `put_if_absent` either checks for a file and then writes, so that two writers may both succeed and the later
        file stays, or it raises `UnsupportedFeature`.
    suffix_ranges
        `Store.read_tail` takes one request: the last bytes of a file can be read without asking for its size first.
    local_path
        `Store.local_path` returns the path of a file in the local file system. A writer may create and replace files
        there itself, and then calls `Store.forget`.
    listable
        `Store.files_below` lists the files of a folder.
    replaces
        `Store.replace` replaces a file, but only the very file that the caller has seen.
    removes
        `Store.remove` removes a file.
    merge_gap
        Two ranges of a file up to this many bytes apart are best read as one.
    read_ahead
        A file is best read in pieces of at least this many bytes. 0: in pieces of any size.
    """

    mappable: bool = False
    create_only: bool = False
    suffix_ranges: bool = False
    local_path: bool = False
    listable: bool = False
    replaces: bool = False
    removes: bool = False
    merge_gap: int = MERGE_GAP
    read_ahead: int = 0


@quick_init
@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in a store.

    Attributes
    ----------
    size
        Its size in bytes.
    modified
        When it was last modified, in nanoseconds from 1970; None if the store does not say.
    tag
        What tells the file from another that takes its place; None if the store does not say.
    """

    url: str
    size: int
    modified: int | None = None
    tag: str | None = None


class Store(ABC):
    """Where the files of a shard live. Files are immutable: written once, as a whole, and never changed.

    Each store has its own form of URLs: `file://` for local files, a key or path for others. All methods may be called
    from several threads.

    A store declares its `capabilities` and implements three hooks: `_size`, `_fetch`, `_put`. They raise errors of this
    library, which `foreign.translated` creates: `MissingFile` for a file that does not exist, `ExistingFile` for one
    that exists already. The URL is added here. A store that declares `mappable`, `suffix_ranges` or `local_path`
    overrides `mapped`, `read_tail` or `local_path`; one that declares `listable` overrides `files_below`. A store that
    knows when files were modified overrides `describe`. A store that another process can open overrides `portable`.

    A store whose files have tags overrides `identify`, and `_fetch_tagged`, which raises `ReplacedFile` if the file has
    another tag by now. A store that declares `replaces` or `removes` overrides `_replace` or `_remove`.
    """

    def __init__(self) -> None:
        self._counters = Requests()

    @property
    @abstractmethod
    def capabilities(self) -> StoreCapabilities:
        """What this store can do beyond its three verbs."""

    @property
    def counters(self) -> Requests:
        """The requests to this store so far."""
        return self._counters

    def size(self, url: str) -> int:
        """Bytes of the file at `url`."""
        with located(url=url):
            self._counters.add(1, 0)
            return self._size(url)

    def describe(self, url: str) -> StoredFile:
        """The size and tag of the file at `url`, and when it was modified."""
        return self.identify(url)

    def identify(self, url: str) -> StoredFile:
        """The size and the tag of the file at `url`, for reading it."""
        return StoredFile(url, self.size(url))

    def files_below(self, url: str, *, deep: bool = True) -> Iterator[StoredFile]:  # noqa: ARG002 - refused
        """All files in the folder `url` and, if `deep`, in the folders below it, in no order. They may lack their tags.

        Needs the capability `listable`.
        """
        raise self._lacks("listable")

    def read_ranges(self, url: str, ranges: Sequence[tuple[int, int]], tag: str | None = None) -> Sequence[memoryview]:
        """Exactly the bytes of each half-open range, as read-only views of bytes, or a `StorageError`.

        With the `tag` of `identify`, `ReplacedFile` is raised if another file is at `url` by now.
        """
        try:
            total = empty = 0
            for start, end in ranges:
                if not 0 <= start <= end:
                    raise StorageError(f"range: expected 0 <= start <= end, found {start}..{end}")
                total += end - start
                empty += start == end
            if not empty:
                return self._exactly(url, ranges, total, tag)
            # Object stores reject empty ranges.
            asked = [(start, end) for start, end in ranges if start < end]
            found = iter(self._exactly(url, asked, total, tag) if asked else ())
            return [next(found) if start < end else _NOTHING for start, end in ranges]
        except AmudaiError as error:
            error.locate(url=url)
            raise

    def read_range(self, url: str, start: int, end: int, tag: str | None = None) -> memoryview:
        """Exactly the bytes of one half-open range: `read_ranges` for a single range."""
        return self.read_ranges(url, ((start, end),), tag)[0]

    def read_tail(self, url: str, count: int) -> tuple[StoredFile, memoryview]:
        """The size and tag of the file at `url`, and its last `count` bytes, or all bytes of a smaller file."""
        for _ in range(_MOST_REPLACED):
            # Nothing was read yet: if the file is replaced in between, the new one will do.
            try:
                return self._tail(url, count)
            except ReplacedFile:
                continue
        return self._tail(url, count)

    def _tail(self, url: str, count: int) -> tuple[StoredFile, memoryview]:
        file = self.identify(url)
        start = max(0, file.size - count)
        return file, self.read_range(url, start, file.size, file.tag) if start < file.size else _NOTHING

    def mapped(self, url: str, requests: int, size: int, tag: str | None = None) -> memoryview:  # noqa: ARG002 - refused
        """Map the whole file. Counts `requests` ranges of `size` bytes in total, which the caller is going to read.

        Needs the capability `mappable`.
        """
        raise self._lacks("mappable")

    def confirm(self, url: str, tag: str) -> None:  # noqa: B027 - only what is mapped changes after it was read
        """Raise `ReplacedFile` if the mapped file at `url` was changed: its bytes are no longer those of the tag."""

    def local_path(self, url: str, *, new: bool = False) -> str:  # noqa: ARG002 - refused
        """The path of the file at `url`; with `new`, of a file to create there. Needs the capability `local_path`."""
        raise self._lacks("local_path")

    def put_if_absent(self, url: str, parts: Iterable[bytes]) -> None:
        """Create the file at `url` from `parts`, all or nothing.

        A file that exists already is not changed, and `FileExistsError` is raised. If `parts` raises an error, nothing
        is created. `StoreCapabilities.create_only` says what happens if two writers put the same URL at once.
        """
        with located(url=url):
            self._put(url, parts)

    def replace(self, url: str, parts: Iterable[bytes], tag: str) -> None:
        """Replace the file at `url`, all or nothing, if it still has the `tag` that `identify` found.

        Otherwise `ReplacedFile` is raised, and nothing is changed: of several writers that have seen the same file,
        exactly one succeeds. Needs the capability `replaces`.
        """
        if not self.capabilities.replaces:
            raise self._lacks("replaces")
        with located(url=url):
            self._replace(url, parts, tag)

    def remove(self, url: str) -> None:
        """Remove the file at `url`. `MissingFile` may be raised if there is none. Needs the capability `removes`."""
        if not self.capabilities.removes:
            raise self._lacks("removes")
        with located(url=url):
            self._remove(url)

    def forget(self, url: str) -> None:  # noqa: B027 - most stores keep no file open
        """Close the file at `url`, if it is open: another file may have its name by now."""

    def close(self) -> None:  # noqa: B027 - most stores keep no file open
        """Close all files. The store can still be used: files are opened again when they are read."""

    def serves(self, url: str) -> bool:  # noqa: ARG002 - a store that a caller made knows its own URLs
        """Whether an absolute URL, such as `s3://bucket/name`, names a file of this store."""
        return True

    def same_files(self, other: Store) -> bool:
        """Whether the other store has the same files by the same URLs."""
        return other is self

    def spelled(self, url: str) -> str:
        """One spelling for all URLs of a file of this store."""
        return url

    def portable(self) -> PortableStore:
        """How another process opens this store, without any secret; `InvalidArgument` if it cannot.

        Callers use `portable_store`, which rejects an answer that is inherited from a parent class.
        """
        raise undeclared(self)

    def _lacks(self, capability: str) -> UnsupportedFeature:
        return UnsupportedFeature(f"store: expected one with the capability {capability}, found {type(self).__name__}")

    def _exactly(
        self, url: str, ranges: Sequence[tuple[int, int]], total: int, tag: str | None
    ) -> Sequence[memoryview]:
        self._counters.add(len(ranges), total)
        found = self._fetch(url, ranges) if tag is None else self._fetch_tagged(url, ranges, tag)
        views = [memoryview(each).cast("B").toreadonly() for each in found]
        if len(views) != len(ranges):
            raise StorageError(f"expected {len(ranges)} ranges, found {len(views)}")
        for (start, end), view in zip(ranges, views, strict=True):
            if len(view) != end - start:
                raise short_read(start, end, len(view))
        return views

    @abstractmethod
    def _size(self, url: str) -> int: ...

    @abstractmethod
    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes | memoryview]:
        """The bytes of each range. No range is empty. The caller checks how many bytes come back."""

    def _fetch_tagged(
        self,
        url: str,
        ranges: Sequence[tuple[int, int]],
        tag: str,  # noqa: ARG002 - this store has no tags
    ) -> Sequence[bytes | memoryview]:
        """The bytes of each range of the file with this tag."""
        return self._fetch(url, ranges)

    @abstractmethod
    def _put(self, url: str, parts: Iterable[bytes]) -> None: ...

    def _replace(self, url: str, parts: Iterable[bytes], tag: str) -> None:
        """Replace the file with this tag. Called only if `replaces` is declared."""
        raise NotImplementedError

    def _remove(self, url: str) -> None:
        """Remove a file. Called only if `removes` is declared."""
        raise NotImplementedError


_NOTHING = memoryview(b"")
