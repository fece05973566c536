"""Members of zip and tar archives, read as files without unpacking the archive.

A member's name is only ever shown. It never becomes the path of a file, so a hostile name cannot write anywhere.
"""

from __future__ import annotations

import calendar
import io
import math
import tarfile
import threading
import zipfile
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

import pyarrow as pa

from amudai.errors import CorruptedData
from amudai.sources.compression import BY_ENDING, decompressed
from amudai.sources.content import Content, LocalContent, Workspace, stream_of

__all__ = ["Archives", "is_archive"]

# Kind and compression of an archive, by the end of its name.
_ENDINGS: Final[dict[str, tuple[str, str | None]]] = {
    ".zip": ("zip", None),
    ".tar": ("tar", None),
    ".tgz": ("tar", "gzip"),
    ".tbz2": ("tar", "bz2"),
    ".txz": ("tar", "xz"),
    ".tzst": ("tar", "zstd"),
    **{f".tar{ending}": ("tar", compression) for ending, compression in BY_ENDING.items()},
}
# Decompressed bytes of a tar archive that are kept, so that the beginning of a member can be read again.
_WINDOW: Final = 16 << 20
_PIECE: Final = 1 << 20
# An archive with a member has more bytes than this.
_LEAST_ZIP: Final = 64
# The longest name of a member. tarfile reads a name into memory as a whole.
_LONGEST_NAME: Final = 1 << 20


def is_archive(name: str) -> bool:
    """Whether a file is an archive, by its name.

    >>> [is_archive(name) for name in ("logs.zip", "logs.tar.gz", "logs.gz")]
    [True, True, False]
    """
    return _kind(name) is not None


def _kind(name: str) -> tuple[str, str | None] | None:
    lower = name.lower()
    return next((kind for ending, kind in _ENDINGS.items() if lower.endswith(ending)), None)


class Archives:
    """Archives that stay open while their members are read, until `stack` is closed."""

    def __init__(self, workspace: Workspace, stack: ExitStack) -> None:
        self._workspace = workspace
        self._stack = stack

    def members(self, name: str, content: Content) -> Iterator[tuple[str, Content | str]]:
        """The files of an archive in its order: the name and content of each, or why it cannot be read.

        Of several members with the same name, the last one counts, as if the archive were unpacked.
        """
        kind, compression = _kind(name) or ("zip", None)
        found = self._zip(content) if kind == "zip" else self._tar(content, compression)
        yield from {name.removeprefix("./"): member for name, member in found}.items()

    def _zip(self, content: Content) -> Iterator[tuple[str, Content | str]]:
        file = self._stack.enter_context(content.open_seekable())
        # zipfile looks for records before the end, and Arrow's files know no place before their beginning.
        beginning = io.BytesIO(file.read()) if content.size() < _LEAST_ZIP else file
        archive = self._stack.enter_context(zipfile.ZipFile(beginning))
        for info in archive.infolist():
            if info.is_dir():
                continue
            if info.flag_bits & 1:
                yield info.filename, "it is encrypted"
            else:
                yield info.filename, ZipContent(content, archive, info, self._workspace)

    def _tar(self, content: Content, compression: str | None) -> Iterator[tuple[str, Content | str]]:
        if compression is None:
            plain: _RandomAccess = _Seekable(self._stack.enter_context(content.open_seekable()))
        else:
            plain = self._stack.enter_context(_Window(content, compression))
        with tarfile.open(fileobj=_At(plain, 0), mode="r|", tarinfo=_TarInfo) as archive:
            for info in archive:
                if info.issparse():
                    yield info.name, "it is a sparse file"
                elif info.isreg():
                    yield info.name, TarContent(content, plain, info, self._workspace)
                elif not info.isdir():
                    yield info.name, "it is a link" if info.issym() or info.islnk() else "it is no file"


class _TarInfo(tarfile.TarInfo):
    """Refuses headers with names so long that they can only be an attack on memory."""

    # The place where tarfile lets a subclass step in before it reads what belongs to a header. Later versions of Python
    # do not call `frombuf`.
    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.size > _LONGEST_NAME and not (self.isreg() or self.isdir()):
            raise CorruptedData(f"archive: expected names of at most {_LONGEST_NAME} bytes, found one of {self.size}")
        found: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]
        return found


class _RandomAccess:
    """Bytes that can be read at any place."""

    def read_at(self, start: int, size: int) -> bytes:
        """At most `size` bytes from `start` on; none at the end."""
        raise NotImplementedError


class _Seekable(_RandomAccess):
    def __init__(self, file: pa.NativeFile) -> None:
        self._file = file
        self._lock = threading.Lock()

    def read_at(self, start: int, size: int) -> bytes:
        with self._lock:
            self._file.seek(start)
            found: bytes = self._file.read(size)
            return found


