"""The values of one variant of a union, and of one member of a struct."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from amudai.arrow.reorder import taken, union_places

__all__ = ["struct_member", "variant_values"]


def variant_values(array: pa.UnionArray, variant: int) -> pa.Array:
    """The values of the variant with this number, one for each position; null where another variant is chosen.

    >>> kinds = pa.array([0, 1, 0], pa.int8())
    >>> union = pa.UnionArray.from_sparse(kinds, [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])])
    >>> variant_values(union, 1).to_pylist()
    [None, 'b', None]
    """
    codes, places = union_places(array)
    return taken(array.field(variant), pa.array(places, mask=codes != array.type.type_codes[variant]))


def struct_member(array: pa.StructArray, place: int) -> pa.Array:
    """The values of the member with this number, null where the struct is.

    >>> runs = pa.RunEndEncodedArray.from_arrays([2], ["a"])
    >>> struct_member(pa.StructArray.from_arrays([runs], ["s"], mask=pa.array([False, True])), 0).to_pylist()
    ['a', None]
    """
    import pyarrow.compute as pc  # takes long to import, and few need it

    member = array.field(place)
    if not (pa.types.is_run_end_encoded(member.type) or pa.types.is_union(member.type)):
        return pc.struct_field(array, [place])
    if not array.null_count:
        return member
    # Runs and unions cannot be null themselves: Arrow forgets these nulls for runs, and ends the process for unions.
    absent = array.is_null().to_numpy(zero_copy_only=False)
    return taken(member, pa.array(np.arange(len(array)), mask=absent))
