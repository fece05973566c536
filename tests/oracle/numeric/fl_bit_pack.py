"""FLBitPack: unsigned values in as few bits as the largest one needs."""

from tests.oracle import bits
from tests.oracle.common import UNSIGNED, header_size, make_header, read_header, require

CODE = 2
TYPES = UNSIGNED
FIELDS = "B"  # bit width


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """The unpacked values."""
    (width,) = read_header(section, CODE, FIELDS)
    return bits.unpack_all(section[header_size(FIELDS) :], count, width, dtype)


def encode(values: list[int], dtype: str, width: int | None = None) -> bytes:
    """Values packed in `width` bits, by default those of the largest value. A width of 0 does not exist."""
    needed = max([1, *(value.bit_length() for value in values)])
    width = needed if width is None else width
    require(needed <= width, f"bit width: expected at least {needed}, found {width}")
    return make_header(CODE, FIELDS, width) + bits.pack_all(values, width, dtype)
