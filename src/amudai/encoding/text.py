"""Checking that bytes are UTF-8, or JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.decoded import Values

__all__ = ["first_not_json", "is_text"]


def is_text(offsets: npt.NDArray[Any], data: npt.NDArray[np.uint8]) -> bool:
    """Whether Arrow's offsets ascend inside the data and all values are UTF-8, including those of null slots.

    >>> is_text(np.array([0, 1, 3], np.int32), np.frombuffer("né".encode(), np.uint8))
    True
    """
    return _kernels.is_text(offsets, data)


def first_not_json(values: Values, offsets: npt.NDArray[np.int64]) -> int | None:
    """The first value that is not null and is no JSON; None if there is none. `offsets` are those of the values."""
    if values.data is None:
        return None
    validity = None if values.validity is None else np.frombuffer(values.validity, np.uint8)
    found = _kernels.first_not_json(np.frombuffer(values.data, np.uint8), offsets, validity)
    return None if found < 0 else found
