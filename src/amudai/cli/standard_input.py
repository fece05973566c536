"""Standard input as a stream that `amudai.read_files` takes."""

from __future__ import annotations

import os
import select
import sys

from amudai import InvalidArgument

__all__ = ["StandardInput"]


class StandardInput:
    """Standard input. It refuses to read from a terminal, where nobody would know what it waits for."""

    name = "<stdin>"

    def __init__(self) -> None:
        if sys.stdin.isatty():
            raise InvalidArgument("standard input: expected data, found a terminal")

    def fileno(self) -> int:
        """The descriptor of standard input."""
        return sys.stdin.fileno()

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most `size`; none at the end."""
        handle = self.fileno()
        # A signal between two reads must not have to wait until there is something to read.
        while not select.select([handle], [], [], 0.25)[0]:
            pass
        return os.read(handle, size)
