"""ZSTD: the raw values as a Zstandard frame."""

from tests.oracle import codec
from tests.oracle.common import ALL, header_size, make_header, pack, read_header, size_of, unpack_exact

CODE = 16
TYPES = ALL
FIELDS = ""


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """The values that the frame holds; exactly `count` of them."""
    read_header(section, CODE, FIELDS)
    data = codec.zstd_decompress(section[header_size(FIELDS) :], count * size_of(dtype))
    return unpack_exact(data, count, dtype)


def encode(values: list[int], dtype: str, level: int = 3) -> bytes:
    """One frame of all values."""
    return make_header(CODE, FIELDS) + codec.zstd_compress(pack(values, dtype), level)
