"""Pco: the values as one page that the package `pcodec` has compressed."""

import numpy as np

from tests.oracle import codec
from tests.oracle.common import ALL, header_size, make_header, pack, read_header, size_of, unpack_exact

CODE = 0x8003
TYPES = tuple(dtype for dtype in ALL if size_of(dtype) > 1)
FIELDS = ""


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """The values of the page."""
    read_header(section, CODE, FIELDS)
    return unpack_exact(codec.pco_decompress(section[header_size(FIELDS) :], count, dtype), count, dtype)


def encode(values: list[int], dtype: str) -> bytes:
    """One page of all values."""
    return make_header(CODE, FIELDS) + codec.pco_compress(np.frombuffer(pack(values, dtype), dtype))