class _Window(_RandomAccess):
    """A compressed file, decompressed from the beginning. Going back further than a window starts again."""

    def __init__(self, content: Content, compression: str) -> None:
        self._content = content
        self._compression = compression
        self._lock = threading.Lock()
        self._stream: pa.NativeFile | None = None
        self._pieces: deque[bytes] = deque()
        self._start = self._end = 0  # of what the pieces hold

    def __enter__(self) -> _Window:
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def read_at(self, start: int, size: int) -> bytes:
        with self._lock:
            if self._stream is None or start < self._start:
                self._restart()
            while self._end <= start:
                if not self._advance():
                    return b""
            at = self._start
            for piece in self._pieces:
                if start < at + len(piece):
                    return piece[start - at : start - at + size]
                at += len(piece)
            return b""

    def _restart(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream = decompressed(self._content.open(), self._compression)
        self._pieces.clear()
        self._start = self._end = 0

    def _advance(self) -> bool:
        assert self._stream is not None
        piece: bytes = self._stream.read(_PIECE)
        if not piece:
            return False
        self._pieces.append(piece)
        self._end += len(piece)
        while self._end - self._start - len(self._pieces[0]) >= _WINDOW:
            self._start += len(self._pieces.popleft())
        return True


class _At(io.RawIOBase):
    """Some bytes of an archive as a Python file: up to `size` bytes from `start`, or all if `size` is None."""

    def __init__(self, source: _RandomAccess, start: int, size: int | None = None) -> None:
        self._source = source
        self._at = start
        self._end = None if size is None else start + size

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        parts: list[bytes] = []
        left = _PIECE if size is None or size < 0 else size
        while left:
            wanted = left if self._end is None else min(left, self._end - self._at)
            piece = self._source.read_at(self._at, wanted) if wanted else b""
            if not piece:
                if self._end is not None and self._at < self._end:
                    raise EOFError(f"an archive that ends {self._end - self._at} bytes too early")
                break
            parts.append(piece)
            self._at += len(piece)
            left -= len(piece)
        return b"".join(parts)

    def readall(self) -> bytes:
        parts = []
        while piece := self.read(_PIECE):
            parts.append(piece)
        return b"".join(parts)


class _Member(Content):
    """A member of an archive. For a reader that must seek, it is copied to a temporary file once."""

    def __init__(self, archive: Content, name: str, size: int, modified: int | None, workspace: Workspace) -> None:
        self._archive = archive
        self._name = name
        self._size = size
        self._modified = modified
        self._workspace = workspace
        self._copy: LocalContent | None = None

    def open_seekable(self, *, mapped: bool = False) -> pa.NativeFile:
        """A copy of the bytes, which can be read at any place."""
        if self._copy is None:
            with self.open() as stream:
                self._copy = LocalContent(self._workspace.copy(stream), lasting=False)
        return self._copy.open_seekable(mapped=mapped)

    def size(self) -> int:
        """How many bytes there are, without the compression of the archive."""
        return self._size

    def modified(self) -> int | None:
        """The time of the last modification, as the archive has it; None if it has none."""
        return self._modified

    def identity(self) -> str | None:
        """The name of the archive and that of the member."""
        archive = self._archive.identity()
        return None if archive is None else f"{archive}/{self._name}"


class ZipContent(_Member):
    """A member of a zip archive."""

    def __init__(self, content: Content, archive: zipfile.ZipFile, info: zipfile.ZipInfo, workspace: Workspace) -> None:
        super().__init__(content, info.filename, info.file_size, _zip_time(info), workspace)
        self._zip = archive
        self._info = info

    def open(self) -> pa.NativeFile:
        """A new stream of the bytes."""
        try:
            return stream_of(self._zip.open(self._info))
        except RuntimeError as error:  # zipfile's error for a password; NotImplementedError is one as well
            if isinstance(error, NotImplementedError):
                raise
            raise CorruptedData(f"archive: expected a member that can be read, found {error}") from error


class TarContent(_Member):
    """A member of a tar archive."""

    def __init__(self, content: Content, archive: _RandomAccess, info: tarfile.TarInfo, workspace: Workspace) -> None:
        super().__init__(content, info.name, info.size, _tar_time(info), workspace)
        self._tar = archive
        self._start = info.offset_data

    def open(self) -> pa.NativeFile:
        """A new stream of the bytes."""
        return stream_of(_At(self._tar, self._start, self._size))


def _zip_time(info: zipfile.ZipInfo) -> int | None:
    try:
        return calendar.timegm((*info.date_time, 0, 0, 0)) * 1_000_000_000
    except ValueError:
        return None  # programs that know no time write zeros, and there is no month 0


def _tar_time(info: tarfile.TarInfo) -> int | None:
    return int(info.mtime * 1_000_000_000) if math.isfinite(info.mtime) else None
