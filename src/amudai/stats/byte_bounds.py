"""The least and the greatest of texts and bytes, cut to a length at which they are still bounds."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.format import AnyValue, RangeStats
from amudai.stats.extremes import widened
from amudai.types import BasicType, SchemaNode

__all__ = ["MOST_BYTES", "ByteBounds", "cut_down", "cut_up"]

# Longer bounds are cut: descriptors stay small, and a prefix tells as much.
MOST_BYTES: Final = 32
# Bytes of a value on average from which its first bytes are copied instead of comparing whole values.
_LONG: Final = 1024

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
        validity = None if bits is None else pa.py_buffer(bits)
        if offsets is None:
            values = pa.Array.from_buffers(pa.binary(self._fixed), count, [validity, pa.py_buffer(data)])
        else:
            kind = pa.large_binary() if offsets.dtype.itemsize == 8 else pa.binary()
            content = [validity, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(data)]
            values = pa.Array.from_buffers(kind, count, content)
        if len(data) > _LONG * count:
            import pyarrow.compute as pc  # takes long to import, and few need it

            # Arrow copies the least and the greatest several times. No byte behind the first that is cut off counts.
            values = pc.binary_slice(values, 0, MOST_BYTES + 1)
        self._low, self._high = widened(self._low, self._high, values)

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
