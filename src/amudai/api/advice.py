"""Advice to users about what they asked for."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence

from amudai.errors import FilesInUseWarning, NeedlessIndexWarning
from amudai.index import IndexSpec, needless_fields
from amudai.shard import ShardReader

__all__ = ["warn_of_files_in_use", "warn_of_needless_indexes"]


def warn_of_needless_indexes(reader: ShardReader, indexes: Sequence[IndexSpec]) -> None:
    """Warn of hash indexes that bring nothing, because the range index finds their values among few rows."""
    for name in needless_fields(reader, indexes):
        said = f"hash index over {name!r}: the values are sorted or clustered, so the range index finds them as fast; "
        said += "the hash index only takes space, leave it out"
        warnings.warn(said, NeedlessIndexWarning, stacklevel=_caller())


def warn_of_files_in_use(urls: Sequence[str]) -> None:
    """Warn of files that were not removed, because another shard refers to them."""
    if urls:
        said = f"files that another shard refers to were not removed: {', '.join(urls)}"
        warnings.warn(said, FilesInUseWarning, stacklevel=_caller())


def _caller() -> int:
    """The stack level of the code that called the library, as `warnings.warn` counts where this is called."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("amudai."):
        level, frame = level + 1, frame.f_back
    return level
