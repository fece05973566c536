"""The least and the greatest of texts and bytes, cut to a length at which they are still bounds."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.format import AnyValue, RangeStats
from amudai.types import BasicType, SchemaNode

__all__ = ["MOST_BYTES", "ByteBounds", "cut_down", "cut_up"]

# Longer bounds are cut: descriptors stay small, and a prefix tells as much.
MOST_BYTES: Final = 32

_LAST: Final = 0x10FFFF
_SURROGATES: Final = range(0xD800, 0xE000)


class ByteBounds:
    """Collects the bounds of strings, binaries and GUIDs, in the order of their bytes."""

    def __init__(self, node: SchemaNode) -> None:
        self._text = node.basic_type is BasicType.STRING
        self._fixed = None if node.basic_type in (BasicType.STRING, BasicType.BINARY) else node.fixed_size
        self._low: bytes | None = None
        self._high: bytes | None = None

    def add(
        self,
        offsets: npt.NDArray[Any] | None,
        data: npt.NDArray[np.uint8],
        count: int,
        bits: npt.NDArray[np.uint8] | None,
    ) -> None:
        """Add values. `bits` says which are not null."""
        if self._fixed == 0:
            self._low = self._high = b""
            return
        found = _kernels.byte_bounds(offsets, data, self._fixed, bits, count)
        if found is None:
            return
        low, high = (self._beginning(offsets, data, slot) for slot in found)
        self._low = low if self._low is None else min(self._low, low)
        self._high = high if self._high is None else max(self._high, high)

    def _beginning(self, offsets: npt.NDArray[Any] | None, data: npt.NDArray[np.uint8], slot: int) -> bytes:
        """A value. No byte behind the first that is cut off counts."""
        size = self._fixed or 0
        start, end = (slot * size, (slot + 1) * size) if offsets is None else map(int, offsets[slot : slot + 2])
        return data[start : min(end, start + MOST_BYTES + 1)].tobytes()

    def finish(self) -> RangeStats:
        """The bounds; without any if there was no value."""
        if self._low is None or self._high is None:
            return RangeStats(min=None, max=None)
        low, high = cut_down(self._low, text=self._text), cut_up(self._high, text=self._text)
        return RangeStats(
            min=self._value(low),
            min_inclusive=low == self._low,
            max=None if high is None else self._value(high),
            max_inclusive=high == self._high,
        )

    def _value(self, bound: bytes) -> AnyValue:
        return AnyValue("string", bound.decode()) if self._text else AnyValue("bytes", bound)


def cut_down(value: bytes, *, text: bool, most: int = MOST_BYTES) -> bytes:
    """The first `most` bytes of a value, which are not greater than the value. Text is not cut inside a character.

    >>> cut_down("größer".encode(), text=True, most=3).decode()
    'gr'
    """
    if len(value) <= most:
        return value
    return value[:most].decode("utf-8", "ignore").encode() if text else value[:most]


def cut_up(value: bytes, *, text: bool, most: int = MOST_BYTES) -> bytes | None:
    r"""At most `most` bytes that are not less than a value; None if there are none.

    The end of what is cut grows by one, because the first bytes of a value are less than the value. Text stays text.

    >>> cut_up(b"largest", text=True, most=3)
    b'las'
    >>> cut_up(bytes([7, 255, 255, 0]), text=False, most=3)
    b'\x08'
    """
    if len(value) <= most:
        return value
    head = cut_down(value, text=text, most=most)
    if not text:
        while head and head[-1] == 0xFF:
            head = head[:-1]
        return head[:-1] + bytes([head[-1] + 1]) if head else None
    points = [ord(char) for char in head.decode()]
    while points:
        last = points.pop() + 1
        if last in _SURROGATES:
            last = _SURROGATES.stop
        if last <= _LAST:
            grown = "".join(map(chr, [*points, last])).encode()
            if len(grown) <= most:
                return grown
    return None
