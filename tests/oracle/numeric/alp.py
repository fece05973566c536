"""ALP: floats that are short decimals, stored as integers; the rest as exceptions.

All arithmetic is in the float type itself, left to right, every step rounded to nearest even. Python computes in f64;
for f32 each step is rounded once more. f64 has twice the bits of f32 and some, so that rounding twice changes nothing.
"""

import math
import struct

from tests.oracle import section as nested_section
from tests.oracle.common import (
    FLOATS,
    Encoder,
    header_size,
    make_header,
    pack,
    read_header,
    require,
    rest,
    size_of,
    take,
    unpack,
    unpack_exact,
)

CODE = 12
TYPES = FLOATS
FIELDS = "IHBB"  # bytes of the nested integers, exceptions, exponent, factor

INTEGER = {"f4": "i4", "f8": "i8"}
WHOLE = {"f4": float(2**23), "f8": float(2**52)}  # from here on all floats are integers


def to_bits(value: float, dtype: str) -> int:
    """The bit pattern of a float of this type."""
    return int.from_bytes(struct.pack("<" + {"f4": "f", "f8": "d"}[dtype], value), "little")


def from_bits(bits: int, dtype: str) -> float:
    """The float with this bit pattern."""
    (value,) = struct.unpack("<" + {"f4": "f", "f8": "d"}[dtype], bits.to_bytes(size_of(dtype), "little"))
    return float(value)


def rounded(value: float, dtype: str) -> float:
    """The float of type `dtype` nearest to `value`."""
    if dtype == "f8":
        return value
    try:
        return from_bits(to_bits(value, dtype), dtype)
    except OverflowError:
        return math.copysign(math.inf, value)


# Correctly rounded decimal literals; powers computed by multiplication or division would differ.
F10 = {
    "f4": [rounded(float(f"1e{i}"), "f4") for i in range(11)],
    "f8": [float(f"1e{i}") for i in range(24)],
}
IF10 = {
    "f4": [rounded(float(f"1e-{i}"), "f4") for i in range(11)],
    "f8": [float(f"1e-{i}") for i in range(24)],
}


def to_float(integer: int, exponent: int, factor: int, dtype: str) -> float:
    """The float that a stored integer stands for."""
    scaled = rounded(rounded(float(integer), dtype) * F10[dtype][factor], dtype)
    return rounded(scaled * IF10[dtype][exponent], dtype)


def to_integer(value: float, exponent: int, factor: int, dtype: str) -> int:
    """The integer that stands for `value`, if any does."""
    scaled = rounded(value * F10[dtype][exponent], dtype)
    scaled = rounded(scaled * IF10[dtype][factor], dtype)
    away = math.copysign(WHOLE[dtype], scaled)
    scaled = rounded(rounded(scaled + away, dtype) - away, dtype)
    if math.isnan(scaled):
        return 0
    limit = 1 << (8 * size_of(dtype) - 1)
    if math.isinf(scaled):
        return limit - 1 if scaled > 0 else -limit
    return max(-limit, min(limit - 1, int(scaled)))


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """Bit patterns of the floats the integers stand for, with the exceptions put in."""
    integers_size, exceptions, exponent, factor = read_header(section, CODE, FIELDS)
    last = len(F10[dtype]) - 1
    require(exponent <= last, f"ALP exponent: expected 0..{last}, found {exponent}")
    require(factor <= last, f"ALP factor: expected 0..{last}, found {factor}")
    at = header_size(FIELDS)
    integers = nested_section.decode(take(section, at, integers_size), count, INTEGER[dtype], offset + at)
    values = [to_bits(to_float(integer, exponent, factor, dtype), dtype) for integer in integers]
    if exceptions:
        tail = rest(section, at + integers_size)
        positions = unpack(tail, exceptions, "u4")
        originals = unpack_exact(tail[4 * exceptions :], exceptions, dtype)
        for position, original in zip(positions, originals, strict=True):
            require(position < count, f"ALP exception: expected a position below {count}, found {position}")
            values[position] = original
    return values


def encode(values: list[int], dtype: str, exponent: int, factor: int, nested: Encoder) -> bytes:
    """Integers for the bit patterns that come back exactly, exceptions for all others (NaN, infinities, -0.0)."""
    integers = [to_integer(from_bits(value, dtype), exponent, factor, dtype) for value in values]
    exact = [
        to_bits(to_float(integer, exponent, factor, dtype), dtype) == value
        for integer, value in zip(integers, values, strict=True)
    ]
    positions = [i for i in range(len(values)) if not exact[i]]
    require(len(positions) <= 65535, f"ALP exceptions: expected at most 65535, found {len(positions)}")
    if True in exact:
        # Any integer will do under an exception; one that is there anyway keeps the range small.
        fill = integers[exact.index(True)]
        integers = [integer if ok else fill for integer, ok in zip(integers, exact, strict=True)]
    body = nested(integers, INTEGER[dtype])
    header = make_header(CODE, FIELDS, len(body), len(positions), exponent, factor)
    return header + body + pack(positions, "u4") + pack([values[i] for i in positions], dtype)
