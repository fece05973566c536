"""Range indexes: the smallest and the largest value of each stretch of positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.decode import inflate
from amudai.errors import CorruptedData, UnsupportedFeature
from amudai.format import RangeIndexHeader
from amudai.limits import DEFAULT_LIMITS, Limits
from amudai.types import SchemaNode, bounds_node, decimal128

__all__ = ["RangeIndex", "decode_range_index"]

_MAX_PAYLOAD: Final = 0xFFFF_FFFF  # kernels number the slots of a block with 32 bits


@dataclass(frozen=True, slots=True, eq=False)
class RangeIndex:
    """A decoded range index: one entry for each stretch of `size` positions. The last stretch may be shorter.

    Attributes
    ----------
    least, greatest
        Numbers of the field's type; for decimals, rows of 16 bytes. Undefined for a stretch without valid values.
    invalid
        How many positions of each stretch are null or NaN; None if there are none at all.
    """

    span: int
    size: int
    least: npt.NDArray[Any]
    greatest: npt.NDArray[Any]
    invalid: npt.NDArray[np.uint16] | None


def decode_range_index(
    buffer: memoryview, node: SchemaNode, positions: int, verify: bool = True, limits: Limits = DEFAULT_LIMITS
) -> RangeIndex:
    """Decode the range index of a field that has `positions` positions."""
    node = bounds_node(node)
    header = RangeIndexHeader.decode(buffer, node, expected_span=positions)
    payloads = header.payloads(buffer, verify)
    count = header.logical_block_count
    low, high = (_decoded(payload, count * header.width, header.has_checksum, limits) for payload in payloads[:2])
    if node.is_decimal:
        least, greatest = low.reshape(-1, decimal128.SIZE), high.reshape(-1, decimal128.SIZE)
    else:
        least, greatest = low.view(f"<{node.dtype}"), high.view(f"<{node.dtype}")
    invalid: npt.NDArray[np.uint16] | None = None
    if len(payloads[2]):
        invalid = _decoded(payloads[2], 2 * count, header.has_checksum, limits).view("<u2")
        last = header.span - (count - 1) * header.logical_block_size
        if int(invalid.max()) > header.logical_block_size or int(invalid[-1]) > last:
            raise CorruptedData(
                f"range index invalid counts: expected at most {header.logical_block_size} ({last} last)"
            )
    return RangeIndex(header.span, header.logical_block_size, least, greatest, invalid)


def _decoded(payload: memoryview, size: int, has_checksum: bool, limits: Limits) -> npt.NDArray[np.uint8]:
    if size > _MAX_PAYLOAD:
        raise UnsupportedFeature(f"range index payload: expected at most {_MAX_PAYLOAD} bytes, found {size}")
    limits.require_memory(size, 8)
    # The checksum was verified when the payload was extracted.
    blocks = _kernels.Blocks.one(payload, size, has_checksum, False)
    inflate(blocks, [payload], _kernels.numeric_frames(blocks, "u1"), limits)
    values = np.empty(size, np.uint8)
    _kernels.decode_stretch(blocks, 0, values, None)
    return values
