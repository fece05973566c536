"""Conversion of integers to a coarser unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.decode import allocate

__all__ = ["divided_exactly"]


def divided_exactly(values: npt.NDArray[np.int64], origin: int, by: int, dtype: str = "i8") -> npt.NDArray[Any] | None:
    """`(values - origin) / by` as "i8" or "i4"; None if a division leaves a remainder.

    >>> divided_exactly(np.array([110, 90]), 100, 10)
    array([ 1, -1])
    """
    _, found = allocate(len(values), dtype)
    return found if _kernels.divide_exactly(np.ascontiguousarray(values), origin, by, found) else None
