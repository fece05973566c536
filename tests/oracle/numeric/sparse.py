"""Sparse: the positions that hold a value, and the values there; zero everywhere else."""

from tests.oracle import section as nested_section
from tests.oracle.common import (
    ALL,
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
    unpack,
    unpack_exact,
)

CODE = 19
TYPES = ALL
FIELDS = "IIBB"  # positions, their bytes, positions are nested, values are nested


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """Zeros, with the values put in at their positions."""
    filled, positions_size, positions_nested, values_nested = read_header(section, CODE, FIELDS)
    at = header_size(FIELDS)
    part = take(section, at, positions_size)
    if positions_nested:
        positions = nested_section.decode(part, filled, "u4", offset + at)
    else:
        positions = unpack_exact(part, filled, "u4")
    at += align8(positions_size)
    part = rest(section, at)
    stored = nested_section.decode(part, filled, dtype, offset + at) if values_nested else unpack(part, filled, dtype)
    values = [0] * count
    for position, value in zip(positions, stored, strict=True):
        require(position < count, f"sparse position: expected below {count}, found {position}")
        values[position] = value
    return values


def encode(
    values: list[int],
    dtype: str,
    nested_positions: Encoder | None = None,
    nested_values: Encoder | None = None,
    presence: list[bool] | None = None,
) -> bytes:
    """The slots that `presence` calls present, by default those that are not zero; each part nested or raw."""
    presence = [value != 0 for value in values] if presence is None else presence
    positions = [i for i, here in enumerate(presence) if here]
    stored = [values[i] for i in positions]
    first = nested_positions(positions, "u4") if nested_positions else pack(positions, "u4")
    second = nested_values(stored, dtype) if nested_values else pack(stored, dtype)
    header = make_header(
        CODE, FIELDS, len(positions), len(first), nested_positions is not None, nested_values is not None
    )
    return header + pad8(first) + second
