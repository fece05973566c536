"""A store that keeps what it read of another store in a folder on disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import xxhash

from amudai.arguments import path_text, whole_number
from amudai.errors import InvalidArgument
from amudai.storage.block_cache import BLOCK_BYTES, BlockCache
from amudai.storage.contract import Requests, Store, StoreCapabilities, StoredFile
from amudai.storage.foreign import short_read
from amudai.storage.opening import adapted
from amudai.storage.portable import PortableStore, portable_store
from amudai.storage.sizes import Size, size_of

__all__ = ["CachedStore"]

# One request fetches at most this many blocks that lie side by side: several requests can run at the same time.
_MOST_BLOCKS: Final = 128


class CachedStore(Store):
    """Another store whose files are read through a folder on disk, block by block.

    Pass it as `store=`. The folder is limited in size, and can be shared by many stores and processes. Files are told
    apart by their tags, so a file that was replaced is never mixed up with the new one; a file without a tag is read
    from the other store each time. Opening a shard always asks the other store for the end of its root file.
    `requests` of shards and scans count what the other store was asked for.

    Parameters
    ----------
    store
        An obstore store, or any other store that `amudai.open` takes.
    folder
        Where blocks are kept. It is created if it does not exist.
    limit
        The most bytes of the folder, such as `"10GB"`.
    name
        What tells the files of this store from those of other stores in the same folder. None: for stores that
        another process can open, what it would open, without secrets. Other stores need a name.

    Examples
    --------
    >>> from amudai.storage import MemoryStore
    >>> objects = MemoryStore()
    >>> _ = amudai.write({"n": [1, 2, 3]}, "n.amudai.shard", store=objects)
    >>> store = amudai.CachedStore(objects, "cache", "1GB", name="objects")
    >>> amudai.open("n.amudai.shard", store=store).read().to_pydict()
    {'n': [1, 2, 3]}
    """

    def __init__(self, store: object, folder: str | os.PathLike[str], limit: Size, *, name: str | None = None) -> None:
        super().__init__()
        self._inner = adapted(store)
        self._cache = BlockCache(path_text(folder, "folder"), whole_number(size_of(limit), "limit", BLOCK_BYTES))
        self._name = name
        self._sizes: dict[tuple[str, str], int] = {}  # of files, by URL and tag
        self._identity = xxhash.xxh3_128((_identity(self._inner) if name is None else name).encode())

    @property
    def capabilities(self) -> StoreCapabilities:
        """What the other store can do."""
        return self._inner.capabilities

    @property
    def counters(self) -> Requests:
        """The requests to the other store so far."""
        return self._inner.counters

    def portable(self) -> PortableStore:
        """Another process opens the other store, and uses the same folder."""
        return PortableStore(
            _reopened, (portable_store(self._inner), self._cache.folder, self._cache.limit, self._name)
        )

    def size(self, url: str) -> int:
        """Bytes of the file at `url`."""
        return self._inner.size(url)

    def describe(self, url: str) -> StoredFile:
        """The size and tag of the file at `url`, and when it was modified."""
        return self._known(self._inner.describe(url))

    def identify(self, url: str) -> StoredFile:
        """The size and the tag of the file at `url`, for reading it."""
        return self._known(self._inner.identify(url))

    def files_below(self, url: str, *, deep: bool = True) -> Iterator[StoredFile]:
        """All files in the folder `url` and, if `deep`, in the folders below it."""
        return self._inner.files_below(url, deep=deep)

    def read_tail(self, url: str, count: int) -> tuple[StoredFile, memoryview]:
        """The size and tag of the file at `url`, and its last `count` bytes: always from the other store."""
        file, tail = self._inner.read_tail(url, count)
        return self._known(file), tail

    def read_ranges(self, url: str, ranges: Sequence[tuple[int, int]], tag: str | None = None) -> Sequence[memoryview]:
        """Exactly the bytes of each half-open range: from the folder, or from the other store."""
        if tag is None or any(not 0 <= start <= end for start, end in ranges):
            return self._inner.read_ranges(url, ranges, tag)
        wanted = sorted({block for start, end in ranges for block in _blocks_of(start, end)})
        blocks = {block: self._cache.get(self._block_name(url, tag, block)) for block in wanted}
        missing = [block for block, found in blocks.items() if found is None]
        if missing:
            self._fetch_blocks(url, tag, missing, blocks)
        parts = [_part(blocks, start, end) for start, end in ranges]
        for (start, end), part in zip(ranges, parts, strict=True):
            if len(part) != end - start:
                raise short_read(start, end, len(part), url=url)
        return parts

    def mapped(self, url: str, requests: int, size: int, tag: str | None = None) -> memoryview:
        """Map a whole file of the other store, which needs no folder for that."""
        return self._inner.mapped(url, requests, size, tag)

    def confirm(self, url: str, tag: str) -> None:
        """Raise `ReplacedFile` if a mapped file of the other store was changed."""
        self._inner.confirm(url, tag)

    def local_path(self, url: str, *, new: bool = False) -> str:
        """The path of a file of the other store."""
        return self._inner.local_path(url, new=new)

    def forget(self, url: str) -> None:
        """Close the file at `url`, if it is open."""
        self._inner.forget(url)

    def close(self) -> None:
        """Close all files."""
        self._inner.close()

    def serves(self, url: str) -> bool:
        """Whether an absolute URL names a file of the other store."""
        return self._inner.serves(url)

    def same_files(self, other: Store) -> bool:
        """Whether a store has the same files by the same URLs."""
        return self._inner.same_files(other._inner if isinstance(other, CachedStore) else other)

    def _block_name(self, url: str, tag: str, block: int) -> str:
        named = self._identity.copy()
        named.update(f"\0{url}\0{tag}\0{block}".encode())
        return named.hexdigest()

    def _fetch_blocks(self, url: str, tag: str, missing: list[int], blocks: dict[int, bytes | None]) -> None:
        """Read blocks from the other store and keep them."""
        runs: list[list[int]] = []
        for block in missing:
            if runs and block == runs[-1][-1] + 1 and len(runs[-1]) < _MOST_BLOCKS:
                runs[-1].append(block)
            else:
                runs.append([block])
        size = self._size_of(url, tag)
        parts = [(run[0] * BLOCK_BYTES, min(size, (run[-1] + 1) * BLOCK_BYTES)) for run in runs]
        for run, found in zip(runs, self._inner.read_ranges(url, parts, tag), strict=True):
            for number, block in enumerate(run):
                content = bytes(found[number * BLOCK_BYTES : (number + 1) * BLOCK_BYTES])
                blocks[block] = content
                self._cache.put(self._block_name(url, tag, block), content)

    def _known(self, file: StoredFile) -> StoredFile:
        if file.tag is not None:
            self._sizes[file.url, file.tag] = file.size
        return file

    def _size_of(self, url: str, tag: str) -> int:
        found = self._sizes.get((url, tag))
        return self._known(self._inner.identify(url)).size if found is None else found

    def _size(self, url: str) -> int:
        return self._inner.size(url)

    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[memoryview]:
        return self._inner.read_ranges(url, ranges)

    def _put(self, url: str, parts: Iterable[bytes]) -> None:
        self._inner.put_if_absent(url, parts)

    def _replace(self, url: str, parts: Iterable[bytes], tag: str) -> None:
        self._inner.replace(url, parts, tag)

    def _remove(self, url: str) -> None:
        self._inner.remove(url)


def _identity(store: Store) -> str:
    """What tells a store from others, in all processes."""
    try:
        portable = portable_store(store)
    except InvalidArgument as error:
        found = f"{type(store).__name__}, which another process cannot open without secrets"
        raise InvalidArgument(
            f"name: expected one that tells the files of the store from others, for {found}"
        ) from error
    return f"{portable.opener.__module__}.{portable.opener.__qualname__}{portable.arguments!r}"


def _blocks_of(start: int, end: int) -> range:
    return range(start // BLOCK_BYTES, -(-end // BLOCK_BYTES)) if start < end else range(0)


def _part(blocks: dict[int, bytes | None], start: int, end: int) -> memoryview:
    """The bytes of a range, of which all blocks are there."""
    found = [blocks[block] or b"" for block in _blocks_of(start, end)]
    first = start - start % BLOCK_BYTES
    return memoryview(found[0] if len(found) == 1 else b"".join(found))[start - first : end - first].toreadonly()


def _reopened(inner: PortableStore, folder: str, limit: int, name: str | None) -> CachedStore:
    return CachedStore(inner.open(), folder, limit, name=name)
