"""Text that grows: a file to which others append lines, or a pipe."""

from __future__ import annotations

import os
import select
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Final

from amudai.sources.files import InputFile, translated

__all__ = ["GrowingFile", "GrowingStream", "GrowingText"]

_PIECE: Final = 4 << 20
# Seconds between two looks at a file. Nothing tells us portably that it grew.
_PAUSE: Final = 0.05


class GrowingText(ABC):
    """Text that others are still writing.

    Attributes
    ----------
    name
        What errors and the rows of logs show.
    ordinal
        How many files were read to their end: another file may take the name of the first one.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.ordinal = 0

    @abstractmethod
    def read(self, wait: float) -> bytes | None:
        """What has arrived since the last call, or nothing after `wait` seconds; None if nothing will arrive any more.

        If another file begins, nothing is returned once, and `ordinal` has grown.
        """

    @abstractmethod
    def close(self) -> None:
        """Stop reading."""


class GrowingFile(GrowingText):
    """A local file to which lines are appended. It may be moved away and begin anew, as logs do when they are rotated.

    Parameters
    ----------
    path
        A file that exists.
    waits
        Whether to wait for more at the end of the file. Otherwise the text ends there.
    """

    def __init__(self, path: str, *, waits: bool = True) -> None:
        super().__init__(path)
        self._path = path
        self._waits = waits
        self._handle = self._opened()
        self.offset = 0

    def part(self, start: int, end: int) -> bytes:
        """Some bytes of the file."""
        return os.pread(self._handle, end - start, start)

    def size(self) -> int:
        """How many bytes the file has now."""
        return os.fstat(self._handle).st_size

    def seek(self, offset: int) -> None:
        """Continue at a place in the file."""
        self.offset = os.lseek(self._handle, offset, os.SEEK_SET)

    def moved_to(self) -> Iterator[str]:
        """Files beside this one that it may have been before it was rotated, such as `app.log.1`. Newest first."""
        folder, name = os.path.split(os.path.abspath(self._path))
        stem, suffix = os.path.splitext(name)
        found = []
        with translated(InputFile.at(self._path)), os.scandir(folder) as entries:
            for entry in entries:
                is_named_so = entry.name.startswith(name) or (
                    entry.name.startswith(stem) and entry.name.endswith(suffix)
                )
                if is_named_so and entry.name != name and entry.is_file():
                    found.append((entry.stat().st_mtime_ns, entry.path))
        yield from (path for _, path in sorted(found, reverse=True))

    def begin_with(self, path: str) -> None:
        """Read another file first, to its end: what this one was before it was rotated."""
        handle = self._opened(path)
        os.close(self._handle)
        self._handle, self.offset = handle, 0

    def read(self, wait: float) -> bytes | None:
        """What has arrived since the last call."""
        deadline = time.monotonic() + wait
        while True:
            found = self._next()
            # What was written here before the other file began may have arrived after the first look.
            if not found and self._is_replaced() and not (found := self._next()):
                self._begin_anew()
                return b""
            if found:
                return found
            if not self._waits:
                return None
            left = deadline - time.monotonic()
            if left <= 0:
                return b""
            time.sleep(min(left, _PAUSE))

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)

    def _next(self) -> bytes:
        """What lies behind the offset."""
        with translated(InputFile.at(self._path)):
            found = os.read(self._handle, _PIECE)
        self.offset += len(found)
        return found

    def _is_replaced(self) -> bool:
        """Whether the file was cut off, or its writer has gone on to another file of the name."""
        own = os.fstat(self._handle)
        try:
            there = os.stat(self._path)
        except OSError:
            return False  # moved away, and no other file has its name yet
        if os.path.samestat(own, there):
            return there.st_size < self.offset
        # As long as the other file is empty, the writer may still write here: it keeps the file open for a while.
        return there.st_size > 0

    def _begin_anew(self) -> None:
        """Go on with the first byte of the file that has the name."""
        handle = self._opened()
        os.close(self._handle)
        self._handle, self.offset = handle, 0
        self.ordinal += 1

    def _opened(self, path: str | None = None) -> int:
        path = self._path if path is None else path
        with translated(InputFile.at(path)):
            return os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))


class GrowingStream(GrowingText):
    """A pipe or socket, by its file descriptor. It ends when its writer closes it."""

    def __init__(self, handle: int, name: str) -> None:
        super().__init__(name)
        self._handle = handle

    def read(self, wait: float) -> bytes | None:
        """What has arrived since the last call."""
        if not select.select([self._handle], [], [], wait)[0]:
            return b""
        return os.read(self._handle, _PIECE) or None

    def close(self) -> None:
        """The descriptor belongs to the caller."""
