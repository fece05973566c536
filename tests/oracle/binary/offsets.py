"""Where each value of a block starts and ends in the block's joined bytes."""

from itertools import accumulate

from tests.oracle import section
from tests.oracle.common import Encoder, pack, require, unpack_exact

WIDTH = 8


def require_width(width: int, fixed_size: int | None) -> None:
    """Values of any length have u64 offsets, values of one size have none."""
    expected = WIDTH if fixed_size is None else 0
    require(width == expected, f"offset width: expected {expected}, found {width}")


def decode(data: bytes, count: int, fixed_size: int | None, nested: bool, at: int) -> list[int]:
    """The `count + 1` offsets in `data`, which starts at `at` in its block (modulo 8) and holds nothing else."""
    if fixed_size is not None:
        require(data == b"", f"offsets: expected none for values of one size, found {len(data)} bytes")
        return [i * fixed_size for i in range(count + 1)]
    if nested:
        return section.decode(data, count + 1, "u8", at)
    return unpack_exact(data, count + 1, "u8")


def cut(data: bytes, offsets: list[int]) -> list[bytes]:
    """The values. Offsets start at 0, never decrease and end where the bytes end."""
    require(offsets[0] == 0, f"offsets: expected to start at 0, found {offsets[0]}")
    require(offsets == sorted(offsets), "offsets: expected not to decrease")
    require(offsets[-1] == len(data), f"offsets: expected to end at {len(data)}, found {offsets[-1]}")
    return [data[offsets[i] : offsets[i + 1]] for i in range(len(offsets) - 1)]


def of(values: list[bytes]) -> list[int]:
    """The offsets of `values` in their joined bytes."""
    return list(accumulate(map(len, values), initial=0))


def encode(values: list[bytes], fixed_size: int | None, nested: Encoder | None) -> bytes:
    """Offsets nested or raw; nothing for values of one size."""
    if fixed_size is None:
        return nested(of(values), "u8") if nested else pack(of(values), "u8")
    require(all(len(value) == fixed_size for value in values), f"values: expected {fixed_size} bytes each")
    return b""
