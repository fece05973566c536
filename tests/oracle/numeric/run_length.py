"""RunLength: values, and behind them how often each is repeated."""

from tests.oracle import section as nested_section
from tests.oracle.common import (
    ALL,
    Encoder,
    OracleError,
    align8,
    header_size,
    make_header,
    pack,
    read_header,
    require,
    rest,
    take,
    unpack,
    unpack_exact,
)

CODE = 6
TYPES = ALL
FIELDS = "IIBB"  # bytes of the values part, runs, values are nested, lengths are nested


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """Each value as often as its length says; the lengths must sum to `count`."""
    values_size, runs, values_nested, lengths_nested = read_header(section, CODE, FIELDS)
    at = header_size(FIELDS)
    part = take(section, at, values_size)
    values = nested_section.decode(part, runs, dtype, offset + at) if values_nested else unpack_exact(part, runs, dtype)

    # Lengths sit at align8 counted from the section. There are files that count from the block instead, which differs
    # where the section itself is not 8-aligned: look there only when the right place makes no sense.
    try:
        lengths = _lengths(section, at + align8(values_size), count, runs, bool(lengths_nested), offset)
    except OracleError:
        if offset % 8 == 0:
            raise
        start = align8(offset + at + values_size) - offset
        lengths = _lengths(section, start, count, runs, bool(lengths_nested), offset)
    return [value for value, length in zip(values, lengths, strict=True) for _ in range(length)]


def _lengths(section: bytes, start: int, count: int, runs: int, nested: bool, offset: int) -> list[int]:
    part = rest(section, start)
    lengths = nested_section.decode(part, runs, "u4", offset + start) if nested else unpack(part, runs, "u4")
    require(sum(lengths) == count, f"run lengths: expected a sum of {count}, found {sum(lengths)}")
    return lengths


def encode(
    values: list[int],
    dtype: str,
    nested_values: Encoder | None = None,
    nested_lengths: Encoder | None = None,
    padded_for: int = 0,
) -> bytes:
    """Runs of equal values, each part nested or raw.

    `padded_for` is for files that count the padding from the block: the offset in the block for which it is right.
    """
    runs: list[list[int]] = []
    for value in values:
        if runs and runs[-1][0] == value:
            runs[-1][1] += 1
        else:
            runs.append([value, 1])
    heads, lengths = [head for head, _ in runs], [length for _, length in runs]
    first = nested_values(heads, dtype) if nested_values else pack(heads, dtype)
    second = nested_lengths(lengths, "u4") if nested_lengths else pack(lengths, "u4")
    header = make_header(CODE, FIELDS, len(first), len(runs), nested_values is not None, nested_lengths is not None)
    padding = -(padded_for + len(header) + len(first)) % 8
    return header + first + bytes(padding) + second
