"""Arrow scalars and arrays without `pa.scalar` and `pa.array`.

Those import pandas, if it is installed, to check whether a value is a pandas object. That takes longer than most scans,
so scalars and arrays of known types are made from their bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["bytes_scalar", "number_array", "number_scalar", "text_array"]

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


def number_array(numbers: npt.NDArray[Any]) -> pa.Array:
    """Numbers or truth values, none of them null.

    >>> number_array(np.arange(3)).type, number_array(np.array([True, False])).to_pylist()
    (DataType(int64), [True, False])
    """
    kind = pa.from_numpy_dtype(numbers.dtype)
    stored = np.packbits(numbers, bitorder="little") if pa.types.is_boolean(kind) else np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(stored)])


def text_array(texts: Sequence[str]) -> pa.Array:
    """Texts, none of them null.

    >>> text_array(["disk", "", "ü"]).to_pylist()
    ['disk', '', 'ü']
    """
    parts = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, parts)], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(parts), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(parts))])
