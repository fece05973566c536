"""Block maps: the number of values and the place of each block of a buffer.

A block map is read from its end: a footer with the totals, before it the list of segments, before that the segments,
each with the sizes of up to `segment_size` blocks. It has no checksum, so everything that it states twice is compared.
"""

from __future__ import annotations

from itertools import pairwise
from struct import Struct
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.errors import InvalidArgument
from amudai.format.container import Bytes, check_zeros

__all__ = ["DATA_ALIGNMENT", "BlockMap", "check_map_padding", "decode_block_map", "encode_block_map"]

DATA_ALIGNMENT: Final = 16  # of the block map's first byte, counted from the start of its buffer

_FOOTER: Final = Struct("<5Q")  # value_count, block_count, segment_count, segment_size, data_size
_SEGMENT: Final = Struct("<QQIIBBH")  # first value, first byte, smallest of each size, bits of each delta, block_count
_WORD: Final = 8
# The map of one block: its segment, whose two distances are 0 and padded, the list of segments, the footer.
_ONE_RECORD: Final = 40
_ONE_BLOCK: Final = Struct(f"<{_ONE_RECORD}s9Q")
_DELTAS: Final[dict[int, np.dtype[Any]]] = {8: np.dtype("<u1"), 16: np.dtype("<u2"), 32: np.dtype("<u4")}
_LARGEST: Final = {1: 0xFF, 2: 0xFFFF, 4: 0xFFFF_FFFF}  # by bytes of a delta
_MAX_ROOM: Final = 0xFFFF_FFFF_FFFF_FFFF
_MIN_BLOCK: Final = 8  # a block begins with two u32
_MAX_WRITTEN: Final = 0xFFFF_FFFE  # the largest logical size, block size and number of blocks the reference accepts
_BLOCKS_PER_SEGMENT: Final = 1024

U64 = npt.NDArray[np.uint64]

BlockMap = _kernels.BlockMap


def decode_block_map(
    payload: Bytes, *, data_size: int, expected_values: int | None = None, expected_blocks: int | None = None
) -> BlockMap:
    """The map in the bytes of a buffer's `block_map`. `data_size` is the number of bytes before it, for blocks.

    A segment is decoded and checked against the rest of the map when something in it is needed.
    """
    return BlockMap(payload, min(data_size, _MAX_ROOM), expected_values, expected_blocks)


def encode_block_map(value_counts: npt.ArrayLike, block_sizes: npt.ArrayLike) -> bytes:
    """The map of consecutive blocks, from the number of values and the number of bytes of each block.

    The caller puts it after the blocks, at the next multiple of `DATA_ALIGNMENT` from the start of the buffer.

    >>> decode_block_map(encode_block_map([100, 50], [200, 104]), data_size=304).offsets.tolist()
    [0, 200, 304]
    """
    given, stored = np.asarray(value_counts), np.asarray(block_sizes)
    if len(given) == len(stored) == 1:
        only, size = int(given[0]), int(stored[0])
        if 1 <= only <= _MAX_WRITTEN and _MIN_BLOCK <= size <= _MAX_WRITTEN:
            return _only_block(only, size)
    counts = _written_sizes(given, "logical size", 1)
    sizes = _written_sizes(stored, "block size", _MIN_BLOCK)
    if len(counts) != len(sizes):
        raise InvalidArgument(f"block map: expected as many counts as sizes, found {len(counts)} and {len(sizes)}")
    if len(counts) > _MAX_WRITTEN:
        raise InvalidArgument(f"block map: expected at most {_MAX_WRITTEN} blocks, found {len(counts)}")
    records: list[bytes] = []
    logical, ends, value, offset, end = [0], [0], 0, 0, 0
    for first in range(0, len(counts), _BLOCKS_PER_SEGMENT):
        segment = slice(first, first + _BLOCKS_PER_SEGMENT)
        record = _segment(counts[segment], sizes[segment], value, offset)
        records.append(record)
        value, offset, end = value + int(counts[segment].sum()), offset + int(sizes[segment].sum()), end + len(record)
        logical.append(value)
        ends.append(end)
    listed = np.array([*logical, *ends], "<u8").tobytes()
    footer = _FOOTER.pack(value, len(counts), len(records), _BLOCKS_PER_SEGMENT, offset)
    return b"".join((*records, listed, footer))


def _only_block(count: int, size: int) -> bytes:
    """The map of one block, which small columns have."""
    segment = _SEGMENT.pack(0, 0, count, size, 8, 8, 1)
    return _ONE_BLOCK.pack(segment, 0, count, 0, _ONE_RECORD, count, 1, 1, _BLOCKS_PER_SEGMENT, size)


def check_map_padding(payload: Bytes) -> None:
    """Raise an error if the padding inside a map, which was read before, is not zero."""
    segments = _FOOTER.unpack_from(payload, len(payload) - _FOOTER.size)[2]
    ends = len(payload) - _FOOTER.size
    records = np.frombuffer(payload, "<u8", segments + 1, ends - _WORD * (segments + 1)).tolist()
    for start, end in pairwise(records):
        *_, count_bits, size_bits, count = _SEGMENT.unpack_from(payload, start)
        counts_end = start + _SEGMENT.size + count * count_bits // 8
        sizes_start = start + _SEGMENT.size + -(-count * count_bits // 32) * 4
        check_zeros(payload[counts_end:sizes_start], "block map padding")
        check_zeros(payload[sizes_start + count * size_bits // 8 : end], "block map padding")


def _segment(counts: U64, sizes: U64, first_value: int, first_byte: int) -> bytes:
    """The record of one segment."""
    (least, count_deltas), (smallest, size_deltas) = _deltas(counts), _deltas(sizes)
    bits = 8 * count_deltas.itemsize, 8 * size_deltas.itemsize
    packed = count_deltas.tobytes()
    record = b"".join(
        (
            _SEGMENT.pack(first_value, first_byte, least, smallest, *bits, len(counts)),
            packed,
            bytes(-len(packed) % 4),
            size_deltas.tobytes(),
        )
    )
    return record + bytes(-len(record) % _WORD)


def _deltas(sizes: U64) -> tuple[int, npt.NDArray[Any]]:
    """The smallest size, and the distance of each size from it, in as few bytes as the largest distance needs."""
    smallest, largest = int(sizes.min()), int(sizes.max())
    width = next(width for width, most in _LARGEST.items() if largest - smallest <= most)
    return smallest, (sizes - np.uint64(smallest)).astype(_DELTAS[8 * width])


def _written_sizes(found: npt.NDArray[Any], what: str, least: int) -> U64:
    if len(found) and not (least <= int(found.min()) and int(found.max()) <= _MAX_WRITTEN):
        limits = f"{least}..{_MAX_WRITTEN}"
        raise InvalidArgument(f"block map {what}: expected {limits}, found {found.min()}..{found.max()}")
    return found.astype(np.uint64)
