"""Values of keys in types that Arrow can compare, group and join."""

from __future__ import annotations

import pyarrow as pa

from amudai.arrow import computable, taken

__all__ = ["comparable"]


def comparable(values: pa.Array) -> pa.Array:
    """The values in a type that every function of Arrow takes. Zeros lose their sign: both are the same key."""
    import pyarrow.compute as pc  # takes long to import, and few need it

    while isinstance(values, pa.ExtensionArray):
        values = values.storage
    kind = values.type
    if pa.types.is_dictionary(kind):
        return comparable(taken(values.dictionary, values.indices))
    values = computable(values)
    return pc.add(values, 0.0) if pa.types.is_floating(values.type) else values
