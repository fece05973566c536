"""One input file: its name, its compression and its bytes."""

from __future__ import annotations

import lzma
import os
import re
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa

from amudai.errors import AmudaiError, CorruptedData, InvalidArgument, MissingFile, RefusedAccess, StorageError
from amudai.sources.compression import BY_ENDING, decompressed
from amudai.sources.content import Content, LocalContent

__all__ = ["InputFile", "shown", "translated"]

_NO_CONTENT: Final = LocalContent("")
# Errors of Python's own readers of archives and compressed files.
_UNSOUND: Final = (EOFError, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, zlib.error)
# What log rotation appends: app.log.1, app.log-20240131, app.log.2024-01-31
_ROTATED: Final = re.compile(r"(\.log)[.\-_][\d\-]+$")
# From 1970, in nanoseconds. Times of logs are put into the year of their file, and 64 bits of nanoseconds end in 2262.
_FARTHEST: Final = 250 * 365 * 86_400 * 1_000_000_000


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read.

    Attributes
    ----------
    path
        The name that errors and the rows of logs show.
    ending
        The end of the name, without what compression and log rotation append.
    first_line
        The number of the first line of the content. It is more than 1 if the content continues a file.
    """

    path: str
    ending: str
    compression: str | None = None
    content: Content = _NO_CONTENT
    first_line: int = 1

    @classmethod
    def at(cls, path: str) -> InputFile:
        """The local file at a path, by its name.

        >>> file = InputFile.at("/var/log/app.log.2.gz")
        >>> file.ending, file.compression
        ('.log', 'gzip')
        """
        return cls.named(path, LocalContent(path))

    @classmethod
    def named(cls, path: str, content: Content) -> InputFile:
        """A file whose bytes are in `content`. Its ending and its compression follow from its name."""
        name = path[path.rfind("/") + 1 :].lower()
        stem, last = os.path.splitext(name)
        compression = BY_ENDING.get(last)
        if compression is None:
            stem = name
        return cls(shown(path), os.path.splitext(_ROTATED.sub(r"\1", stem))[1], compression, content)

    def recognised(self, ending: str, compression: str | None) -> InputFile:
        """The same file, with the ending and compression that its content suggests."""
        return replace(self, ending=ending, compression=compression)

    def open(self) -> pa.NativeFile:
        """A new stream of the decompressed content."""
        return decompressed(self.content.open(), self.compression)

    def modified(self) -> float:
        """The time of the last modification, in seconds from 1970; the time now if nobody knows, or if it is absurd."""
        found = self.content.modified()
        return time.time() if found is None or abs(found) > _FARTHEST else found / 1_000_000_000

    def size(self) -> int:
        """The size in bytes, before decompression."""
        return self.content.size()


def shown(path: str) -> str:
    """A path as text. Bytes of its name that are not UTF-8 are shown as escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@contextmanager
def translated(file: InputFile) -> Iterator[None]:
    """Translate errors of Arrow and of the system into errors of this library, with the file's name."""
    try:
        yield
    except AmudaiError:
        raise
    except (FileNotFoundError, NotADirectoryError, PermissionError, IsADirectoryError) as error:
        message = f"file: expected one that can be read, found {error.strerror}"
        if isinstance(error, IsADirectoryError):
            raise StorageError(message, file=file.path) from error
        kind = RefusedAccess if isinstance(error, PermissionError) else MissingFile
        raise kind(message, file=file.path) from error
    except NotImplementedError as error:  # pa.ArrowNotImplementedError is one as well
        raise InvalidArgument(f"file: expected what can be read, found {error}", file=file.path) from error
    except UnicodeDecodeError as error:
        raise CorruptedData("file: expected names in UTF-8, found other bytes", file=file.path) from error
    except (pa.ArrowException, OSError, *_UNSOUND) as error:
        raise CorruptedData(f"file: expected sound data, found {error}", file=file.path) from error
