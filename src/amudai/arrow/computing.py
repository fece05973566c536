"""Values in types that all functions of Arrow take."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["computable"]


def computable(values: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The same values without views, float16, and decimals of 32 and 64 bits, which some functions refuse.

    >>> computable(pa.array(["a"], pa.string_view())).type
    DataType(large_string)
    """
    kinds, kind = pa.types, values.type
    if kinds.is_string_view(kind):
        return values.cast(pa.large_string())
    if kinds.is_binary_view(kind):
        return values.cast(pa.large_binary())
    if kinds.is_float16(kind):
        return values.cast(pa.float32())
    if kinds.is_decimal32(kind) or kinds.is_decimal64(kind):
        return values.cast(pa.decimal128(kind.precision, kind.scale))
    return values
