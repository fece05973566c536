"""The values of one variant of a union."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from amudai.arrow.reorder import taken

__all__ = ["variant_values"]


def variant_values(array: pa.UnionArray, variant: int) -> pa.Array:
    """The values of the variant with this number, one for each position; null where another variant is chosen.

    >>> kinds = pa.array([0, 1, 0], pa.int8())
    >>> union = pa.UnionArray.from_sparse(kinds, [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])])
    >>> variant_values(union, 1).to_pylist()
    [None, 'b', None]
    """
    chosen = array.type_codes.to_numpy() == array.type.type_codes[variant]
    places = array.offsets.to_numpy() if array.type.mode == "dense" else np.arange(len(array))
    return taken(array.field(variant), pa.array(places.astype(np.int64), mask=~chosen))
