"""The least and the greatest of values that come in pieces."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

__all__ = ["widened"]


def widened(low: Any, high: Any, values: pa.Array) -> tuple[Any, Any]:
    """The least and the greatest of `low`, `high` and more values. None stands for no value yet.

    >>> widened(None, 7, pa.array([9, None, 3]))
    (3, 9)
    """
    import pyarrow.compute as pc  # takes long to import, and readers do not need it

    found = pc.min_max(values).as_py()
    least, greatest = found["min"], found["max"]
    if least is not None and (low is None or least < low):
        low = least
    if greatest is not None and (high is None or greatest > high):
        high = greatest
    return low, high
