"""Files that are written before they get their name.

If the system allows it, the file has no name at all: a process that is killed leaves nothing behind. Otherwise its name
is `.amudai-*.part`, in the same folder. A writer that is killed leaves it there. A running writer holds a lock on it as
long as it has the file open; `remove_abandoned` removes only part files without a lock. A writer that is interrupted
may not get to its end: a part file is removed when nobody has its object any more, or when Python ends.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import Any, Final
from weakref import finalize

__all__ = ["UnpublishedFile", "is_part", "open_scratch", "remove_abandoned", "sync_folder"]

_UNNAMED: Final[int] = getattr(os, "O_TMPFILE", 0)
_NO_UNNAMED: Final = {errno.EOPNOTSUPP, errno.ENOTSUP, errno.EISDIR, errno.EINVAL}
_NO_LINKS: Final = {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV, errno.ENOENT}
_NO_FOLDER_SYNC: Final = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF}
_PART_BEGIN: Final = ".amudai-"
_PART_END: Final = ".part"
_BUFFER: Final = 64 * 1024
_COPY: Final = 4 * 1024 * 1024


class UnpublishedFile:
    """A new file in `folder` that nobody sees until `publish` or `replace` gives it a name.

    It gets the permissions of any new file. Failures of the system are raised as `OSError`.
    """

    __slots__ = ("__weakref__", "_folder", "_identity", "_part", "_removal", "out")

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._part: str | None = None
        self._removal: finalize[Any, UnpublishedFile] | None = None
        handle = _open_unnamed(folder, 0o666)
        if handle is None:
            handle = _create(self._new_part(), 0o666)
        self.out = open(handle, "wb", _BUFFER)  # noqa: SIM115 - kept open, and closed by `discard`
        try:
            self._identity = _identity(os.fstat(handle))
            _lock(handle)
        except BaseException:
            self.discard()
            raise

    def sync(self) -> None:
        """Flush everything written to the disk."""
        if not self.out.closed:
            self.out.flush()
            os.fsync(self.out.fileno())

    def park(self) -> None:
        """Close the handle, because a process may have few of them. From now on the file is a part file."""
        self.sync()
        self._name_part()
        self.out.close()

    def publish(self, path: str) -> None:
        """Give the synced file its name; `FileExistsError` if the name is taken."""
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
        """Give the synced file its name, atomically. A file that had the name before is replaced."""
        os.replace(self._name_part(), path)
        self._forget_part()

    def discard(self) -> None:
        """Close the file, and remove it unless it was published."""
        with suppress(OSError):  # closing fails again on a full disk, and must not hide the first error
            self.out.close()
        if self._part is not None:
            with suppress(OSError):
                os.unlink(self._part)
            self._forget_part()

    def has(self, path: str) -> bool:
        """Whether the file at `path` is this one."""
        try:
            return _identity(os.lstat(path)) == self._identity
        except OSError:
            return False

    def equals(self, path: str) -> bool:
        """Whether a file exists at `path` that has the same content."""
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
        """Remove the file at `path` if it is this one."""
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
        self._forget_part()

    def _new_part(self) -> str:
        """A name for a part file. The file goes with this object, from before it is there: Ctrl-C comes at any time."""
        part = _part_name(self._folder)
        self._removal = finalize(self, _remove_part, part, os.getpid())
        self._part = part
        return part

    def _forget_part(self) -> None:
        """The part file has another name now, or is gone."""
        self._part = None
        if self._removal is not None:
            self._removal.detach()

    def _name_part(self) -> str:
        """Give the file the name of a part file, and return it."""
        if self._part is not None:
            return self._part
        handle, part = self.out.fileno(), self._new_part()
        try:
            _link_unnamed(handle, part)
        except OSError as error:
            self._forget_part()
            if error.errno not in _NO_LINKS:
                raise
            part = self._copy(handle)
        return part

    def _copy(self, source: int) -> str:
        # Rarely, an unnamed file cannot be linked to a name. Its content must not be lost.
        part = self._new_part()
        handle = _create(part, 0o666)
        try:
            with open(handle, "wb", 0) as target:
                at = 0
                while piece := os.pread(source, _COPY, at):
                    at += target.write(piece) or 0
                os.fsync(handle)
                self._identity = _identity(os.fstat(handle))
        except BaseException:
            os.unlink(part)
            self._forget_part()
            raise
        return part


def is_part(name: str) -> bool:
    """Whether a file name is that of a part file."""
    return name.startswith(_PART_BEGIN) and name.endswith(_PART_END)


def remove_abandoned(part: str) -> bool:
    """Remove a part file unless its writer has it open; return whether it was removed."""
    with suppress(OSError):
        handle = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if _lock(handle):
                os.unlink(part)
                return True
        finally:
            os.close(handle)
    return False


def _lock(handle: int) -> bool:
    """Lock an open file until it is closed; False if somebody else has locked it. Not every system has locks."""
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: the age of a part file must tell
        return True
    return True


def open_scratch(folder: str) -> int:
    """A handle to a new file without a name, for reading and writing."""
    handle = _open_unnamed(folder, 0o600)
    if handle is None:
        part = _part_name(folder)
        try:
            handle = _create(part, 0o600)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(part)
    return handle


def sync_folder(folder: str) -> None:
    """Make new names survive a loss of power, if the file system can do that."""
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


def _create(part: str, mode: int) -> int:
    # Not with tempfile, whose files are readable by their owner only.
    return os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)


def _remove_part(part: str, process: int) -> None:
    """Remove the part file of an abandoned object, unless it belongs to the process from which this one was forked."""
    if os.getpid() == process:
        with suppress(OSError):
            os.unlink(part)


def _part_name(folder: str) -> str:
    return os.path.join(folder, f"{_PART_BEGIN}{os.urandom(8).hex()}{_PART_END}")


def _link_unnamed(handle: int, path: str) -> None:
    # An absolute path needs no folder handle, but only with one does the system follow the link in /proc.
    os.link(_of_handle(handle), path, src_dir_fd=handle, follow_symlinks=True)


def _of_handle(handle: int) -> str:
    return f"/proc/self/fd/{handle}"


def _identity(facts: os.stat_result) -> tuple[int, int]:
    return facts.st_dev, facts.st_ino
