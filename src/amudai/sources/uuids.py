"""UUIDs that are written as text, as `arrow.uuid`."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["is_uuid_type", "uuids_of"]

# With or without hyphens, also in braces.
_FORM: Final = (
    r"^(?:\{[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}"
    r"|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9A-Fa-f]{32})$"
)


def is_uuid_type(kind: pa.DataType) -> bool:
    """Whether a type is that of UUIDs."""
    return isinstance(kind, pa.UuidType)


def uuids_of(texts: pa.Array) -> pa.Array:
    """The UUIDs in some texts; `ArrowInvalid` if one of them is none.

    Arrow casts text of 16 bytes to the UUID of these bytes, and no other text.

    >>> uuids_of(pa.array(["01234567-89ab-cdef-0123-456789ABCDEF", None])).to_pylist()
    [UUID('01234567-89ab-cdef-0123-456789abcdef'), None]
    """
    texts = texts.cast(pa.string())
    others = texts.filter(pc.invert(pc.match_substring_regex(texts, _FORM)))
    if len(others):
        raise pa.ArrowInvalid(f"invalid value {others[0].as_py()[:60]!r} for uuid")
    digits = pc.replace_substring_regex(texts.drop_null(), "[^0-9A-Fa-f]", "")
    data = bytes.fromhex("".join(digits.to_pylist()))
    values = pa.Array.from_buffers(pa.binary(16), len(digits), [None, pa.py_buffer(data)])
    if texts.null_count:
        valid = texts.is_valid()
        places = pc.subtract(pc.cumulative_sum(valid.cast(pa.int64())), 1)
        values = values.take(pc.if_else(valid, places, None))
    return pa.uuid().wrap_array(values)
