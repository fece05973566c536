"""ZigZag: signed values as unsigned ones, small for small distances from zero."""

from tests.oracle import section as nested_section
from tests.oracle.common import (
    SIGNED,
    Encoder,
    header_size,
    make_header,
    pack,
    read_header,
    unpack_exact,
    unsigned,
)

CODE = 18
TYPES = SIGNED
FIELDS = "B"  # values are nested


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """0, 1, 2, 3, 4 become 0, -1, 1, -2, 2."""
    (nested,) = read_header(section, CODE, FIELDS)
    at = header_size(FIELDS)
    if nested:
        stored = nested_section.decode(section[at:], count, unsigned(dtype), offset + at)
    else:
        stored = unpack_exact(section[at:], count, unsigned(dtype))
    return [-(value + 1) // 2 if value % 2 else value // 2 for value in stored]


def encode(values: list[int], dtype: str, nested: Encoder | None = None) -> bytes:
    """0, -1, 1, -2, 2 become 0, 1, 2, 3, 4; nested or raw."""
    stored = [-2 * value - 1 if value < 0 else 2 * value for value in values]
    body = nested(stored, unsigned(dtype)) if nested else pack(stored, unsigned(dtype))
    return make_header(CODE, FIELDS, nested is not None) + body
