"""The bytes of an input file: in a local file, in a store, or copied to a temporary file."""

from __future__ import annotations

import io
import os
from abc import ABC, abstractmethod
from contextlib import ExitStack
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import IO, Final, Protocol

import pyarrow as pa

from amudai.storage import Store, StoredFile, translated

__all__ = ["Content", "LocalContent", "MemoryContent", "Readable", "StoreContent", "Workspace", "stream_of"]

_PIECE: Final = 1 << 20
# Bytes of one request to a store.
_REQUEST: Final = 8 << 20


class Readable(Protocol):
    """Anything with `read`."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most `size`; none at the end."""


class Content(ABC):
    """The bytes of a file, which can be read as often as needed."""

    @abstractmethod
    def open(self) -> pa.NativeFile:
        """A new stream of the bytes."""

    @abstractmethod
    def open_seekable(self, *, mapped: bool = False) -> pa.NativeFile:
        """The bytes as a file that can be read at any place. `mapped`: mapped into memory, if that is possible."""

    @abstractmethod
    def size(self) -> int:
        """How many bytes there are."""

    @abstractmethod
    def modified(self) -> int | None:
        """The time of the last modification, in nanoseconds from 1970; None if nobody knows."""

    def identity(self) -> str | None:
        """The absolute path or URL that stays the same from run to run; None if there is none."""
        return None


@dataclass(frozen=True, slots=True)
class LocalContent(Content):
    """A local file. `lasting` is False for a temporary copy."""

    path: str
    lasting: bool = True

    def open(self) -> pa.NativeFile:
        """A new stream of the bytes."""
        return pa.OSFile(os.fsencode(self.path))

    def open_seekable(self, *, mapped: bool = False) -> pa.NativeFile:
        """The bytes as a file that can be read at any place."""
        path = os.fsencode(self.path)  # pyarrow would encode a path that is not UTF-8 in its own way
        return pa.memory_map(path) if mapped else pa.OSFile(path)

    def size(self) -> int:
        """How many bytes there are."""
        return os.stat(self.path).st_size

    def modified(self) -> int | None:
        """The time of the last modification."""
        return os.stat(self.path).st_mtime_ns

    def identity(self) -> str | None:
        """The absolute path; None for a temporary copy."""
        return os.path.abspath(self.path) if self.lasting else None


@dataclass(frozen=True, slots=True)
class MemoryContent(Content):
    """Bytes in memory."""

    data: bytes

    def open(self) -> pa.NativeFile:
        """A new stream of the bytes."""
        return pa.BufferReader(self.data)

    def open_seekable(self, *, mapped: bool = False) -> pa.NativeFile:  # noqa: ARG002
        """The bytes as a file that can be read at any place."""
        return pa.BufferReader(self.data)

    def size(self) -> int:
        """How many bytes there are."""
        return len(self.data)

    def modified(self) -> int | None:
        """Nobody knows."""
        return None


@dataclass(frozen=True, slots=True)
class StoreContent(Content):
    """A file in a store."""

    store: Store
    file: StoredFile
    url: str

    def open(self) -> pa.NativeFile:
        """A new stream of the bytes."""
        return stream_of(io.BufferedReader(_StoreFile(self.store, self.file), _REQUEST))

    def open_seekable(self, *, mapped: bool = False) -> pa.NativeFile:  # noqa: ARG002
        """The bytes as a file that can be read at any place."""
        return pa.PythonFile(_StoreFile(self.store, self.file), mode="r")

    def size(self) -> int:
        """How many bytes there are."""
        return self.file.size

    def modified(self) -> int | None:
        """The time of the last modification, if the store tells it."""
        return self.file.modified

    def identity(self) -> str | None:
        """The URL."""
        return self.url


class _StoreFile(io.RawIOBase):
    """A file of a store, as Python sees files."""

    def __init__(self, store: Store, file: StoredFile) -> None:
        self._store = store
        self._file = file
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._file.size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def read(self, size: int | None = -1, /) -> bytes:
        end = self._file.size if size is None or size < 0 else min(self._file.size, self._at + size)
        if end <= self._at:
            return b""
        found = bytes(self._store.read_range(self._file.url, self._at, end))
        self._at = end
        return found

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)


def stream_of(file: io.BufferedIOBase | io.RawIOBase | IO[bytes]) -> pa.NativeFile:
    """A Python file as a stream of Arrow's."""
    return pa.PythonFile(file, mode="r")


class Workspace:
    """A folder for temporary copies. It is made when the first copy is, and removed when `stack` is closed."""

    def __init__(self, folder: str | os.PathLike[str] | None, stack: ExitStack) -> None:
        self._parent = folder
        self._stack = stack
        self._folder: str | None = None
        self._count = 0

    def copy(self, stream: Readable) -> str:
        """The path of a copy of everything that `stream` has."""
        with translated():
            if self._folder is None:
                made = TemporaryDirectory(prefix=".amudai-", dir=self._parent, ignore_cleanup_errors=True)
                self._folder = self._stack.enter_context(made)
            self._count += 1
            path = os.path.join(self._folder, f"copy-{self._count}")
            out = open(path, "wb", buffering=0)  # noqa: SIM115 - closed below
        with out:
            while piece := stream.read(_PIECE):
                with translated():
                    _write(out, piece)
        return path


def _write(out: io.FileIO, piece: bytes) -> None:
    """Write all bytes: the system may take fewer at a time."""
    rest = memoryview(piece)
    while rest:
        rest = rest[out.write(rest) :]
