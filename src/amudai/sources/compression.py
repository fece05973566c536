"""Compressed files: how they are recognised, and how they are decompressed as a stream."""

from __future__ import annotations

import lzma
import re
from typing import Final

import pyarrow as pa

__all__ = ["BY_ENDING", "decompressed", "recognised_compression"]

BY_ENDING: Final = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz", ".lz4": "lz4"}

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


class _XzFile(lzma.LZMAFile):
    """A decompressed xz file, which pyarrow cannot make."""

    def __init__(self, stored: pa.NativeFile) -> None:
        super().__init__(stored)
        self._stored = stored

    def close(self) -> None:
        """Close the stream and the stored file."""
        super().close()
        self._stored.close()
