"""The dictionary with which all blocks of a buffer were compressed."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self

from amudai.errors import CorruptedData
from amudai.format.container import BUFFER_ALIGNMENT, Bytes, check_zeros, checksum

__all__ = ["SharedDictionary", "check_shared_padding", "encode_shared"]

_HEADER: Final = Struct("<II")  # bytes of the dictionary, their checksum


@dataclass(frozen=True, slots=True, eq=False)
class SharedDictionary:
    """The bytes of a dictionary and their checksum, by which blocks name it."""

    content: memoryview
    checksum: int

    @classmethod
    def decode(cls, buffer: Bytes, verify: bool = True) -> Self:
        """The dictionary in a buffer of kind OPAQUE_DICTIONARY."""
        if len(buffer) < _HEADER.size:
            raise CorruptedData(f"shared dictionary: expected at least {_HEADER.size} bytes, found {len(buffer)}")
        size, stored = _HEADER.unpack_from(buffer)
        if _HEADER.size + size > len(buffer):
            raise CorruptedData(f"shared dictionary: expected {_HEADER.size + size} bytes, found {len(buffer)}")
        content = memoryview(buffer)[_HEADER.size : _HEADER.size + size]
        if verify and checksum(content) != stored:
            found = f"{checksum(content):#010x}"
            raise CorruptedData(f"shared dictionary checksum: expected {stored:#010x}, found {found}")
        return cls(content, stored)


def check_shared_padding(buffer: Bytes) -> None:
    """Raise an error if the padding behind a dictionary, which was read before, is not zero."""
    size, _ = _HEADER.unpack_from(buffer)
    check_zeros(buffer[_HEADER.size + size :], "padding after the shared dictionary")


def encode_shared(content: Bytes) -> bytes:
    """The buffer that holds a dictionary."""
    header = _HEADER.pack(len(content), checksum(content))
    return b"".join((header, content, bytes(-(len(header) + len(content)) % BUFFER_ALIGNMENT)))
