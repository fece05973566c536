"""FFOR: distances from a reference, bit-packed in place."""

from tests.oracle import bits
from tests.oracle.common import INTEGERS, header_size, make_header, read_header, require, unsigned, wrap

CODE = 4
TYPES = INTEGERS
FIELDS = {"1": "BB", "2": "HB", "4": "IB", "8": "QB"}  # reference and bit width, by the bytes of the type


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """Reference plus unpacked distance, modulo the width of the type."""
    fields = FIELDS[dtype[1]]
    reference, width = read_header(section, CODE, fields)
    distances = bits.unpack_all(section[header_size(fields) :], count, width, dtype)
    return [wrap(reference + distance, dtype) for distance in distances]


def encode(values: list[int], dtype: str, reference: int | None = None, width: int | None = None) -> bytes:
    """Distances from `reference` (by default the smallest value) in `width` bits (by default as many as needed)."""
    reference = min(values) if reference is None else reference
    distances = [wrap(value - reference, unsigned(dtype)) for value in values]
    needed = max([1, *(distance.bit_length() for distance in distances)])
    width = needed if width is None else width
    require(needed <= width, f"bit width: expected at least {needed}, found {width}")
    header = make_header(CODE, FIELDS[dtype[1]], wrap(reference, unsigned(dtype)), width)
    # The last chunk is filled up with the value 0, not with the distance 0.
    return header + bits.pack_all(distances, width, dtype, filler=-reference)
