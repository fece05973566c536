"""What went wrong, and where?

All errors that the library raises, and its warnings. A message says what was expected and what was found. The place
(URL, byte range, field, stripe, block) is added on the way up by the layer that knows it: with `located`, or with
`locate` in code that runs very often.

Most classes also inherit from the Python class for the same problem, such as `FileNotFoundError`. Code that handles
one kind of error catches its class. No code parses messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from errno import EACCES, EEXIST, ENOENT
from types import TracebackType
from typing import Final
from urllib.parse import unquote

__all__ = [
    "AmudaiError",
    "Cancelled",
    "CorruptedData",
    "ExistingFile",
    "FilesInUseWarning",
    "InvalidArgument",
    "InvalidSchema",
    "LimitExceeded",
    "MissingColumn",
    "MissingFile",
    "NeedlessIndexWarning",
    "RefusedAccess",
    "ReplacedFile",
    "StorageError",
    "UnsupportedFeature",
    "located",
]

_ORDER: Final = ("url", "range", "stripe", "field", "buffer", "block")


class AmudaiError(Exception):
    """The root of every error of this library.

    Attributes
    ----------
    message
        What was expected and what was found.
    place
        Where: some of `url`, `range`, `stripe`, `field`, `buffer`, `block`.
    """

    def __init__(self, message: str, **place: object) -> None:
        super().__init__(message)
        self.message = message
        self.place: dict[str, object] = place

    def locate(self, **place: object) -> None:
        """Add the place. A value that an inner layer has set stays."""
        self.place = {**place, **self.place}

    def __str__(self) -> str:
        if not self.place:
            return self.message
        known = [name for name in _ORDER if name in self.place]
        others = [name for name in self.place if name not in _ORDER]
        return f"{self.message} ({', '.join(f'{name} {self.place[name]}' for name in known + others)})"


class Cancelled(AmudaiError):
    """A query that was stopped by `QueryResult.cancel`."""


class CorruptedData(AmudaiError):
    """Bytes that violate the format: damaged, truncated, or not an Amudai file."""


class UnsupportedFeature(AmudaiError, NotImplementedError):
    """A feature that this version or this store does not support. Also a `NotImplementedError`."""


class InvalidSchema(AmudaiError, ValueError):
    """A schema that the format does not allow, in a shard or from a caller. Also a `ValueError`."""


class InvalidArgument(AmudaiError, ValueError):
    """An argument that names something that does not exist, or that makes no sense. Also a `ValueError`.

    A missing column raises `MissingColumn`, which is also a `KeyError`.
    """


class MissingColumn(InvalidArgument, KeyError):
    """A column, or a member of a nested column, that does not exist. Also a `KeyError`.

    Parameters
    ----------
    near
        Names of columns that may have been meant. The message suggests them.
    """

    def __init__(self, message: str, *, near: Sequence[str] = (), **place: object) -> None:
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        super().__init__(f"{message}{hint}", **place)
        self.near = tuple(near)


class LimitExceeded(InvalidArgument):
    """More memory or work than `amudai.Limits` allows. Ask for less, or open the shard with other limits.

    It is also an `InvalidArgument`, because a request that is smaller, or limits that are wider, may succeed.
    """


class StorageError(AmudaiError, OSError):
    """A storage operation that failed, for example because too few bytes came back. Also an `OSError`.

    A missing file is also a `FileNotFoundError`, a file that should not exist yet a `FileExistsError`, and refused
    access a `PermissionError`. These three have an `errno`. `filename` is the path of a local file, or the URL.
    """

    # Computed on access: the layer that knows the URL adds it after the error was created.
    @property
    def filename(self) -> str | None:
        """The file, if it is known: the path of a local file, or the URL in another store."""
        place = self.place.get("file", self.place.get("url"))
        if place is None:
            return None
        url = str(place)
        return unquote(url.removeprefix("file://"), errors="surrogateescape") if url.startswith("file://") else url

    @property
    def strerror(self) -> str:  # type: ignore[override]
        """The message without the place."""
        return self.message


class MissingFile(StorageError, FileNotFoundError):
    """A file, or the folder of a new file, that does not exist. Also a `FileNotFoundError`."""

    errno = ENOENT


class ExistingFile(StorageError, FileExistsError):
    """A file that exists where a new one was to be created. Also a `FileExistsError`."""

    errno = EEXIST


class RefusedAccess(StorageError, PermissionError):
    """A file that may not be read or written. Also a `PermissionError`."""

    errno = EACCES


class ReplacedFile(StorageError):
    """A file that somebody else replaced: since it was opened for reading, or since a writer looked at it."""


class NeedlessIndexWarning(UserWarning):
    """A warning that an index which was built brings nothing for the values of its field."""


class FilesInUseWarning(UserWarning):
    """A warning that files were not removed, because another shard refers to them."""


class located:  # noqa: N801 - reads as a verb: with located(stripe=3): ...
    """Add the place to any `AmudaiError` that leaves the `with` block. A value that an inner layer has set stays.

    >>> try:
    ...     with located(url="file:///logs.amudai.shard"), located(stripe=3):
    ...         raise CorruptedData("value count: expected 10, found 12")
    ... except CorruptedData as error:
    ...     print(error)
    value count: expected 10, found 12 (url file:///logs.amudai.shard, stripe 3)
    """

    def __init__(self, **place: object) -> None:
        self._place = place

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None and isinstance(error, AmudaiError):
            error.locate(**self._place)
