"""Binary streams, such as standard input, copied to a file so that they can be read more than once."""

from __future__ import annotations

import os
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from typing import Final, Protocol, runtime_checkable

from amudai.sources.files import InputFile

__all__ = ["BinaryStream", "spooled"]

_COMPRESSED: Final = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
_PIECE: Final = 1 << 20


@runtime_checkable
class BinaryStream(Protocol):
    """A stream of bytes. If it has a `name`, errors and the rows of logs show it."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most `size`; none at the end."""


def spooled(stream: BinaryStream, folder: str | os.PathLike[str] | None, stack: ExitStack) -> InputFile:
    """The content of a stream as a file in `folder`, which is removed when `stack` is closed."""
    place = stack.enter_context(TemporaryDirectory(prefix=".amudai-", dir=folder))
    path = os.path.join(place, "stream")
    with open(path, "wb") as copy:
        while piece := stream.read(_PIECE):
            copy.write(piece)
    name = getattr(stream, "name", None)
    return _recognised(path, name if isinstance(name, str) else "<stream>")


def _recognised(path: str, name: str) -> InputFile:
    """The file with the ending that its first bytes suggest. CSV cannot be told from a log, and must be named."""
    with open(path, "rb") as file:
        head = file.read(8)
    compression = next((found for magic, found in _COMPRESSED.items() if head.startswith(magic)), None)
    if compression is not None:
        with InputFile(name, "", compression, path).open() as content:
            head = content.read(8)
    if head.startswith(b"PAR1"):
        ending = ".parquet"
    elif head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        ending = ".arrow"
    elif head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        ending = ".jsonl"
    else:
        ending = ".log"
    return InputFile(name, ending, compression, path)
