"""How are local files mapped and sealed?"""

from __future__ import annotations

import mmap
import os
import re
import stat
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import unquote_to_bytes

from amudai.errors import StorageError
from amudai.storage.aside import Aside, sync_folder
from amudai.storage.contract import Slices, StoreBase
from amudai.storage.foreign import EXISTS, FOLDER, NO_FOLDER, translated
from amudai.storage.recent import Recent

__all__ = ["LocalStore", "local_path", "new_path"]

# Each mapping holds a file descriptor, and many systems allow 1024 of them, or 256.
MAX_OPEN: Final = 64

_FILE_URL: Final = re.compile(r"file://(?:localhost)?(/.*)", re.DOTALL)


class LocalStore(StoreBase):
    """Local files by `file://` URLs, mapped into memory: reading copies nothing.

    A shard is immutable, so nobody may truncate a file while it is open; the system would end the process that reads
    behind the new end. Replacing a file by another is harmless: what is open stays what it was.
    """

    def __init__(self) -> None:
        super().__init__()
        self._mapped: Recent[memoryview] = Recent(MAX_OPEN)

    def close(self) -> None:
        """Let go of all files. A file with views in use is closed when the last of them goes."""
        # No mmap.close(): it fails while views exist. Without a reference from here the last view ends the mapping.
        self._mapped.clear()

    def forget(self, url: str) -> None:
        """Let go of one file: another has its name by now."""
        self._mapped.drop(url)

    def _size(self, url: str) -> int:
        return len(self._whole(url))

    def read_range(self, url: str, start: int, end: int) -> memoryview:
        """Exactly the bytes of one half-open range."""
        whole = self._whole(url)
        if not 0 <= start <= end <= len(whole):
            raise StorageError(f"range: expected start <= end <= {len(whole)}, found {start}..{end}", url=url)
        self._counters.add(1, end - start)
        return whole[start:end]

    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> Slices:
        return Slices(self._whole(url), ranges)

    def _put(self, url: str, parts: Iterable[bytes]) -> None:
        with translated():
            path = new_path(url)
        if os.path.lexists(path):
            raise StorageError(EXISTS)
        folder = os.path.dirname(path)
        if not os.path.isdir(folder):
            raise StorageError(NO_FOLDER)
        with translated():
            aside = Aside(folder)
        try:
            for part in parts:  # outside of `translated`: an error of the caller's stays the caller's
                with translated():
                    aside.out.write(part)
            with translated():
                aside.sync()
                aside.publish(path)
                try:
                    sync_folder(folder)
                except OSError:
                    aside.withdraw(path)  # a file that may be gone after a loss of power was not sealed
                    raise
        finally:
            aside.discard()

    def _whole(self, url: str) -> memoryview:
        found = self._mapped.latest(url)
        if found is None:
            with translated():
                found = self._mapped.get(url, _map)
        return found


def _map(url: str) -> memoryview:
    # Without O_NONBLOCK, opening a pipe waits for its other end.
    handle = os.open(local_path(url), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        facts = os.fstat(handle)
        if stat.S_ISDIR(facts.st_mode):
            raise StorageError(FOLDER)
        if not stat.S_ISREG(facts.st_mode):
            raise StorageError("expected a file, found a device, a pipe or a socket")
        if facts.st_size == 0:
            return memoryview(b"")  # mmap refuses to map nothing
        return memoryview(mmap.mmap(handle, facts.st_size, access=mmap.ACCESS_READ))
    finally:
        os.close(handle)


def local_path(url: str) -> str:
    """The path of the file that a `file://` URL means."""
    names = _candidates(url)
    if len(names) == 1:
        return names[0]
    return next((name for name in names if os.path.lexists(name)), names[0])


def new_path(url: str) -> str:
    """The path at which a file of this `file://` URL is created."""
    return _candidates(url)[0]


def _candidates(url: str) -> tuple[str, ...]:
    """Paths that `url` may mean, the likeliest first.

    The reference implementation does not decode what it appends to a folder, so a name of its own that needed escapes
    is stored with them.
    """
    match = _FILE_URL.fullmatch(url)
    if match is None:
        raise StorageError("expected a URL like file:///folder/name of this machine")
    escaped = match[1]
    if "%" not in escaped:
        return (escaped,)
    if "%2f" in escaped.lower():
        raise StorageError("expected names without slashes, found an escaped one (%2F)")
    path = os.fsdecode(unquote_to_bytes(escaped))
    return path, os.path.join(os.path.dirname(path), os.path.basename(escaped)), escaped
