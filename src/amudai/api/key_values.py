"""Values of keys in types that Arrow can compare, group and join."""

from __future__ import annotations

import pyarrow as pa

from amudai.arrow import taken

__all__ = ["comparable"]


def comparable(values: pa.Array) -> pa.Array:
    """The values in a type that every function of Arrow takes. Zeros lose their sign: both are the same key."""
    import pyarrow.compute as pc  # takes long to import, and few need it

    while isinstance(values, pa.ExtensionArray):
        values = values.storage
    kind = values.type
    if pa.types.is_dictionary(kind):
        return comparable(taken(values.dictionary, values.indices))
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return values.cast(pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary())
    if pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):
        return values.cast(pa.decimal128(kind.precision, kind.scale))
    if pa.types.is_float16(kind):
        values = values.cast(pa.float32())
    return pc.add(values, 0.0) if pa.types.is_floating(values.type) else values
