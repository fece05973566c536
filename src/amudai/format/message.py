"""Is this payload the message it should be?"""

from __future__ import annotations

from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from amudai.errors import CorruptedData
from amudai.format.container import Bytes

__all__ = ["parse", "require"]

M = TypeVar("M", bound=Message)


def parse(kind: type[M], payload: Bytes) -> M:
    """`payload` as a message of `kind`; the one place where protobuf's own errors are met."""
    try:
        return kind.FromString(bytes(payload))
    except (DecodeError, ValueError, RecursionError) as error:
        # ValueError and RecursionError: protobuf's pure-Python implementation, for bad UTF-8 and deep nesting.
        found = f"{kind.DESCRIPTOR.name}: expected a protobuf message, found {len(payload)} other bytes"
        raise CorruptedData(found) from error


def require(message: Message, field: str) -> None:
    """Refuse a message that lacks the submessage `field`."""
    if not message.HasField(field):
        raise CorruptedData(f"{message.DESCRIPTOR.name}.{field}: expected it to be set, found nothing")
