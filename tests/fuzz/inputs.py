"""Reading the bytes that a fuzzer makes up as numbers, choices and pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class FuzzInput:
    """Bytes from the front, and zeros once they are used up."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def piece(self, size: int) -> bytes:
        """The next bytes, at most `size` of them."""
        found = self._data[self._at : self._at + size]
        self._at += len(found)
        return found

    def number(self, size: int = 1) -> int:
        """The next `size` bytes as a number."""
        return int.from_bytes(self.piece(size), "little")

    def choice(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.number() % len(items)]

    def rest(self) -> bytes:
        """Everything that is left."""
        return self.piece(len(self._data))

    def __bool__(self) -> bool:
        """Whether anything is left."""
        return self._at < len(self._data)
