"""The folder for temporary files, and how many rows are encoded at once."""

from __future__ import annotations

import os
from typing import Final

import pyarrow as pa

from amudai.arguments import path_text

__all__ = ["rows_at_once", "temporary_folder"]

_BATCH_ROWS: Final = 1 << 17
_BATCH_SHARE: Final = 8  # part of the memory that they may take


def rows_at_once(batch: pa.RecordBatch, memory: int) -> int:
    """How many rows of a batch are encoded at once by a writer that may use `memory` bytes."""
    row_bytes: int = max(1, batch.nbytes // max(1, batch.num_rows))
    most = max(1, min(_BATCH_ROWS, memory // _BATCH_SHARE // row_bytes))
    # Each part costs time for each column, of which there may be thousands: a small rest is no part of its own.
    return batch.num_rows if most < batch.num_rows <= min(_BATCH_ROWS, most + most // 2) else most


def temporary_folder(location: str | os.PathLike[str], store: object | None) -> str | None:
    """The folder of the shard, which has room for the shard anyway; None if the shard is not a local file."""
    text = path_text(location, "location")
    if store is not None or (isinstance(location, str) and "://" in text):
        return None
    return os.path.dirname(os.path.abspath(text))
