"""Compressed files: how they are recognised, and how they are decompressed as a stream."""

from __future__ import annotations

import io
import lzma
import re
from typing import TYPE_CHECKING, Final

import pyarrow as pa

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

__all__ = ["BY_ENDING", "decompressed", "recognised_compression"]

BY_ENDING: Final = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz", ".lz4": "lz4"}

_CHUNK: Final = 1 << 18

# The first bytes of a compressed file. A bzip2 file goes on with the mark of a block, or of the end of an empty file.
_MAGIC: Final = (
    ("gzip", re.compile(rb"\x1f\x8b\x08")),
    ("zstd", re.compile(rb"\x28\xb5\x2f\xfd")),
    ("bz2", re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")),
    ("xz", re.compile(rb"\xfd7zXZ\x00")),
    ("lz4", re.compile(rb"\x04\x22\x4d\x18")),
)


def recognised_compression(head: bytes) -> str | None:
    """The compression of a file, by its first ten bytes; None if it is not compressed.

    >>> recognised_compression(bytes([0x1F, 0x8B, 8, 0]))
    'gzip'
    """
    return next((name for name, magic in _MAGIC if magic.match(head)), None)


def decompressed(stored: pa.NativeFile, compression: str | None) -> pa.NativeFile:
    """A stream of the decompressed content. Closing it closes `stored`."""
    if compression is None:
        return stored
    if compression == "xz":
        return pa.PythonFile(_XzFile(stored), mode="r")
    return pa.CompressedInputStream(stored, compression)


class _XzFile(io.RawIOBase):
    """A decompressed xz file, which pyarrow cannot make. Python's takes a damaged stream for the end of the file."""

    def __init__(self, stored: pa.NativeFile) -> None:
        self._stored = stored
        self._stream = lzma.LZMADecompressor()
        self._next = b""  # the beginning of another stream

    def readable(self) -> bool:
        """Whether one can read: yes."""
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        """Fill the buffer, or less of it; with nothing at the end."""
        target = memoryview(buffer).cast("B")
        while True:
            if self._stream.eof and not self._begins_another():
                return 0
            data = b""
            if self._stream.needs_input:
                data, self._next = self._next or self._stored.read(_CHUNK), b""
                if not data:
                    raise EOFError("the end of the stream is missing")
            found = self._stream.decompress(data, len(target))
            if found or not len(target):
                target[: len(found)] = found
                return len(found)

    def _begins_another(self) -> bool:
        """Whether another stream follows, perhaps behind zeros."""
        rest = self._stream.unused_data.lstrip(b"\0")
        while not rest:
            chunk = self._stored.read(_CHUNK)
            if not chunk:
                return False
            rest = chunk.lstrip(b"\0")
        self._stream, self._next = lzma.LZMADecompressor(lzma.FORMAT_XZ), rest
        return True

    def close(self) -> None:
        """Close the stream and the stored file."""
        super().close()
        self._stored.close()
