"""The values of a block of strings or bytes: which encoding is it?"""

from types import ModuleType
from typing import Final

from tests.oracle.binary import (
    block_dictionary,
    fsst,
    lz4,
    lz4_shared,
    plain,
    single_value,
    snappy,
    zstd,
    zstd_shared,
)
from tests.oracle.common import OracleError, require

CATALOG: Final[dict[int, ModuleType]] = {
    1: plain,
    7: single_value,
    14: block_dictionary,
    15: fsst,
    16: zstd,
    17: lz4,
    0x8004: snappy,
    0x8005: zstd_shared,
    0x8006: lz4_shared,
}


def code(region: bytes) -> int:
    """The code a region starts with."""
    require(len(region) >= 2, f"values region: expected a code of 2 bytes, found {len(region)}")
    return int.from_bytes(region[:2], "little")


def decode(region: bytes, count: int, fixed_size: int | None, presence: list[bool]) -> list[bytes | None]:
    """The `count` values of `region`; None only where the encoding itself says null."""
    encoding = CATALOG.get(code(region))
    if encoding is None:
        raise OracleError(f"values region: expected an encoding of bytes, found code {code(region)}")
    values: list[bytes | None] = encoding.decode(region, count, fixed_size, presence)
    return values
