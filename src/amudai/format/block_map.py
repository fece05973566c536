"""Which block holds which values, and where does it lie?

A block map is read from its end: a footer with the totals, before it the list of segments, before that the segments,
each with the sizes of up to `segment_size` blocks. It carries no checksum, so whatever it says twice is compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct, unpack_from
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from amudai.errors import CorruptedData, InvalidArgument
from amudai.format.container import Bytes

__all__ = ["DATA_ALIGNMENT", "BlockMap", "encode_block_map"]

DATA_ALIGNMENT: Final = 16  # of the block map's first byte, counted from the start of its buffer

_FOOTER: Final = Struct("<5Q")  # value_count, block_count, segment_count, segment_size, data_size
_SEGMENT: Final = Struct("<QQIIBBH")  # first value, first byte, smallest of each size, bits of each delta, block_count
_WORD: Final = 8
_DELTAS: Final[dict[int, np.dtype[Any]]] = {8: np.dtype("<u1"), 16: np.dtype("<u2"), 32: np.dtype("<u4")}
_MAX_SEGMENT_SIZE: Final = 0xFFFF  # block_count of a segment is a u16
_LARGEST: Final = {1: 0xFF, 2: 0xFFFF, 4: 0xFFFF_FFFF}  # by bytes of a delta
_MAX_SIZE: Final = 0xFFFF_FFFF
_MAX_BLOCKS: Final = 0xFFFF_FFFF
_MIN_BLOCK: Final = 8  # a block begins with two u32
_MAX_WRITTEN: Final = 0xFFFF_FFFE  # what the reference accepts of a logical size, a block size, a number of blocks
_BLOCKS_PER_SEGMENT: Final = 1024

U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class BlockMap:
    """Where the blocks of a buffer begin and end: block `i` is `[i] .. [i + 1]` of both arrays.

    `values` counts logical values (bytes, in a bit buffer), `offsets` counts bytes from the start of the buffer.
    """

    values: U64
    offsets: U64

    @property
    def block_count(self) -> int:
        """Blocks of the buffer."""
        return len(self.values) - 1

    @property
    def value_count(self) -> int:
        """Logical values of the buffer."""
        return int(self.values[-1])

    @property
    def data_size(self) -> int:
        """Bytes of all blocks."""
        return int(self.offsets[-1])

    @classmethod
    def decode(
        cls,
        payload: Bytes,
        *,
        data_size: int,
        expected_values: int | None = None,
        expected_blocks: int | None = None,
    ) -> Self:
        """The map in the bytes of a buffer's `block_map`; `data_size` is the room for blocks that lies before it."""
        values, blocks, segments, segment_size, stored, list_at = _read_footer(payload)
        if expected_values is not None:
            _equal("value_count", expected_values, values)
        if expected_blocks is not None:
            _equal("block_count", expected_blocks, blocks)
        if stored > data_size:
            raise CorruptedData(f"block map data_size: expected at most {data_size}, found {stored}")
        ends = unpack_from(f"<{2 * (segments + 1)}Q", payload, list_at)
        logical, records = ends[: segments + 1], ends[segments + 1 :]
        _equal("segment_record_offsets[0]", 0, records[0])
        _equal("segment_record_offsets[-1]", list_at, records[-1])

        # No sum wraps: there are fewer than 2^32 blocks, and a size of 2^32 or more is refused.
        value_ends, offset_ends = np.empty(blocks + 1, np.uint64), np.empty(blocks + 1, np.uint64)
        value_ends[0] = offset_ends[0] = 0
        starts = []
        for segment in range(segments):
            first = segment * segment_size + 1
            end = min(first + segment_size, blocks + 1)
            record = payload[records[segment] : records[segment + 1]]
            starts.append(_read_segment(record, segment, value_ends[first:end], offset_ends[first:end]))
        np.add.accumulate(value_ends, out=value_ends)
        np.add.accumulate(offset_ends, out=offset_ends)
        starts.append((values, stored))
        for segment, (first_value, first_byte) in enumerate(starts):
            at = min(segment * segment_size, blocks)
            value, offset = value_ends.item(at), offset_ends.item(at)
            if (first_value, logical[segment], first_byte) != (value, value, offset):
                found = f"value {first_value} ({logical[segment]} in the list) and byte {first_byte}"
                begins = f"segment {segment}: expected to begin" if segment < segments else "footer: expected the end"
                raise CorruptedData(f"block map {begins} at value {value} and byte {offset}, found {found}")
        value_ends.flags.writeable = offset_ends.flags.writeable = False
        return cls(value_ends, offset_ends)


