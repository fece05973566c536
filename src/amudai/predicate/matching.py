"""Text operators on values: without Arrow's functions, which are slow to import."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from amudai import _kernels

__all__ = ["match_texts"]


def match_texts(
    offsets: npt.NDArray[Any], data: npt.NDArray[np.uint8], text: str, op: str, case_sensitive: bool
) -> npt.NDArray[np.bool_]:
    """A mask of the values for which a text operator is true.

    Parameters
    ----------
    offsets
        Where each value begins in `data`, and where the last one ends.
    """
    out = np.empty(len(offsets) - 1, np.bool_)
    _kernels.match_text(offsets, data, op, text, case_sensitive, out.view(np.uint8))
    return out
