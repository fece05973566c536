"""BlockDictionary: codes into the distinct values of the block; code 0 stands for null and decodes to zero."""

from collections import Counter

from tests.oracle import section as nested_section
from tests.oracle.common import (
    ALL,
    Encoder,
    header_size,
    make_header,
    pack,
    read_header,
    require,
    rest,
    take,
    unpack,
)

CODE = 14
TYPES = ALL
FIELDS = "IIB"  # bytes of the codes, distinct values, values are nested


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """Zero for code 0, entry c - 1 for code c."""
    codes_size, entries, values_nested = read_header(section, CODE, FIELDS)
    at = header_size(FIELDS)
    codes = nested_section.decode(take(section, at, codes_size), count, "u4", offset + at)
    at += codes_size
    part = rest(section, at)
    values = nested_section.decode(part, entries, dtype, offset + at) if values_nested else unpack(part, entries, dtype)
    for code in codes:
        require(code <= entries, f"dictionary code: expected at most {entries}, found {code}")
    return [values[code - 1] if code else 0 for code in codes]


def encode(
    values: list[int],
    dtype: str,
    nested_codes: Encoder,
    nested_values: Encoder | None = None,
    presence: list[bool] | None = None,
) -> bytes:
    """Entries by descending frequency, null slots included; slots that `presence` calls null get code 0."""
    presence = [True] * len(values) if presence is None else presence
    entries = [value for value, _ in Counter(values).most_common()]
    codes = [entries.index(value) + 1 if here else 0 for value, here in zip(values, presence, strict=True)]
    first = nested_codes(codes, "u4")
    second = nested_values(entries, dtype) if nested_values else pack(entries, dtype)
    return make_header(CODE, FIELDS, len(first), len(entries), nested_values is not None) + first + second
