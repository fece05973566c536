"""TruncateU8, U16, U32, U64: the low bits of signed values, which sign extension brings back."""

from tests.oracle import section as nested_section
from tests.oracle.common import (
    Encoder,
    bits_of,
    header_size,
    make_header,
    pack,
    read_header,
    require,
    size_of,
    unpack_exact,
    wrap,
)

CODES = {8: "u1", 9: "u2", 10: "u4", 11: "u8"}  # code: the type that is stored
TYPES = ("i2", "i4", "i8")
FIELDS = "B"  # values are nested


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """The stored unsigned values, read as signed ones of their width."""
    code = int.from_bytes(section[:2], "little")
    require(code in CODES, f"truncate: expected code 8..11, found {code}")
    target = CODES[code]
    require(size_of(target) <= size_of(dtype), f"truncate: {target} is wider than {dtype}")
    (nested,) = read_header(section, code, FIELDS)
    at = header_size(FIELDS)
    if nested:
        stored = nested_section.decode(section[at:], count, target, offset + at)
    else:
        stored = unpack_exact(section[at:], count, target)
    return [wrap(value, "i" + target[1]) for value in stored]


def encode(values: list[int], dtype: str, target: str, nested: Encoder | None = None) -> bytes:
    """The values as `target` ("u1", "u2", "u4", "u8"), nested or raw."""
    (code,) = [code for code, stored in CODES.items() if stored == target]
    require(size_of(target) <= size_of(dtype), f"truncate: {target} is wider than {dtype}")
    limit = 1 << (bits_of(target) - 1)
    require(all(-limit <= value < limit for value in values), f"truncate: some value needs more than {target}")
    stored = [wrap(value, target) for value in values]
    body = nested(stored, target) if nested else pack(stored, target)
    return make_header(code, FIELDS, nested is not None) + body
