"""A folder with blocks of remote files, whose size is limited, and which several processes share.

Each block is a file of its own, with a checksum. Its name is a hash of the store, of the URL and the tag of the remote
file, and of the number of the block, so a remote file that is replaced has other blocks. Blocks appear in one step. A
small file states the bytes of all blocks. It is locked while a block is added. If there are too many, those that were
not used for longest are removed.
"""

from __future__ import annotations

import os
import secrets
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import xxhash

from amudai.errors import located
from amudai.storage.foreign import translated

__all__ = ["BLOCK_BYTES", "BlockCache"]

BLOCK_BYTES: Final = 64 * 1024
_CHECKSUM: Final = struct.Struct("<Q")
_USAGE: Final = "usage"
_SUFFIX: Final = ".block"
# Blocks are removed until this part of the limit is in use, so that not every new block removes an old one.
_KEPT: Final = 0.9


class BlockCache:
    """A folder with blocks of remote files.

    Parameters
    ----------
    folder
        It is created if it does not exist, for this user only.
    limit
        The most bytes of all blocks. Blocks are removed before a new one makes it more.
    """

    def __init__(self, folder: str, limit: int) -> None:
        self.folder = os.path.abspath(folder)
        self.limit = limit
        with located(folder=self.folder), translated():
            os.makedirs(self.folder, mode=0o700, exist_ok=True)

    def get(self, name: str) -> bytes | None:
        """The block of this name; None if there is none, or a damaged one, which is removed."""
        path = self._path(name)
        try:
            with open(path, "rb") as file:
                content = file.read()
            os.utime(path)  # the time of the last use
        except OSError:
            return None
        found = content[_CHECKSUM.size :]
        if content[: _CHECKSUM.size] == _CHECKSUM.pack(xxhash.xxh3_64_intdigest(found)):
            return found
        with suppress(OSError):
            os.unlink(path)
        return None

    def put(self, name: str, block: bytes | memoryview) -> None:
        """Keep a block, if there is room for it. A full or broken disk is no reason to fail: nothing is kept then."""
        path, size = self._path(name), len(block) + _CHECKSUM.size
        if size > self.limit:
            return
        part = f"{path}.{secrets.token_hex(4)}.part"
        try:
            self._make_room(size)
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with open(part, "xb") as file:
                file.write(_CHECKSUM.pack(xxhash.xxh3_64_intdigest(block)))
                file.write(block)
            os.replace(part, path)
        except OSError:
            with suppress(OSError):
                os.unlink(part)

    def bytes_used(self) -> int:
        """The bytes of all blocks, by looking at each of them."""
        return sum(size for _, size, _ in self._blocks())

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name[:2], name + _SUFFIX)

    def _make_room(self, size: int) -> None:
        with self._usage() as handle:
            stated = os.pread(handle, _CHECKSUM.size, 0)
            used = _CHECKSUM.unpack(stated)[0] if len(stated) == _CHECKSUM.size else self.bytes_used()
            if used + size > self.limit:
                used = self._evict(int(self.limit * _KEPT) - size)
            os.pwrite(handle, _CHECKSUM.pack(used + size), 0)

    def _evict(self, most: int) -> int:
        """Remove the blocks that were not used for longest until at most `most` bytes are left; return how many are."""
        blocks = sorted(self._blocks(), key=lambda block: block[2])
        used = sum(size for _, size, _ in blocks)
        for path, size, _ in blocks:
            if used <= most:
                break
            with suppress(OSError):
                os.unlink(path)
            used -= size
        return used

    def _blocks(self) -> Iterator[tuple[str, int, int]]:
        """The path, the size and the time of the last use of each block, and of blocks that were never completed."""
        with os.scandir(self.folder) as folders:
            for folder in folders:
                if not folder.is_dir(follow_symlinks=False):
                    continue
                with os.scandir(folder.path) as files:
                    for file in files:
                        with suppress(OSError):  # removed meanwhile
                            facts = file.stat(follow_symlinks=False)
                            yield file.path, facts.st_size, facts.st_mtime_ns

    @contextmanager
    def _usage(self) -> Iterator[int]:
        """The file that states the bytes of all blocks, locked for this process."""
        handle = os.open(os.path.join(self.folder, _USAGE), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            with suppress(ImportError):  # Windows has no `fcntl`: there the limit may be exceeded for a while
                import fcntl

                fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle
        finally:
            os.close(handle)
