"""One encoded stream of numbers: which encoding is it, and may this type use it?"""

from types import ModuleType
from typing import Final

from tests.oracle.common import OracleError, require
from tests.oracle.numeric import (
    alp,
    alprd,
    block_dictionary,
    chimp,
    delta,
    ffor,
    fl_bit_pack,
    frame_of_reference,
    lz4,
    patched,
    pco,
    plain,
    run_length,
    single_value,
    snappy,
    sparse,
    truncate,
    zig_zag,
    zstd,
)

# The keys are spelled out: these modules import this one, so their own codes may not be known yet.
CATALOG: Final[dict[int, ModuleType]] = {
    1: plain,
    2: fl_bit_pack,
    3: frame_of_reference,
    4: ffor,
    5: delta,
    6: run_length,
    7: single_value,
    8: truncate,
    9: truncate,
    10: truncate,
    11: truncate,
    12: alp,
    13: alprd,
    14: block_dictionary,
    16: zstd,
    17: lz4,
    18: zig_zag,
    19: sparse,
    0x8001: patched,
    0x8002: chimp,
    0x8003: pco,
    0x8004: snappy,
}

# A nested count is read from the section, and a SingleValue of ten bytes could be asked for four billion copies.
MAX_COUNT = 1 << 24


def decode(section: bytes, count: int, dtype: str, offset_in_block: int = 0) -> list[int]:
    """The `count` values of `section`, which is the exact slice of bytes its parent gives it.

    `offset_in_block` says where the section starts in its block; only RunLength ever wants to know.
    """
    require(count <= MAX_COUNT, f"section: the oracle decodes at most {MAX_COUNT} values, found {count}")
    require(len(section) >= 2, f"section: expected a code of 2 bytes, found {len(section)}")
    code = int.from_bytes(section[:2], "little")
    encoding = CATALOG.get(code)
    if encoding is None:
        raise OracleError(f"section: expected a numeric encoding, found code {code}")
    require(dtype in encoding.TYPES, f"section: code {code} is not for {dtype}")
    try:
        values: list[int] = encoding.decode(section, count, dtype, offset_in_block)
    except RecursionError as error:
        # The format sets no depth; Python does.
        raise OracleError("section: nested too deeply") from error
    return values
