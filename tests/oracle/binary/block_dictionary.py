"""BlockDictionary: codes into the distinct values of the block; code 0 is null."""

from collections import Counter
from itertools import accumulate

from tests.oracle import section
from tests.oracle.binary import offsets
from tests.oracle.common import (
    Encoder,
    align8,
    header_size,
    make_header,
    pack,
    pad8,
    read_header,
    require,
    rest,
    take,
    unpack_exact,
)
from tests.oracle.numeric import plain

CODE = 14
FIELDS = "IIIB"  # bytes of the codes, bytes of the lengths, entries, lengths are nested


def decode(region: bytes, count: int, fixed_size: int | None, presence: list[bool]) -> list[bytes | None]:
    """None for code 0, entry c - 1 for code c; presence has no say."""
    codes_size, lengths_size, entries, lengths_nested = read_header(region, CODE, FIELDS)
    require(entries >= 1, "dictionary: expected at least 1 entry, found 0")
    at = header_size(FIELDS)
    codes = section.decode(take(region, at, codes_size), count, "u4", at)
    at += align8(codes_size)
    if fixed_size is not None:
        require(lengths_size == 0, f"dictionary lengths: expected none for values of one size, found {lengths_size}")
        require(entries <= section.MAX_COUNT, f"dictionary: the oracle does not read {entries} entries")
        lengths = [fixed_size] * entries
    else:
        part = take(region, at, lengths_size)
        lengths = section.decode(part, entries, "u4", at) if lengths_nested else unpack_exact(part, entries, "u4")
    at += lengths_size
    starts = list(accumulate(lengths, initial=0))
    data = rest(region, at)
    require(starts[-1] <= len(data), f"dictionary entries: expected {starts[-1]} bytes, found {len(data)}")
    for code in codes:
        require(code <= entries, f"dictionary code: expected at most {entries}, found {code}")
    return [data[starts[code - 1] : starts[code]] if code else None for code in codes]


def encode(
    values: list[bytes | None],
    fixed_size: int | None = None,
    nested_codes: Encoder = plain.encode,
    nested_lengths: Encoder | None = None,
    entries: list[bytes] | None = None,
) -> bytes:
    """None becomes code 0. `entries` are by default the values by descending frequency, and at least one."""
    if entries is None:
        found = Counter(value for value in values if value is not None)
        entries = [value for value, _ in found.most_common()] or [bytes(fixed_size or 0)]
    codes = nested_codes([0 if value is None else entries.index(value) + 1 for value in values], "u4")
    lengths = b""
    if fixed_size is None:
        sizes = [len(entry) for entry in entries]
        lengths = nested_lengths(sizes, "u4") if nested_lengths else pack(sizes, "u4")
    else:
        offsets.encode(entries, fixed_size, None)  # for its check of the sizes
    nested = fixed_size is None and nested_lengths is not None
    header = make_header(CODE, FIELDS, len(codes), len(lengths), len(entries), nested)
    return header + pad8(codes) + lengths + b"".join(entries)
