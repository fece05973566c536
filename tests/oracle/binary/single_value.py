"""SingleValue: every slot that is not null holds this value."""

from tests.oracle.common import pack, require, require_code

CODE = 7


def decode(region: bytes, count: int, fixed_size: int | None, presence: list[bool]) -> list[bytes | None]:
    """`count` times the value, which goes to the end of the region."""
    require_code(region, CODE)
    value = region[2:]
    require(fixed_size in (None, len(value)), f"single value: expected {fixed_size} bytes, found {len(value)}")
    return [value] * count


def encode(values: list[bytes], fixed_size: int | None = None) -> bytes:
    """Code and value; the values must all be the same."""
    require(len(set(values)) == 1, f"single value: expected 1 distinct value, found {len(set(values))}")
    require(fixed_size in (None, len(values[0])), f"single value: expected {fixed_size} bytes")
    return pack([CODE], "u2") + values[0]
