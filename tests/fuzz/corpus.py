"""Inputs that are kept: those that reached new code, and those that once failed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["CORPUS", "CRASHERS", "content_of"]

CORPUS: Final = Path(__file__).parent / "corpus"
CRASHERS: Final = Path(__file__).parent / "crashers"


def content_of(target: str) -> Iterator[bytes]:
    """The kept inputs of a target, in the order of their names."""
    for folder in (CORPUS / target, CRASHERS / target):
        if folder.is_dir():
            yield from (path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file())
