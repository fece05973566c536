"""The check whether a hash index of a field brings anything.

If values are sorted, or nearly, or come in clusters, the range index leaves only a few stretches of rows for a value.
Reading those takes no longer than a look-up in a hash index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai.encoding import RangeIndex
from amudai.errors import CorruptedData, UnsupportedFeature
from amudai.index.bounds import has_order
from amudai.index.contract import IndexSpec
from amudai.index.hash.spec import HashIndex
from amudai.shard import ShardReader
from amudai.types import BasicType, NodePath, find_in

__all__ = ["needless_fields", "rows_left"]

# Shards with fewer rows are read quickly with any index and without one.
_LEAST_ROWS: Final = 65_536
# About half a block of numbers, which is read as a whole.
_FEW_ROWS: Final = 4096
_LISTS: Final = frozenset({BasicType.LIST, BasicType.FIXED_SIZE_LIST, BasicType.MAP})


def needless_fields(reader: ShardReader, specs: Sequence[IndexSpec]) -> tuple[str, ...]:
    """The fields of the hash indexes among `specs` in which the range index alone finds a value among few rows."""
    if reader.num_positions < _LEAST_ROWS:
        return ()
    asked = [key[0] for spec in specs if isinstance(spec, HashIndex) for key in spec.keys if len(key) == 1]
    nodes = reader.schema.fields()
    return tuple(name for name in dict.fromkeys(asked) if _is_needless(reader, find_in(nodes, name)))


def _is_needless(reader: ShardReader, path: NodePath) -> bool:
    # Range indexes of list items count items, not rows. Those of decimals are not compared here.
    if any(node.basic_type in _LISTS for node in path) or not has_order(path[-1]) or path[-1].is_decimal:
        return False
    columns = [stripe.column_at(path) for stripe in reader.stripes]
    # A stripe in which all values are the same is decided by its statistics.
    try:
        found = [column.range_index() for column in columns if column.constant is None]
    except (CorruptedData, UnsupportedFeature):
        return False  # a range index that cannot be read finds nothing
    indexes = [index for index in found if index is not None]
    return len(indexes) == len(found) > 0 and rows_left(indexes) <= _FEW_ROWS


def rows_left(indexes: Sequence[RangeIndex]) -> float:
    """How many rows must be compared to find a value that occurs in the column, on average.

    Stretches in which all values are the same need no comparison.
    """
    least, greatest = (np.concatenate(parts) for parts in zip(*map(_bounds, indexes), strict=True))
    if not len(least):
        return 0.0
    values = np.concatenate((least, greatest))
    mixed = least < greatest
    # Stretches that begin at or before a value, less those that end before it.
    begun = np.searchsorted(np.sort(least[mixed]), values, "right")
    ended = np.searchsorted(np.sort(greatest[mixed]), values, "left")
    return float((begun - ended).mean()) * max(index.size for index in indexes)


def _bounds(index: RangeIndex) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The least and the greatest value of each stretch that has any."""
    if index.invalid is None:
        return index.least, index.greatest
    sizes = np.full(len(index.least), index.size, np.uint64)
    sizes[-1] = index.span - (len(sizes) - 1) * index.size
    filled = index.invalid < sizes
    return index.least[filled], index.greatest[filled]
