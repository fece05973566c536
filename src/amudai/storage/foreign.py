"""Translation of errors of the system and of other libraries into `StorageError`."""

from __future__ import annotations

import errno
import re
from types import TracebackType
from typing import Final

from amudai.errors import AmudaiError, ExistingFile, MissingFile, RefusedAccess, ReplacedFile, StorageError

__all__ = [
    "CHANGED",
    "EXISTS",
    "FOLDER",
    "FULL",
    "MISSING",
    "NO_FOLDER",
    "REFUSED",
    "REPLACED",
    "short_read",
    "translated",
    "translation",
    "without_secrets",
]

CHANGED: Final = "expected the file as it was when it was opened, found it changed: something wrote into it"
EXISTS: Final = "expected no file yet, found one: a sealed file is never overwritten"
FOLDER: Final = "expected a file, found a folder"
FULL: Final = "expected room for the file, found none left on the device"
MISSING: Final = "expected a file, found none"
NO_FOLDER: Final = "expected a folder to write into, found none"
REFUSED: Final = "expected access to the file, found it refused"
REPLACED: Final = "expected the file as it was before, found another: it was replaced"

# By class name, so that no optional package is imported only to recognise its errors.
_KNOWN: Final[dict[str, tuple[type[StorageError], str]]] = {
    "AlreadyExistsError": (ExistingFile, EXISTS),
    "FileExistsError": (ExistingFile, EXISTS),
    "FileNotFoundError": (MissingFile, MISSING),
    "IsADirectoryError": (StorageError, FOLDER),
    "NotADirectoryError": (MissingFile, MISSING),
    "PermissionDeniedError": (RefusedAccess, REFUSED),
    "PermissionError": (RefusedAccess, REFUSED),
    "PreconditionError": (ReplacedFile, REPLACED),
    "UnauthenticatedError": (RefusedAccess, REFUSED),
}

_NO_ROOM: Final = {errno.ENOSPC, errno.EDQUOT}

# A password before the host of a URL, and a query, which may be a signature.
_PASSWORD: Final = re.compile(r"(?<=://)[^/\s\"'@]*@")
_QUERY: Final = re.compile(r"(?<=[^\s?])\?[^\s\"'<>)]*=[^\s\"'<>)]*")


def short_read(start: int, end: int, found: int, **place: object) -> StorageError:
    """The error for a read that returned the wrong number of bytes."""
    return StorageError(f"short read: expected {end - start} bytes, found {found}", **place, range=f"{start}..{end}")


class translated:  # noqa: N801 - reads as a verb: with translated(): ...
    """Turn every error of storage inside the `with` block into a `StorageError`."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, AmudaiError):
            ours = translation(error)
            # A traceback prints the cause, too.
            raise ours from (error if without_secrets(str(error)) == str(error) else None)


def translation(error: Exception, **place: object) -> StorageError:
    """The `StorageError` that `translated` would raise, for hot paths in which a context manager is too slow."""
    for kind in type(error).__mro__:
        if kind.__name__ in _KNOWN:
            ours, message = _KNOWN[kind.__name__]
            return ours(message, **place)
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        return StorageError(FULL, **place)
    # The first line only: some libraries append a dump of their structures.
    said = without_secrets(str(error).strip().partition("\n")[0])
    return StorageError(f"expected storage to answer, found {type(error).__name__}: {said}", **place)


def without_secrets(text: str) -> str:
    """A message of another library without the passwords and queries of URLs in it.

    >>> without_secrets("GET https://me:pass@acme.blob/box/a?sv=2024&sig=abc%3D failed")
    'GET https://***@acme.blob/box/a?*** failed'
    """
    return _QUERY.sub("?***", _PASSWORD.sub("***@", text))
