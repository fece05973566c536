"""A file that appears under its name only once it is complete."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

__all__ = ["new_file"]


@contextmanager
def new_file(path: str, *, overwrite: bool) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name when the block ends without an error, and is removed otherwise.

    Raises FileExistsError if the name is taken by then, unless `overwrite`.
    """
    folder = os.path.dirname(os.path.abspath(path))
    part = os.path.join(folder, f".amudai-{secrets.token_hex(8)}.part")
    try:
        with open(part, "xb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        if overwrite:
            os.replace(part, path)
        else:
            _publish(part, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(part)


def _publish(part: str, path: str) -> None:
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: an empty file claims the name, and is then replaced.
        with open(path, "xb"):
            pass
        os.replace(part, path)
