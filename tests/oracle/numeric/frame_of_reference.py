"""FOR: distances from a reference, as a nested unsigned section."""

from tests.oracle import section as nested_section
from tests.oracle.common import INTEGERS, Encoder, header_size, make_header, read_header, unsigned, wrap

CODE = 3
TYPES = INTEGERS
FIELDS = {"1": "B", "2": "H", "4": "I", "8": "Q"}  # reference, by the bytes of the type


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """Reference plus distance, modulo the width of the type."""
    fields = FIELDS[dtype[1]]
    (reference,) = read_header(section, CODE, fields)
    at = header_size(fields)
    distances = nested_section.decode(section[at:], count, unsigned(dtype), offset + at)
    return [wrap(reference + distance, dtype) for distance in distances]


def encode(values: list[int], dtype: str, nested: Encoder, reference: int | None = None) -> bytes:
    """Distances from `reference`, by default the smallest value."""
    reference = min(values) if reference is None else reference
    distances = [wrap(value - reference, unsigned(dtype)) for value in values]
    header = make_header(CODE, FIELDS[dtype[1]], wrap(reference, unsigned(dtype)))
    return header + nested(distances, unsigned(dtype))
