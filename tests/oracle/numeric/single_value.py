"""SingleValue: all values are this one."""

from tests.oracle.common import ALL, pack, require, require_code, unpack

CODE = 7
TYPES = ALL


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """`count` times the value; bytes behind it are skipped without a look, as readers do."""
    require_code(section, CODE)
    return unpack(section[2:], 1, dtype) * count


def encode(values: list[int], dtype: str) -> bytes:
    """Code and value; no padding between them."""
    require(len(set(values)) == 1, f"single value: expected 1 distinct value, found {len(set(values))}")
    return pack([CODE], "u2") + pack(values[:1], dtype)
