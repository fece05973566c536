"""Plain: the values as they are, directly behind the code."""

from tests.oracle.common import ALL, pack, require_code, unpack_exact

CODE = 1
TYPES = ALL


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """The values of the section, which holds nothing else."""
    require_code(section, CODE)
    return unpack_exact(section[2:], count, dtype)


def encode(values: list[int], dtype: str) -> bytes:
    """Code and raw values; no padding between them."""
    return pack([CODE], "u2") + pack(values, dtype)
