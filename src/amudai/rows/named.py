"""The rows that a user names: a slice, a range, a list of positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arguments import shown
from amudai.errors import InvalidArgument
from amudai.rows.origin import Origin
from amudai.rows.rows import Rows

__all__ = ["row_range", "row_ranges"]


def row_range(rows: slice | range | None, origin: Origin) -> Rows:
    """The rows of a slice, as Python counts them; all rows for None."""
    count = origin.size
    if rows is None:
        return Rows.all(origin)
    if isinstance(rows, range):
        if rows.step != 1 or (rows.start < rows.stop and not (rows.start >= 0 and rows.stop <= count)):
            raise InvalidArgument(f"rows: expected a range with step 1 within 0..{count}, found {rows}")
        return Rows.one(rows.start, rows.stop, origin)
    if not isinstance(rows, slice) or rows.step not in (None, 1):
        raise InvalidArgument(f"rows: expected a slice or range with step 1, found {shown(rows)}")
    try:
        start, stop, _ = rows.indices(count)
    except TypeError as error:
        raise InvalidArgument(f"rows: expected whole numbers in the slice, found {shown(rows)}") from error
    return Rows.one(start, stop, origin)


def row_ranges(
    positions: Sequence[int] | pa.Array | npt.NDArray[Any], origin: Origin
) -> tuple[Rows, npt.NDArray[np.int64] | None]:
    """The rows at `positions`, and the index of each position among the ascending rows; None if they ascend already."""
    wanted, count = _integers(positions), origin.size
    if len(wanted) == 0:
        return Rows.none(origin), None
    single = len(wanted) == 1  # as most calls have, for which numpy takes longer than all the rest
    low, high = (wanted.item(0), wanted.item(0)) if single else (int(wanted.min()), int(wanted.max()))
    if low < 0 or high >= count:
        most = f"0..{count - 1}" if count else "none, the shard is empty"
        raise InvalidArgument(f"rows: expected {most}, found {low if low < 0 else high}")
    if single:
        return Rows.one(low, low + 1, origin), None
    unsigned = wanted.astype(np.uint64)
    if (unsigned[1:] > unsigned[:-1]).all():
        return Rows.of_positions(unsigned, origin), None
    ascending, place = np.unique(unsigned, return_inverse=True)
    return Rows.of_positions(ascending, origin), place.astype(np.int64)


def _integers(positions: Any) -> npt.NDArray[Any]:
    if isinstance(positions, pa.ChunkedArray):
        positions = positions.combine_chunks()
    if isinstance(positions, pa.Array):
        if positions.null_count:
            raise InvalidArgument("rows: expected positions, found a null")
        positions = positions.to_numpy(zero_copy_only=False)
    try:
        found = np.asarray(positions)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidArgument(f"rows: expected a sequence of integers, found {type(positions).__name__}") from error
    if found.ndim == 1 and found.size == 0:
        return np.empty(0, np.int64)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise InvalidArgument(
            f"rows: expected a sequence of integers, found {found.dtype} with {found.ndim} dimensions"
        )
    return found
