"""What went wrong, and where?

One hierarchy for everything the library refuses. A message says what was expected and what was found; the place (URL,
byte range, field, stripe, block) is added on the way up by the layer that knows it, through `located`, or `locate`
where the same line runs very often.

Most classes are also the Python class that people catch for the same trouble, such as `FileNotFoundError`. Code that
treats one kind of trouble in a special way catches its class; no code looks into messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from errno import EACCES, EEXIST, ENOENT
from types import TracebackType
from typing import Final
from urllib.parse import unquote

__all__ = [
    "AmudaiError",
    "CorruptedData",
    "ExistingFile",
    "InvalidArgument",
    "InvalidSchema",
    "MissingColumn",
    "MissingFile",
    "RefusedAccess",
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
        """Add the place; what an inner layer said wins."""
        self.place = {**place, **self.place}

    def __str__(self) -> str:
        if not self.place:
            return self.message
        known = [name for name in _ORDER if name in self.place]
        others = [name for name in self.place if name not in _ORDER]
        return f"{self.message} ({', '.join(f'{name} {self.place[name]}' for name in known + others)})"


class CorruptedData(AmudaiError):
    """Bytes that are not what the format says they must be: damaged, cut, or foreign."""


class UnsupportedFeature(AmudaiError, NotImplementedError):
    """Something that this version or this store cannot do. Also a `NotImplementedError`."""


class InvalidSchema(AmudaiError, ValueError):
    """A schema that cannot be: in a shard, or asked for by a caller. Also a `ValueError`."""


class InvalidArgument(AmudaiError, ValueError):
    """A call that asks for something that does not exist or makes no sense. Also a `ValueError`.

    A column that does not exist is a `KeyError` as well.
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


class StorageError(AmudaiError, OSError):
    """Storage that does not give what it should, for example too few bytes. Also an `OSError`.

    A missing file is also a `FileNotFoundError`, one that must not exist yet but does a `FileExistsError`, and refused
    access a `PermissionError`. These three have an `errno`; `filename` is the local path, or the URL elsewhere.
    """

    # Worked out when they are asked for: the layer that knows the URL adds it after the error was made.
    @property
    def filename(self) -> str | None:
        """The file, where it is known: its local path, or its URL in another store."""
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
    """A file where a new one was to be created. Also a `FileExistsError`."""

    errno = EEXIST


class RefusedAccess(StorageError, PermissionError):
    """A file that may not be read or written. Also a `PermissionError`."""

    errno = EACCES


class located:  # noqa: N801 - reads as a verb: with located(stripe=3): ...
    """Add the place to any error of ours that leaves the block; what an inner layer said wins.

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
        if isinstance(error, AmudaiError):
            error.locate(**self._place)
