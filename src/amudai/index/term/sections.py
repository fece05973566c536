"""How do the numbers and terms of an index become blocks?

An index knows what its columns hold: nothing is chosen here by trying many encodings.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding import NUMERIC, Plan, compress_small_numbers, compress_zstd, encode_section

__all__ = [
    "U64",
    "block",
    "packed_program",
    "packed_steps_program",
    "plain_section",
    "shortest_steps",
    "steps_section",
    "term_block",
    "zstd_section",
]

U8 = npt.NDArray[np.uint8]
U64 = npt.NDArray[np.uint64]

_BY_NAME: Final = {encoding.name: encoding for encoding in NUMERIC}
_PACKED: Final = Plan(_BY_NAME["fl_bit_pack"])
packed_program: Final = _PACKED.program
packed_steps_program: Final = Plan(_BY_NAME["delta"], (_PACKED,)).program
_PLAIN: Final = _BY_NAME["plain"].code.to_bytes(2, "little")
_ZSTD_HEADER: Final = _BY_NAME["zstd"].code.to_bytes(8, "little")
_DELTA_HEADER: Final = Struct("<HQ6x")
_DELTA: Final = _BY_NAME["delta"].code


def block(section: bytes) -> bytes:
    """A block of values that are all there."""
    return _kernels.build_block(b"", section, True)


def plain_section(values: U64) -> bytes:
    """The values as they are."""
    return _PLAIN + values.tobytes()


def zstd_section(frame: bytes) -> bytes:
    """A Zstandard frame of the values as they are."""
    return _ZSTD_HEADER + frame


def steps_section(values: U64) -> bytes:
    """The first value and the compressed steps to the next ones; there are at least two values."""
    steps = np.diff(values)
    frame = compress_small_numbers(steps.data)
    return b"".join((_DELTA_HEADER.pack(_DELTA, int(values[0])), _ZSTD_HEADER, frame))


def shortest_steps(values: U64) -> bytes:
    """Ascending values in the form that is shorter here."""
    if len(values) < 8:
        return plain_section(values)
    compressed, packed = steps_section(values), encode_section(values, packed_steps_program)
    return min(plain_section(values), compressed, packed, key=len)


def term_block(offsets: U64, data: U8, level: int) -> bytes:
    """A block of terms: `offsets` begin with 0."""
    plain = _kernels.plain_region(offsets.view(np.int64), data)
    frame = compress_zstd(data.data, level) if len(data) else b""
    if not frame or len(frame) >= len(data):
        return block(plain)
    compressed = _kernels.zstd_region(frame, shortest_steps(offsets), True)
    return block(min(plain, compressed, key=len))
