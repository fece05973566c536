"""What comes in through standard input?"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Final

from amudai.errors import InvalidArgument
from amudai.sources import File

__all__ = ["spooled"]

_NAME: Final = "<stdin>"
_COMPRESSED: Final = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}


@contextmanager
def spooled(folder: str | None) -> Iterator[File]:
    """Standard input as a file, for its head is read before its rows; it is gone behind the block."""
    if sys.stdin.isatty():
        raise InvalidArgument("standard input: expected data, found a terminal")
    with TemporaryDirectory(prefix=".amudai-", dir=folder) as place:
        path = os.path.join(place, "stdin")
        with open(path, "wb") as copy:
            copy.writelines(_pieces(sys.stdin.fileno()))
        yield _recognised(path)


def _pieces(handle: int) -> Iterator[bytes]:
    while True:
        # A signal that comes between two reads must not wait until the second has something to read.
        while not select.select([handle], [], [], 0.25)[0]:
            pass
        piece = os.read(handle, 1 << 20)
        if not piece:
            return
        yield piece


def _recognised(path: str) -> File:
    """The file with the ending that its first bytes suggest; CSV looks like anything, and must be told."""
    with open(path, "rb") as file:
        head = file.read(8)
    compression = next((name for magic, name in _COMPRESSED.items() if head.startswith(magic)), None)
    stored = File(_NAME, "", compression, path)
    if compression is not None:
        with stored.open() as stream:
            head = stream.read(8)
    if head.startswith(b"PAR1"):
        ending = ".parquet"
    elif head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        ending = ".arrow"
    elif head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        ending = ".jsonl"
    else:
        ending = ".log"
    return File(_NAME, ending, compression, path)
