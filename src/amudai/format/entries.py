"""Counting the messages inside of a message, before it is decoded.

A message takes two bytes in a file if it is empty, and some hundred bytes in memory.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from google.protobuf.descriptor import Descriptor

from amudai.errors import LimitExceeded
from amudai.format.container import Bytes
from amudai.format.wire import amudai_pb2 as wire

__all__ = ["require_few_entries"]

# Shorter messages cannot hold enough entries to matter.
_SHORT: Final = 64 * 1024
# Entries of this size and more are not worth counting.
_ENTRY: Final = 16

_VARINT, _FIXED64, _SIZED, _FIXED32 = 0, 1, 2, 5
_FIXED: Final = {_FIXED64: 8, _FIXED32: 4}


def require_few_entries(what: str, payload: Bytes, most: int) -> None:
    """Raise LimitExceeded if a message of this name has more than `most` messages inside, at any depth.

    One more is allowed for every 16 bytes. Bytes that are no message are left to the decoder to refuse.
    """
    if len(payload) <= _SHORT:
        return
    kind = wire.DESCRIPTOR.message_types_by_name.get(what)
    if kind is None:
        return
    allowed = most + len(payload) // _ENTRY
    waiting = [(kind, 0, len(payload))]
    found = 0
    data = bytes(payload)
    while waiting:
        kind, at, end = waiting.pop()
        inner = _messages(kind)
        while at < end and inner:
            tag, at = _varint(data, at, end)
            number, wire_type = tag >> 3, tag & 7
            if wire_type == _VARINT:
                _, at = _varint(data, at, end)
            elif wire_type == _SIZED:
                size, at = _varint(data, at, end)
                below = inner.get(number)
                if below is not None:
                    found += 1
                    if found > allowed:
                        message = f"entries: expected at most {allowed} messages in a {what}, found more"
                        raise LimitExceeded(message)
                    if size:
                        waiting.append((below, at, min(at + size, end)))
                at += size
            elif wire_type in _FIXED:
                at += _FIXED[wire_type]
            else:
                break  # a group, or no message at all


@cache
def _messages(kind: Descriptor) -> dict[int, Descriptor]:
    """The fields of a message that are messages themselves, by number."""
    found = {number: field.message_type for number, field in kind.fields_by_number.items()}
    return {number: inner for number, inner in found.items() if inner is not None}


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A number, and where it ends. A number that is cut ends at `end`."""
    value = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80 or shift > 63:
            return value, at
        shift += 7
    return value, end
