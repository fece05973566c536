"""Checking that bytes are UTF-8."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from amudai import _kernels

__all__ = ["is_text"]


def is_text(offsets: npt.NDArray[Any], data: npt.NDArray[np.uint8]) -> bool:
    """Whether Arrow's offsets ascend inside the data and all values are UTF-8, including those of null slots.

    >>> is_text(np.array([0, 1, 3], np.int32), np.frombuffer("né".encode(), np.uint8))
    True
    """
    return _kernels.is_text(offsets, data)
