"""Where can a number be? The buffer that says it for every 256 positions."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from amudai.types import BasicType
from tests.forge.content import Buffer, BufferKind
from tests.oracle import block
from tests.oracle.common import pack
from tests.oracle.numeric import plain

HEADER = "<HBBQQQQHH"  # version, type, checksums, span, sizes of the three payloads, positions per block, 0


def range_index(values: Sequence[int | None], dtype: str, basic_type: BasicType, size: int = 256) -> Buffer:
    """The range index of these integers; None is null."""
    parts = [values[at : at + size] for at in range(0, len(values), size)]
    known = [[value for value in part if value is not None] for part in parts]
    minima = pack([min(part, default=0) for part in known], dtype)
    maxima = pack([max(part, default=0) for part in known], dtype)
    counts = [len(part) - len(sound) for part, sound in zip(parts, known, strict=True)]
    payloads = [_bytes_block(minima), _bytes_block(maxima), _bytes_block(pack(counts, "u2")) if any(counts) else b""]
    sizes = map(len, payloads)
    raw = struct.pack(HEADER, 1, basic_type, 1, len(values), *sizes, size, 0) + b"".join(payloads)
    return Buffer(kind=BufferKind.RANGE_INDEX, raw=raw + bytes(-len(raw) % 64))


def _bytes_block(data: bytes) -> bytes:
    return block.build(b"", plain.encode(list(data), "u1"))
