"""ALPRD: floats cut in two. The left bits are codes into a small dictionary, the right bits are stored unchanged."""

from collections import Counter

from tests.oracle import section as nested_section
from tests.oracle.common import (
    FLOATS,
    Encoder,
    bits_of,
    header_size,
    make_header,
    pack,
    read_header,
    require,
    rest,
    take,
    unpack,
    unpack_exact,
    unsigned,
)

CODE = 13
TYPES = FLOATS
FIELDS = "IIHBB"  # bytes of the left and the right section, exceptions, bits on the right, dictionary entries


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """Bit patterns: left part over right part; exceptions name their left part themselves."""
    left_size, right_size, exceptions, right_bits, entries = read_header(section, CODE, FIELDS)
    require(right_bits < bits_of(dtype), f"ALPRD right bits: expected below {bits_of(dtype)}, found {right_bits}")
    require(entries <= 8, f"ALPRD dictionary: expected at most 8 entries, found {entries}")
    at = header_size(FIELDS)
    dictionary = unpack(take(section, at, 2 * entries), entries, "u2")
    at += 2 * entries
    indexes = nested_section.decode(take(section, at, left_size), count, "u2", offset + at)
    at += left_size
    rights = nested_section.decode(take(section, at, right_size), count, unsigned(dtype), offset + at)
    at += right_size

    for index in indexes:
        require(index < entries, f"ALPRD index: expected below {entries}, found {index}")
    lefts = [dictionary[index] for index in indexes]
    if exceptions:
        tail = rest(section, at)
        positions = unpack(tail, exceptions, "u4")
        originals = unpack_exact(tail[4 * exceptions :], exceptions, "u2")
        for position, original in zip(positions, originals, strict=True):
            require(position < count, f"ALPRD exception: expected a position below {count}, found {position}")
            lefts[position] = original
    mask = (1 << bits_of(dtype)) - 1
    return [(left << right_bits | right) & mask for left, right in zip(lefts, rights, strict=True)]


def encode(
    values: list[int],
    dtype: str,
    right_bits: int,
    nested_left: Encoder,
    nested_right: Encoder,
    dictionary: list[int] | None = None,
) -> bytes:
    """Bit patterns cut at `right_bits`; the dictionary is by default the eight most frequent left parts."""
    width = bits_of(dtype)
    # Fewer right bits would leave more on the left than the u16 of a dictionary entry holds.
    require(width - 16 <= right_bits < width, f"ALPRD right bits: {right_bits} do not suit {dtype}")
    lefts = [value >> right_bits for value in values]
    rights = [value % (1 << right_bits) for value in values]
    if dictionary is None:
        dictionary = [left for left, _ in Counter(lefts).most_common(8)]
    positions = [i for i, left in enumerate(lefts) if left not in dictionary]
    require(len(positions) <= 65535, f"ALPRD exceptions: expected at most 65535, found {len(positions)}")
    left = nested_left([dictionary.index(left) if left in dictionary else 0 for left in lefts], "u2")
    right = nested_right(rights, unsigned(dtype))
    header = make_header(CODE, FIELDS, len(left), len(right), len(positions), right_bits, len(dictionary))
    tail = pack(positions, "u4") + pack([lefts[i] for i in positions], "u2")
    return header + pack(dictionary, "u2") + left + right + tail
