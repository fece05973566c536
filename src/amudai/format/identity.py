"""Identities: 16 bytes that tell the content of a buffer or an index from any other content.

Behind each buffer lies its identity, and the descriptor of the buffer notes it too. Files refer to each other by name
and range only; comparing the two tells whether the bytes are those that the descriptor was written for.
"""

from __future__ import annotations

import struct
from typing import Any, Final

import xxhash

from amudai.errors import CorruptedData
from amudai.format.container import Bytes

__all__ = [
    "IDENTITY_SIZE",
    "IdentityHash",
    "identity_fields",
    "identity_in",
    "require_identity",
    "without_identity",
]

IDENTITY_SIZE: Final = 16
_HALVES: Final = struct.Struct("<2Q")

IdentityHash = xxhash.xxh3_128
"""The hash whose digest is an identity."""


def identity_fields(identity: bytes | None) -> dict[str, int]:
    """The two fields in which a message notes an identity."""
    if identity is None:
        return {}
    first, last = _HALVES.unpack(identity)
    return {"identity_first": first, "identity_last": last}


def identity_in(message: Any) -> bytes | None:
    """The identity that a message notes; None if it notes none."""
    if not message.HasField("identity_first"):
        return None
    return _HALVES.pack(message.identity_first, message.identity_last)


def without_identity(data: memoryview, expected: bytes | None) -> memoryview:
    """A buffer that was read together with the identity behind it, without the identity.

    Raises CorruptedData if the identity is not the expected one. With None, `data` is a buffer without an identity.
    """
    if expected is None:
        return data
    found = data[-IDENTITY_SIZE:]
    if found != expected:
        require_identity(expected, found)
    return data[:-IDENTITY_SIZE]


def require_identity(expected: bytes | None, found: Bytes | None) -> None:
    """Raise CorruptedData if bytes that were found are not those that were expected. None is expected of any bytes."""
    if expected is not None and found != expected:
        stated = "none" if found is None else found.hex()
        raise CorruptedData(f"identity: expected {expected.hex()}, found {stated}: the file was replaced or damaged")
