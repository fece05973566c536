"""Blocks of the numbers and terms of an index.

The encodings are chosen by what the columns of an index hold, not by trying many of them.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding import NUMERIC, EncodingPlan, compress_zstd, encode_section, steps_section

__all__ = [
    "U64",
    "block",
    "packed_program",
    "packed_steps_program",
    "plain_section",
    "plain_terms",
    "shortest_steps",
    "term_block",
    "zstd_section",
]

U8 = npt.NDArray[np.uint8]
U64 = npt.NDArray[np.uint64]

_BY_NAME: Final = {encoding.name: encoding for encoding in NUMERIC}
_PACKED: Final = EncodingPlan(_BY_NAME["fl_bit_pack"])
packed_program: Final = _PACKED.program
packed_steps_program: Final = EncodingPlan(_BY_NAME["delta"], (_PACKED,)).program
_PLAIN: Final = _BY_NAME["plain"].code.to_bytes(2, "little")
_ZSTD_HEADER: Final = _BY_NAME["zstd"].code.to_bytes(8, "little")


def block(section: bytes) -> bytes:
    """A block of values without nulls."""
    return _kernels.build_block(b"", section, True)


def plain_section(values: U64) -> bytes:
    """The values, not encoded."""
    return _PLAIN + values.tobytes()


def zstd_section(frame: bytes) -> bytes:
    """A section that holds a Zstandard frame of the plain values."""
    return _ZSTD_HEADER + frame


def shortest_steps(values: U64, *, compress: bool) -> bytes:
    """Ascending values in their shortest form. Compressed forms are tried only if `compress`."""
    if len(values) < 8:
        return plain_section(values)
    forms = [plain_section(values), encode_section(values, packed_steps_program)]
    if compress:
        forms.append(steps_section(values))
    return min(forms, key=len)


def term_block(offsets: U64, data: U8, level: int, *, compress: bool) -> bytes:
    """A block of compressed terms, or of plain terms if that is shorter.

    `offsets` begins with 0. The offsets may be compressed as well if `compress`.
    """
    frame = compress_zstd(data.data, level) if len(data) else b""
    if not frame or len(frame) >= len(data):
        return plain_terms(offsets, data)
    compressed = block(_kernels.zstd_region(frame, shortest_steps(offsets, compress=compress), True))
    # Plain terms take at least their bytes.
    return compressed if len(compressed) < len(data) else min(plain_terms(offsets, data), compressed, key=len)


def plain_terms(offsets: U64, data: U8) -> bytes:
    """A block of plain terms."""
    return block(_kernels.plain_region(offsets.view(np.int64), data))
