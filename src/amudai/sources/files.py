"""Finding and opening input files."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from amudai.errors import AmudaiError, CorruptedData, InvalidArgument, MissingFile, RefusedAccess, StorageError

__all__ = ["Compression", "InputFile", "Path", "Paths", "find_files", "translated"]

Compression: Final = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}

# What log rotation appends: app.log.1, app.log-20240131, app.log.2024-01-31
_ROTATED: Final = re.compile(r"(\.log)[.\-_][\d\-]+$")


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read. `ending` is the end of its name, without what compression and log rotation append.

    Data from elsewhere, such as standard input, is in the file `stored` and is called `path` in errors.
    """

    path: str
    ending: str
    compression: str | None = None
    stored: str | None = None

    @classmethod
    def at(cls, path: str) -> InputFile:
        """The file at a path, by its name.

        >>> file = InputFile.at("/var/log/app.log.2.gz")
        >>> file.ending, file.compression
        ('.log', 'gzip')
        """
        name = os.path.basename(path).lower()
        stem, last = os.path.splitext(name)
        compression = Compression.get(last)
        if compression is None:
            stem = name
        return cls(path, os.path.splitext(_ROTATED.sub(r"\1", stem))[1], compression)

    @property
    def location(self) -> str:
        """The path of the file with the bytes."""
        return self.path if self.stored is None else self.stored

    def open(self) -> pa.NativeFile:
        """A new stream of the decompressed content."""
        return pa.input_stream(self.location, compression=self.compression)

    def modified(self) -> float:
        """The time of the last modification, in seconds from 1970."""
        return os.stat(self.location).st_mtime

    def size(self) -> int:
        """The size in bytes, before decompression."""
        return os.stat(self.location).st_size


Path = str | os.PathLike[str] | InputFile
Paths = Path | Sequence[Path]


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
    except pa.ArrowNotImplementedError as error:
        raise InvalidArgument(f"file: expected what can be read, found {error}", file=file.path) from error
    except (pa.ArrowException, OSError) as error:
        raise CorruptedData(f"file: expected sound data, found {error}", file=file.path) from error


def find_files(paths: Paths, endings: Iterable[str] | None) -> list[InputFile]:
    """The files of paths, folders and patterns, in the given order; the files of a folder or pattern by name.

    Parameters
    ----------
    endings
        Only files of a folder with these ends are read; None for all files. Hidden files (`.x`, `_x`) are skipped.
    """
    wanted = None if endings is None else frozenset(endings)
    each = [paths] if isinstance(paths, (str, os.PathLike, InputFile)) else list(paths)
    if not each:
        raise InvalidArgument("paths: expected at least one, found none")
    files: list[InputFile] = []
    for path in each:
        if isinstance(path, InputFile):
            files.append(path)
            continue
        if not isinstance(path, (str, os.PathLike)):
            raise InvalidArgument(f"paths: expected names of files, found {type(path).__name__}")
        files.extend(_expanded(os.fsdecode(path), wanted))
    return files


def _expanded(path: str, endings: frozenset[str] | None) -> list[InputFile]:
    if os.path.isdir(path):
        found = [file for file in map(InputFile.at, _below(path)) if endings is None or file.ending in endings]
        if not found:
            raise MissingFile("folder: expected files of a known format, found none", file=path)
        return found
    # The name of a file may look like a pattern.
    if os.path.exists(path):
        return [InputFile.at(path)]
    if not glob.has_magic(path):
        raise MissingFile("file: expected one that can be read, found none", file=path)
    matches = sorted(match for match in glob.glob(path, recursive=True) if not os.path.isdir(match))
    if not matches:
        raise MissingFile("pattern: expected some file to match, found none", file=path)
    return [InputFile.at(match) for match in matches]


def _below(folder: str) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        yield from (os.path.join(root, name) for name in sorted(names) if name[0] not in "._")
