"""Access to the buffers of Arrow arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.shard import Bits

__all__ = ["Mask", "VisibleSlots", "bits_of", "validity_of", "view", "visible"]

Mask: TypeAlias = npt.NDArray[np.bool_]
# Computes which positions are visible (not below a null, say); called only if it matters. None if all are visible.
VisibleSlots: TypeAlias = Callable[[], Mask] | None


def view(buffer: pa.Buffer | None, dtype: npt.DTypeLike, first: int, count: int) -> npt.NDArray[Any]:
    """The values of a buffer, as a read-only array."""
    kind = np.dtype(dtype)
    if not count or buffer is None:
        return np.zeros(count, kind)
    found: npt.NDArray[Any] = np.frombuffer(buffer, kind, count, first * kind.itemsize)
    if not found.flags.aligned:
        found = found.copy()  # rare: not every kernel reads unaligned numbers
    found.flags.writeable = False
    return found


def bits_of(buffer: pa.Buffer | None, first: int, count: int) -> Bits:
    """`count` bits of a buffer, from bit `first` on."""
    return Bits(view(buffer, "u1", first // 8, (first % 8 + count + 7) // 8), first % 8, count)


def validity_of(array: pa.Array) -> tuple[Bits | None, int]:
    """Which positions are not null, or None if no position is null; and how many are null."""
    nulls = int(array.null_count)
    return (bits_of(array.buffers()[0], array.offset, len(array)), nulls) if nulls else (None, 0)


def visible(valid: Mask | None, seen: VisibleSlots, count: int) -> Mask:
    """Which positions hold a visible value."""
    mask = np.ones(count, np.bool_) if valid is None else valid
    return mask if seen is None else mask & seen()
