"""Folders whose files may have any time of modification."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["BEFORE_CHRIST", "FAR_FUTURE", "folder_of_any_time", "touch"]

# Seconds from 1970 of times that no `datetime` can be.
FAR_FUTURE = 316_000_000_000
BEFORE_CHRIST = -70_000_000_000


@contextmanager
def folder_of_any_time() -> Iterator[Path]:
    """A new folder in a file system that keeps 64 bits of seconds, as few do. Without one, the test is skipped."""
    if not os.path.isdir("/dev/shm"):
        pytest.skip("/dev/shm: there is none")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = Path(name)
        touch(folder, FAR_FUTURE)
        if folder.stat().st_mtime != FAR_FUTURE:
            pytest.skip("/dev/shm: files cannot have any time")
        yield folder


def touch(path: Path, seconds: int) -> None:
    """Let a file be modified at a time, in seconds from 1970."""
    os.utime(path, (seconds, seconds))
