"""The end of a root file as bytes that a caller keeps, so that the shard is opened again without a request."""

from __future__ import annotations

import struct
from typing import Final

import xxhash

from amudai.errors import CorruptedData
from amudai.storage import StoredFile

__all__ = ["pack_footer", "unpack_footer"]

_MAGIC: Final = b"AMUDFTR1"
_HEAD: Final = struct.Struct("<8sQI")  # magic, size of the root file, bytes of its tag
_CHECKSUM: Final = struct.Struct("<Q")


def pack_footer(file: StoredFile, tail: memoryview) -> bytes:
    """The size and the tag of a root file, and its last bytes. A checksum guards them."""
    tag = (file.tag or "").encode()
    content = _HEAD.pack(_MAGIC, file.size, len(tag)) + tag + bytes(tail)
    return content + _CHECKSUM.pack(xxhash.xxh3_64_intdigest(content))


def unpack_footer(footer: bytes, url: str) -> tuple[StoredFile, memoryview]:
    """What `pack_footer` was given. `url` is that of the root file."""
    content = memoryview(footer)[: -_CHECKSUM.size]
    is_sound = len(content) >= _HEAD.size and footer[-_CHECKSUM.size :] == _CHECKSUM.pack(
        xxhash.xxh3_64_intdigest(content)
    )
    magic, size, length = _HEAD.unpack_from(content) if is_sound else (b"", 0, 0)
    if magic != _MAGIC:
        raise CorruptedData(f"footer: expected the bytes of Shard.footer, found {len(footer)} others", url=url)
    tag = bytes(content[_HEAD.size : _HEAD.size + length]).decode()
    return StoredFile(url, size, tag=tag or None), content[_HEAD.size + length :]
