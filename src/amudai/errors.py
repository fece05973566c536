"""What went wrong, and where?

One hierarchy for everything the library refuses. A message says what was expected and what was found; the place (URL,
byte range, field, stripe, block) is added on the way up by the layer that knows it, through `located`, or `locate`
where the same line runs very often.
"""

from __future__ import annotations

from types import TracebackType
from typing import Final

__all__ = [
    "AmudaiError",
    "CorruptedData",
    "InvalidArgument",
    "InvalidSchema",
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


class UnsupportedFeature(AmudaiError):
    """Sound bytes that use something this version cannot read."""


class InvalidSchema(AmudaiError):
    """A schema that cannot be: in a shard, or asked for by a caller."""


class InvalidArgument(AmudaiError, ValueError):
    """A call that asks for something that does not exist or makes no sense."""


class StorageError(AmudaiError):
    """Storage that does not give what it should: missing file, refused access, short read."""


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
