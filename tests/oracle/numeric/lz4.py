"""LZ4: the raw values as a raw LZ4 block behind their size."""

from tests.oracle import codec
from tests.oracle.common import ALL, header_size, make_header, pack, read_header, size_of, unpack_exact

CODE = 17
TYPES = ALL
FIELDS = ""


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """The values that the block holds; exactly `count` of them."""
    read_header(section, CODE, FIELDS)
    data = codec.lz4_decompress(section[header_size(FIELDS) :], count * size_of(dtype))
    return unpack_exact(data, count, dtype)


def encode(values: list[int], dtype: str) -> bytes:
    """One block of all values."""
    return make_header(CODE, FIELDS) + codec.lz4_compress(pack(values, dtype))
