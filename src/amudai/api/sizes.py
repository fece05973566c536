"""The folder for temporary files."""

from __future__ import annotations

import os

__all__ = ["temporary_folder"]


def temporary_folder(location: str | os.PathLike[str], store: object | None) -> str | None:
    """The folder of the shard, which has room for the shard anyway; None if the shard is not a local file."""
    text = os.fsdecode(location)
    if store is not None or (isinstance(location, str) and "://" in text):
        return None
    return os.path.dirname(os.path.abspath(text))
