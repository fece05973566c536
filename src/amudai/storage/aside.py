"""How is a file written before it has its name?

Without a name where the system allows it: then a process that dies, however it dies, leaves nothing behind. Elsewhere
as `.amudai-*.part` in the same folder. Nobody deletes parts that are found there: their writer may be alive.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import Final

__all__ = ["Aside", "open_scratch", "sync_folder"]

_UNNAMED: Final[int] = getattr(os, "O_TMPFILE", 0)
_NO_UNNAMED: Final = {errno.EOPNOTSUPP, errno.ENOTSUP, errno.EISDIR, errno.EINVAL}
_NO_LINKS: Final = {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV, errno.ENOENT}
_NO_FOLDER_SYNC: Final = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF}
_BUFFER: Final = 64 * 1024
_COPY: Final = 4 * 1024 * 1024


class Aside:
    """A new file in `folder` that nobody sees until `publish` or `replace` gives it a name.

    It gets the permissions that any new file gets. What the system refuses is an `OSError`.
    """

    __slots__ = ("_folder", "_identity", "_part", "out")

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._part: str | None = None
        handle = _open_unnamed(folder, 0o666)
        if handle is None:
            handle, self._part = _open_part(folder, 0o666)
        self.out = open(handle, "wb", _BUFFER)  # noqa: SIM115 - kept open, and closed by `discard`
        try:
            self._identity = _identity(os.fstat(handle))
        except BaseException:
            self.discard()
            raise

    def sync(self) -> None:
        """Bring what was written to the disk."""
        if not self.out.closed:
            self.out.flush()
            os.fsync(self.out.fileno())

    def park(self) -> None:
        """Let go of the handle, for a process may hold few: the file is a part from here on."""
        self.sync()
        self._name_part()
        self.out.close()

    def publish(self, path: str) -> None:
        """Give the synced file its name; `FileExistsError` where the name is taken."""
        if self._part is None:
            try:
                _link_unnamed(self.out.fileno(), path)
            except FileExistsError:
                raise
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
            else:
                return
        part = self._name_part()
        try:
            os.link(part, path)
        except FileExistsError:
            raise
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            self._claim(part, path)

    def replace(self, path: str) -> None:
        """Give the synced file its name, at once and whoever had the name before."""
        os.replace(self._name_part(), path)
        self._part = None

    def discard(self) -> None:
        """Let go of everything but the published name."""
        with suppress(OSError):  # a full disk fails twice: closing must not hide the first error
            self.out.close()
        if self._part is not None:
            with suppress(OSError):
                os.unlink(self._part)
            self._part = None

    def has(self, path: str) -> bool:
        """Whether this file, and no other, has the name."""
        try:
            return _identity(os.lstat(path)) == self._identity
        except OSError:
            return False

    def equals(self, path: str) -> bool:
        """Whether another file has the name, with the very same content."""
        source = (
            os.open(self._part, os.O_RDONLY | os.O_CLOEXEC) if self.out.closed and self._part else self.out.fileno()
        )
        try:
            with open(path, "rb", 0) as other:
                if os.fstat(source).st_size != os.fstat(other.fileno()).st_size:
                    return False
                at = 0
                while piece := os.pread(source, _COPY, at):
                    if os.pread(other.fileno(), len(piece), at) != piece:
                        return False
                    at += len(piece)
                return True
        except OSError:
            return False
        finally:
            if self.out.closed:
                os.close(source)

    def withdraw(self, path: str) -> None:
        """Take the name back, unless somebody else's file has it."""
        if self.has(path):
            with suppress(OSError):
                os.unlink(path)

    def _claim(self, part: str, path: str) -> None:
        # Without hard links: claim the name, then replace the claim. A reader may meet an empty file in between.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
        try:
            os.replace(part, path)
        except BaseException:
            os.unlink(path)
            raise
        self._part = None

    def _name_part(self) -> str:
        """The file under the name of a part."""
        if self._part is not None:
            return self._part
        handle, part = self.out.fileno(), _part_name(self._folder)
        self._part = part  # before: an interrupt must not leave it behind
        try:
            _link_unnamed(handle, part)
        except OSError as error:
            self._part = None
            if error.errno not in _NO_LINKS:
                raise
            self._part = part = self._copy(handle)
        return part

    def _copy(self, source: int) -> str:
        # A file without a name that cannot get one: rare, but then what was written must not be lost.
        handle, part = _open_part(self._folder, 0o666)
        try:
            with open(handle, "wb", 0) as target:
                at = 0
                while piece := os.pread(source, _COPY, at):
                    at += target.write(piece) or 0
                os.fsync(handle)
                self._identity = _identity(os.fstat(handle))
        except BaseException:
            os.unlink(part)
            raise
        return part


def open_scratch(folder: str) -> int:
    """A handle to a new file for reading and writing that never has a name."""
    handle = _open_unnamed(folder, 0o600)
    if handle is None:
        handle, part = _open_part(folder, 0o600)
        os.unlink(part)
    return handle


def sync_folder(folder: str) -> None:
    """Make new names survive a loss of power, where the file system can."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(handle)


def _open_unnamed(folder: str, mode: int) -> int | None:
    if not _UNNAMED:
        return None
    try:
        handle = os.open(folder, os.O_RDWR | _UNNAMED | os.O_CLOEXEC, mode)
    except OSError as error:
        if error.errno in _NO_UNNAMED:
            return None
        raise
    if os.path.lexists(_of_handle(handle)):
        return handle
    os.close(handle)
    return None


def _open_part(folder: str, mode: int) -> tuple[int, str]:
    part = _part_name(folder)
    # Not by tempfile, which makes files for their owner only.
    return os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), part


def _part_name(folder: str) -> str:
    return os.path.join(folder, f".amudai-{os.urandom(8).hex()}.part")


def _link_unnamed(handle: int, path: str) -> None:
    # The folder handle means nothing to an absolute path, but with it the system follows the link in /proc.
    os.link(_of_handle(handle), path, src_dir_fd=handle, follow_symlinks=True)


def _of_handle(handle: int) -> str:
    return f"/proc/self/fd/{handle}"


def _identity(facts: os.stat_result) -> tuple[int, int]:
    return facts.st_dev, facts.st_ino
