"""Arrow scalars without `pa.scalar`.

`pa.scalar` imports pandas, if it is installed, to check whether a value is a pandas object. That takes longer than most
scans, so scalars of known types are made from their bytes.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

__all__ = ["bytes_scalar", "number_scalar"]

_OFFSETS: Final = {
    pa.string(): np.int32,
    pa.binary(): np.int32,
    pa.large_string(): np.int64,
    pa.large_binary(): np.int64,
}


def number_scalar(number: float | np.generic, kind: pa.DataType) -> pa.Scalar:
    """A number of this type; for times, the count of their units.

    >>> number_scalar(90, pa.duration("s"))
    <pyarrow.DurationScalar: datetime.timedelta(seconds=90)>
    """
    code = "u" if pa.types.is_unsigned_integer(kind) else "f" if pa.types.is_floating(kind) else "i"
    stored = np.array([number], f"<{code}{kind.bit_width // 8}")
    return pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(stored)])[0]


def bytes_scalar(value: bytes, kind: pa.DataType) -> pa.Scalar:
    """A text or bytes, as they are stored.

    >>> bytes_scalar(b"abc", pa.string())
    <pyarrow.StringScalar: 'abc'>
    """
    data = pa.py_buffer(value)
    if pa.types.is_fixed_size_binary(kind):
        return pa.Array.from_buffers(kind, 1, [None, data])[0]
    plain = kind if kind in _OFFSETS else pa.large_binary()
    offsets = np.array([0, len(value)], _OFFSETS[plain])
    found = pa.Array.from_buffers(plain, 1, [None, pa.py_buffer(offsets), data])
    return (found if plain is kind or plain == kind else found.cast(kind))[0]
