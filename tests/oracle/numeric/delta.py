"""Delta: the first value, then the differences as a nested section of the same type."""

from tests.oracle import section as nested_section
from tests.oracle.common import INTEGERS, Encoder, header_size, make_header, read_header, require, unsigned, wrap

CODE = 5
TYPES = INTEGERS
FIELDS = {"1": "B", "2": "H", "4": "I", "8": "Q"}  # first value, by the bytes of the type


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """Running sums, modulo the width of the type."""
    require(count >= 1, "delta: expected at least 1 value, found 0")
    fields = FIELDS[dtype[1]]
    (base,) = read_header(section, CODE, fields)
    at = header_size(fields)
    values = [wrap(base, dtype)]
    for difference in nested_section.decode(section[at:], count - 1, dtype, offset + at):
        values.append(wrap(values[-1] + difference, dtype))
    return values


def encode(values: list[int], dtype: str, nested: Encoder) -> bytes:
    """Differences wrap: for unsigned types a decrease is a large number."""
    require(len(values) >= 1, "delta: expected at least 1 value, found 0")
    differences = [wrap(values[i] - values[i - 1], dtype) for i in range(1, len(values))]
    return make_header(CODE, FIELDS[dtype[1]], wrap(values[0], unsigned(dtype))) + nested(differences, dtype)
