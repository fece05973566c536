"""Plain: raw offsets, then the values joined; nothing is aligned."""

from tests.oracle.binary import offsets
from tests.oracle.common import pack, require_code, rest, take

CODE = 1


def decode(region: bytes, count: int, fixed_size: int | None, presence: list[bool]) -> list[bytes | None]:
    """The values of the region."""
    require_code(region, CODE)
    offsets.require_width(take(region, 2, 1)[0], fixed_size)
    size = 8 * (count + 1) if fixed_size is None else 0
    found = offsets.decode(take(region, 3, size), count, fixed_size, nested=False, at=3)
    return list(offsets.cut(rest(region, 3 + size), found))


def encode(values: list[bytes], fixed_size: int | None = None) -> bytes:
    """Code, offset width, offsets, values."""
    width = offsets.WIDTH if fixed_size is None else 0
    return pack([CODE], "u2") + bytes([width]) + offsets.encode(values, fixed_size, None) + b"".join(values)
