"""Bytes as text: which of them are UTF-8 or JSON, and how GUIDs are written."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.decoded import Values

__all__ = ["GUID_LENGTH", "first_not_json", "guid_texts", "is_text", "texts_among"]

GUID_LENGTH: Final = 36
_HEX: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_DIGITS: Final = np.array([at for at in range(GUID_LENGTH) if at not in (8, 13, 18, 23)])  # the others are hyphens


def is_text(offsets: npt.NDArray[Any], data: npt.NDArray[np.uint8]) -> bool:
    """Whether Arrow's offsets ascend inside the data and all values are UTF-8, including those of null slots.

    >>> is_text(np.array([0, 1, 3], np.int32), np.frombuffer("né".encode(), np.uint8))
    True
    """
    return _kernels.is_text(offsets, data)


def texts_among(offsets: npt.NDArray[Any], data: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_] | None:
    r"""Which values are UTF-8; None if all are.

    >>> texts_among(np.array([0, 1, 2], np.int32), np.frombuffer(b"a\xff", np.uint8)).tolist()
    [True, False]
    """
    if is_text(offsets, data):
        return None
    ends = offsets.astype(np.int64, copy=False).tolist()
    return np.array([_is_utf8(data[start:end].tobytes()) for start, end in pairwise(ends)], np.bool_)


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def guid_texts(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The texts of GUIDs of 16 bytes, 36 characters each: lower-case digits in groups, as RFC 9562 writes them.

    >>> guid_texts(np.arange(16, dtype=np.uint8)).tobytes()
    b'00010203-0405-0607-0809-0a0b0c0d0e0f'
    """
    found = np.full((len(data) // 16, GUID_LENGTH), ord("-"), np.uint8)
    nibbles = np.stack((data >> 4, data & 15), axis=-1).reshape(-1, 32)
    found[:, _DIGITS] = _HEX[nibbles]
    return found.reshape(-1)


def first_not_json(values: Values, offsets: npt.NDArray[np.int64]) -> int | None:
    """The first value that is not null and is no JSON; None if there is none. `offsets` are those of the values."""
    if values.data is None:
        return None
    validity = None if values.validity is None else np.frombuffer(values.validity, np.uint8)
    found = _kernels.first_not_json(np.frombuffer(values.data, np.uint8), offsets, validity)
    return None if found < 0 else found