def encode_block_map(value_counts: npt.ArrayLike, block_sizes: npt.ArrayLike) -> bytes:
    """The map of blocks that lie one behind the other: how many values each holds, how many bytes it takes.

    The caller puts it behind the blocks, at the next multiple of `DATA_ALIGNMENT` from the start of the buffer.

    >>> BlockMap.decode(encode_block_map([100, 50], [200, 104]), data_size=304).offsets.tolist()
    [0, 200, 304]
    """
    counts = _written_sizes(value_counts, "logical size", 1)
    sizes = _written_sizes(block_sizes, "block size", _MIN_BLOCK)
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
    """The smallest size, and the distance of each from it in as few bytes as hold the largest."""
    smallest, largest = int(sizes.min()), int(sizes.max())
    width = next(width for width, most in _LARGEST.items() if largest - smallest <= most)
    return smallest, (sizes - np.uint64(smallest)).astype(_DELTAS[8 * width])


def _written_sizes(sizes: npt.ArrayLike, what: str, least: int) -> U64:
    found = np.asarray(sizes)
    if len(found) and not (least <= int(found.min()) and int(found.max()) <= _MAX_WRITTEN):
        limits = f"{least}..{_MAX_WRITTEN}"
        raise InvalidArgument(f"block map {what}: expected {limits}, found {found.min()}..{found.max()}")
    return found.astype(np.uint64)


def _read_footer(payload: Bytes) -> tuple[int, int, int, int, int, int]:
    """The five totals, and where the list of segments begins; all of them such that the payload can hold it."""
    footer_at, least = len(payload) - _FOOTER.size, _FOOTER.size + 2 * _WORD
    if len(payload) < least:
        raise CorruptedData(f"block map: expected at least {least} bytes, found {len(payload)}")
    values, blocks, segments, segment_size, stored = _FOOTER.unpack_from(payload, footer_at)
    list_at = footer_at - 2 * _WORD * (segments + 1)
    if list_at < segments * _SEGMENT.size:
        least += segments * (_SEGMENT.size + 2 * _WORD)
        raise CorruptedData(f"block map: expected {least} bytes for {segments} segments, found {len(payload)}")
    # A block takes two bytes of the map at least.
    most = min(values, list_at // 2, _MAX_BLOCKS)
    if not segments <= blocks <= most:
        raise CorruptedData(f"block map block_count: expected {segments}..{most}, found {blocks}")
    if segments:
        if not 1 <= segment_size <= _MAX_SEGMENT_SIZE:
            raise CorruptedData(f"block map segment_size: expected 1..{_MAX_SEGMENT_SIZE}, found {segment_size}")
        if not (segments - 1) * segment_size < blocks <= segments * segment_size:
            room = f"{(segments - 1) * segment_size + 1}..{segments * segment_size}"
            raise CorruptedData(f"block map block_count: expected {room} in {segments} segments, found {blocks}")
    return values, blocks, segments, segment_size, stored, list_at


def _read_segment(record: Bytes, segment: int, value_sizes: U64, block_sizes: U64) -> tuple[int, int]:
    """Fill in the sizes of the segment's blocks, in values and in bytes; return where it says it begins in both."""
    count, size = len(value_sizes), len(record)
    if size < _SEGMENT.size:
        raise CorruptedData(f"block map segment {segment}: expected at least {_SEGMENT.size} bytes, found {size}")
    first_value, first_byte, min_values, min_bytes, value_bits, block_bits, blocks = _SEGMENT.unpack_from(record)
    if blocks != count:
        raise CorruptedData(f"block map segment {segment}: expected {count} blocks, found {blocks}")
    if value_bits not in _DELTAS or block_bits not in _DELTAS:
        found = f"{value_bits} and {block_bits}"
        raise CorruptedData(f"block map segment {segment}: expected widths of 8, 16 or 32 bits, found {found}")
    blocks_at = _SEGMENT.size + -(-count * value_bits // 32) * 4
    expected = -(-(blocks_at + count * block_bits // 8) // 8) * 8
    if size != expected:
        raise CorruptedData(f"block map segment {segment}: expected {expected} bytes, found {size}")
    _read_sizes(np.frombuffer(record, _DELTAS[value_bits], count, _SEGMENT.size), min_values, 1, value_sizes)
    _read_sizes(np.frombuffer(record, _DELTAS[block_bits], count, blocks_at), min_bytes, _MIN_BLOCK, block_sizes)
    return first_value, first_byte


def _read_sizes(deltas: npt.NDArray[Any], smallest: int, least: int, sizes: U64) -> None:
    """Fill in `sizes`, which are stored as distances from `smallest`."""
    what = "block size" if least == _MIN_BLOCK else "logical size"
    if smallest < least and (found := smallest + int(deltas.min())) < least:
        raise CorruptedData(f"block map {what}: expected at least {least}, found {found}")
    if smallest + _LARGEST[deltas.itemsize] > _MAX_SIZE and (found := smallest + int(deltas.max())) > _MAX_SIZE:
        raise CorruptedData(f"block map {what}: expected at most {_MAX_SIZE}, found {found}")
    np.add(deltas, np.uint64(smallest), out=sizes, dtype=np.uint64)  # numpy 1 would add in the width of the deltas


def _equal(what: str, expected: int, found: int) -> None:
    if expected != found:
        raise CorruptedData(f"block map {what}: expected {expected}, found {found}")
