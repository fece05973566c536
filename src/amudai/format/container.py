"""The container of a shard file: header, frames, directory, footer.

A shard file begins with a header and ends with a footer of the same 8 bytes. Every message between them is in a frame
(length, payload, checksum). The last frame is the shard directory; its length is repeated before the footer.
"""

from __future__ import annotations

import struct
from typing import Final, TypeAlias

import xxhash

from amudai.errors import CorruptedData, InvalidArgument, UnsupportedFeature

__all__ = [
    "BUFFER_ALIGNMENT",
    "DIRECTORY_LENGTH",
    "FOOTER",
    "HEADER",
    "MAGIC",
    "MAX_DIRECTORY",
    "MIN_SHARD_SIZE",
    "TAIL_READ",
    "Bytes",
    "check_footer",
    "check_header",
    "check_zeros",
    "checksum",
    "directory_length",
    "directory_range",
    "frame",
    "frame_directory",
    "unframe",
]

Bytes: TypeAlias = bytes | memoryview

MAGIC: Final = b"amud"
HEADER: Final = MAGIC + bytes([0, 1, 0, 0])  # patch, minor (two bytes), major
FOOTER: Final = HEADER
TAIL_READ: Final = 64 * 1024
MAX_DIRECTORY: Final = 16 * 1024 * 1024
MIN_SHARD_SIZE: Final = 28
BUFFER_ALIGNMENT: Final = 64  # of an encoded buffer's first byte, in its file

_MAJOR: Final = 0
_WORD: Final = 4
DIRECTORY_LENGTH: Final = _WORD  # bytes of the directory's length, which follow its frame
_FRAME: Final = 2 * _WORD
_LENGTH: Final = struct.Struct("<I")
_LOW: Final = 0xFFFF_FFFF
_MAX_PAYLOAD: Final = 0xFFFF_FFFE


def checksum(data: Bytes) -> int:
    """The format's checksum: both halves of XXH3-64, folded into 32 bits.

    >>> hex(checksum(b"testdata"))
    '0x59981402'
    """
    digest = xxhash.xxh3_64_intdigest(data)
    return (digest >> 32) ^ (digest & _LOW)


def check_header(data: Bytes) -> None:
    """Raise an error if the first 8 bytes of a file are not `HEADER`. A later minor version is accepted."""
    _check_mark(data, "begins")


def check_footer(data: Bytes) -> None:
    """Raise an error if the last 8 bytes of a shard are not `FOOTER`. A later minor version is accepted."""
    if data != FOOTER:
        _check_mark(data, "ends")


def check_zeros(data: Bytes, what: str) -> None:
    """Raise an error if padding is not zero. Readers ignore padding, so only verification looks at it."""
    if any(data):
        at = next(index for index, byte in enumerate(data) if byte)
        raise CorruptedData(f"{what}: expected zeros, found {data[at]:#04x} at byte {at} of {len(data)}")


def directory_length(tail: Bytes, tail_end: int, end: int) -> int:
    """The payload size of the directory whose second length ends at `end`. `tail` holds the bytes before `tail_end`."""
    at = end - _WORD - (tail_end - len(tail))
    if at < 0 or end > tail_end:
        held = f"{tail_end - len(tail)}..{tail_end}"
        raise CorruptedData(f"shard directory length: expected at {end - _WORD}..{end}, found only the bytes {held}")
    length = int.from_bytes(tail[at : at + _WORD], "little")
    if length >= MAX_DIRECTORY:
        raise CorruptedData(f"shard directory length: expected less than {MAX_DIRECTORY}, found {length}")
    return length


def directory_range(tail: Bytes, size: int, end: int | None = None) -> tuple[int, int]:
    """First byte and end of the shard directory's frame, as offsets in the file.

    `tail` holds the last bytes of a file of `size` bytes (`TAIL_READ` of them, or all). If the frame begins before
    `tail`, the caller reads it. A shard embedded in a larger file has no footer of its own: `tail` then holds the bytes
    before `end`, which is the end of the second length, and the caller checks the footer of the file.
    """
    if size < MIN_SHARD_SIZE:
        raise CorruptedData(f"not an Amudai shard: expected at least {MIN_SHARD_SIZE} bytes, found {size}")
    if end is None:
        check_footer(tail[-len(FOOTER) :])
        tail_end, end = size, size - len(FOOTER)
    elif not MIN_SHARD_SIZE - len(FOOTER) <= end <= size:
        room = f"{MIN_SHARD_SIZE - len(FOOTER)}..{size}"
        raise CorruptedData(f"embedded shard: expected its end within {room}, found {end}")
    else:
        tail_end = end
    length = directory_length(tail, tail_end, end)
    start = end - _WORD - _FRAME - length
    if start < len(HEADER):
        most = end - _WORD - _FRAME - len(HEADER)
        raise CorruptedData(f"shard directory length: expected at most {most}, found {length}")
    return start, end - _WORD


def frame(payload: Bytes) -> bytes:
    """The frame of a message: its length, the payload, its checksum.

    >>> frame(b"amudai").hex(" ")
    '06 00 00 00 61 6d 75 64 61 69 05 ca 83 ae'
    """
    if len(payload) > _MAX_PAYLOAD:
        raise InvalidArgument(f"message: expected at most {_MAX_PAYLOAD} bytes, found {len(payload)}")
    return b"".join((_word(len(payload)), payload, _word(checksum(payload))))


def frame_directory(payload: Bytes) -> bytes:
    """The end of a shard: the directory's frame and its length again. A shard in its own file ends with `FOOTER`."""
    if len(payload) >= MAX_DIRECTORY:
        raise InvalidArgument(f"shard directory: expected less than {MAX_DIRECTORY} bytes, found {len(payload)}")
    return frame(payload) + _word(len(payload))


def unframe(frame: Bytes, what: str, verify: bool = True) -> memoryview:
    """The payload of a frame, checked against its checksum. `what` names the message in errors.

    More bytes may follow the frame: a reference covers at least the frame.
    """
    found = len(frame)
    if found < _FRAME:
        raise CorruptedData(f"{what} frame: expected at least {_FRAME} bytes, found {found}")
    (length,) = _LENGTH.unpack_from(frame)
    if length + _FRAME > found:
        raise CorruptedData(f"{what} frame: expected {length + _FRAME} bytes, found {found}")
    payload = memoryview(frame)[_WORD : _WORD + length]
    if verify:
        (stored,) = _LENGTH.unpack_from(frame, _WORD + length)
        # As `checksum` has it. Opening a shard and its columns takes dozens of frames.
        digest = xxhash.xxh3_64_intdigest(payload)
        computed = (digest >> 32) ^ (digest & _LOW)
        if stored != computed:
            raise CorruptedData(f"{what} checksum: expected {stored:#010x}, found {computed:#010x}")
    return payload


def _word(number: int) -> bytes:
    return number.to_bytes(_WORD, "little")


def _check_mark(data: Bytes, how: str) -> None:
    mark = bytes(data[: len(HEADER)])
    if len(mark) < len(HEADER) or not mark.startswith(MAGIC):
        found = mark.hex(" ") or "nothing"
        raise CorruptedData(f"not an Amudai shard: expected a file that {how} with {HEADER.hex(' ')}, found {found}")
    if mark[-1] > _MAJOR:
        raise UnsupportedFeature(f"format version: expected major version {_MAJOR}, found {mark[-1]}")
