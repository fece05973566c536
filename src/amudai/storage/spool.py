"""Scratch space for encoded data whose place in the file is not known yet.

A writer knows the place of a buffer only when everything before it is complete. Until then the buffer is kept here: in
memory up to a limit, and then in a file without a name, so that a killed process leaves nothing behind.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from io import FileIO
from threading import Lock
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from amudai.errors import InvalidArgument, StorageError, located
from amudai.storage.foreign import translated
from amudai.storage.unpublished import open_scratch

__all__ = ["ByteSink", "Data", "Spool", "SpoolRange", "view_of"]

Data: TypeAlias = bytes | bytearray | memoryview | NDArray[Any]
SpoolRange: TypeAlias = tuple[int, int]

_CHUNK: Final = 4 * 1024 * 1024


class ByteSink(Protocol):
    """An object that bytes can be written to."""

    def write(self, data: bytes, /) -> Any:
        """Append `data`."""
        ...


class Spool:
    """Scratch space that only grows: `append` returns where the data begins, `copy_to` copies ranges to a file.

    Appending is safe from several threads.

    Parameters
    ----------
    folder
        The folder of the scratch file, if one is needed. None stands for the system's folder for temporary files.
    limit
        Bytes to keep in memory. The first data that does not fit, and everything after it, goes to the file.

    Examples
    --------
    >>> from io import BytesIO
    >>> out = BytesIO()
    >>> with Spool(None, limit=1 << 20) as spool:
    ...     first, second = spool.append(b"later"), spool.append(b"sooner ")
    ...     spool.copy_to(out, [(second, second + 7), (first, first + 5)])
    >>> out.getvalue()
    b'sooner later'
    """

    def __init__(self, folder: str | None, limit: int) -> None:
        self._folder = tempfile.gettempdir() if folder is None else folder
        self._limit = limit
        self._lock = Lock()
        self._closed = False
        self._size = 0
        # Bytes before `_border` are in memory, the others in the file. None: everything is in memory.
        self._border: int | None = None
        self._starts: list[int] = []
        self._pieces: list[bytes] = []
        self._file: FileIO | None = None
        self._mapped: mmap.mmap | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def size(self) -> int:
        """Bytes appended so far."""
        return self._size

    @property
    def size_in_memory(self) -> int:
        """Appended bytes that are kept in memory."""
        return self._size if self._border is None else self._border

    def append(self, data: Data) -> int:
        """Append `data`; return where it begins."""
        piece = view_of(data)
        with self._lock:
            self._check_open()
            offset = self._size
            if self._border is None and offset + len(piece) > self._limit:
                self._open_file()
                self._border = offset
            self._size += len(piece)
            if self._border is None:
                if len(piece):
                    self._starts.append(offset)
                    self._pieces.append(data if type(data) is bytes else bytes(piece))
                return offset
            border = self._border
        self._write(piece, offset - border)
        return offset

    def pieces(self, ranges: Iterable[SpoolRange]) -> Iterator[bytes]:
        """The bytes of half-open ranges, in chunks of at most 4 MiB. Adjacent ranges are joined."""
        for start, end in self._joined(ranges):
            border = self.size_in_memory
            if end <= border and end - start <= _CHUNK:
                # Most ranges lie in one piece.
                self._check_open()
                at = bisect_right(self._starts, start) - 1
                begin, piece = self._starts[at], self._pieces[at]
                if end - begin <= len(piece):
                    yield piece[start - begin : end - begin]
                    continue
            yield from self._from_memory(start, min(end, border))
            for at in range(max(start, border), end, _CHUNK):
                yield self._read(at - border, min(_CHUNK, end - at))

    def view(self, start: int, end: int) -> memoryview:
        """The bytes of one `append`, without a copy. The file is mapped if they are in the file."""
        with self._lock:
            self._check_open()
            if start == end:
                return _NOTHING
            border = self.size_in_memory
            if end <= border:
                at = bisect_right(self._starts, start) - 1
                begin = self._starts[at]
                return memoryview(self._pieces[at])[start - begin : end - begin]
            if start < border or end > self._size:
                raise InvalidArgument(f"range: expected one that was appended at once, found {start}..{end}")
            if self._mapped is None or len(self._mapped) < end - border:
                with located(folder=self._folder), translated():
                    self._mapped = mmap.mmap(self._handle(), self._size - border, access=mmap.ACCESS_READ)
            return memoryview(self._mapped)[start - border : end - border]

    def copy_to(self, out: ByteSink, ranges: Iterable[SpoolRange]) -> None:
        """Write the bytes of half-open ranges to `out`, one after the other."""
        for piece in self.pieces(ranges):
            out.write(piece)

    def close(self) -> None:
        """Free the memory and the file."""
        with self._lock:
            self._closed = True
            self._starts.clear()
            self._pieces.clear()
            self._mapped = None  # views keep their mapping alive
            if self._file is not None:
                self._file.close()

    def _from_memory(self, start: int, end: int) -> Iterator[bytes]:
        at = bisect_right(self._starts, start) - 1
        while start < end:
            self._check_open()
            begin, piece = self._starts[at], self._pieces[at]
            stop = min(end, begin + len(piece))
            for cut in range(start, stop, _CHUNK):
                yield piece[cut - begin : min(cut + _CHUNK, stop) - begin]  # a slice of all bytes is not a copy
            start, at = stop, at + 1

    def _open_file(self) -> None:
        with located(folder=self._folder), translated():
            self._file = FileIO(open_scratch(self._folder), "r+")

    def _write(self, piece: memoryview, at: int) -> None:
        with located(folder=self._folder), translated():
            while len(piece):
                written = os.pwrite(self._handle(), piece, at)
                piece, at = piece[written:], at + written

    def _read(self, at: int, size: int) -> bytes:
        found: list[bytes] = []
        with located(folder=self._folder), translated():
            while size:
                piece = os.pread(self._handle(), size, at)
                if not piece:
                    raise StorageError(f"scratch file: expected {size} more bytes at {at}, found the end of the file")
                found.append(piece)
                size, at = size - len(piece), at + len(piece)
        return found[0] if len(found) == 1 else b"".join(found)

    def _joined(self, ranges: Iterable[SpoolRange]) -> Iterator[SpoolRange]:
        """The same ranges, with adjacent ranges joined and without empty ones."""
        start = end = 0
        for begin, stop in ranges:
            if not 0 <= begin <= stop <= self._size:
                raise InvalidArgument(f"range: expected start <= end <= {self._size}, found {begin}..{stop}")
            if start < end == begin:
                end = stop
            elif begin < stop:
                if start < end:
                    yield start, end
                start, end = begin, stop
        if start < end:
            yield start, end

    def _handle(self) -> int:
        self._check_open()
        return -1 if self._file is None else self._file.fileno()

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidArgument("spool: expected an open spool, found a closed one")


def view_of(data: Data) -> memoryview:
    """The bytes of `data`, which must be contiguous."""
    view = data.data if isinstance(data, np.ndarray) else memoryview(data)
    return view.cast("B") if view.nbytes else _NOTHING  # cast rejects some empty views


_NOTHING: Final = memoryview(b"")
