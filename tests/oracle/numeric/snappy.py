"""Snappy: the raw values as one Snappy block."""

from tests.oracle import codec
from tests.oracle.common import ALL, header_size, make_header, pack, read_header, size_of, unpack_exact

CODE = 0x8004
TYPES = ALL
FIELDS = ""


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """The values that the block holds; exactly `count` of them."""
    read_header(section, CODE, FIELDS)
    return unpack_exact(codec.snappy_decompress(section[header_size(FIELDS) :], count * size_of(dtype)), count, dtype)


def encode(values: list[int], dtype: str) -> bytes:
    """One block of all values."""
    return make_header(CODE, FIELDS) + codec.snappy_compress(pack(values, dtype))
