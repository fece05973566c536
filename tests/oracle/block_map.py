"""Block map: how many values and how many bytes has each block of a buffer?"""

import struct

from tests.oracle.common import align8, pack, require, take, unpack

FOOTER = "<QQQQQ"  # values, blocks, segments, blocks per segment, bytes of all blocks
SEGMENT = "<QQIIBBH"  # first position, first offset, smallest count, smallest size, bits of counts and sizes, blocks
TYPES = {8: "u1", 16: "u2", 32: "u4"}
LIMIT = (1 << 32) - 1


def decode(payload: bytes) -> list[tuple[int, int]]:
    """(values, bytes) of each block in order."""
    require(len(payload) >= 40, f"block map: expected at least 40 bytes, found {len(payload)}")
    require(len(payload) % 8 == 0, f"block map: expected a multiple of 8 bytes, found {len(payload)}")
    value_count, block_count, segment_count, segment_size, _ = struct.unpack(FOOTER, payload[-40:])
    require(value_count >= block_count, f"block map: found {block_count} blocks of {value_count} values")
    require(block_count >= segment_count, f"block map: found {segment_count} segments of {block_count} blocks")
    require(segment_count * segment_size >= block_count, f"block map: {block_count} blocks need more segments")

    list_size = 16 * (segment_count + 1)
    require(40 + list_size <= len(payload), f"block map: {segment_count} segments do not fit {len(payload)} bytes")
    list_at = len(payload) - 40 - list_size
    offsets = unpack(payload[list_at:], 2 * (segment_count + 1), "u8")
    logical, records = offsets[: segment_count + 1], offsets[segment_count + 1 :]
    require(logical[0] == 0, f"block map: expected the first segment at 0, found {logical[0]}")
    for i in range(segment_count):
        require(logical[i] < logical[i + 1], "block map: expected the positions of segments to increase")
        require(records[i] < records[i + 1], "block map: expected the records of segments to increase")
    require(records[-1] <= list_at, f"block map: expected segments to end by {list_at}, found {records[-1]}")

    blocks: list[tuple[int, int]] = []
    position = storage = 0
    for i in range(segment_count):
        segment = _decode_segment(payload[records[i] : records[i + 1]], position, storage)
        full = i < segment_count - 1
        require(not full or len(segment) == segment_size, f"segment {i}: expected {segment_size} blocks")
        require(len(segment) <= segment_size, f"segment {i}: expected at most {segment_size} blocks")
        blocks += segment
        position += sum(count for count, _ in segment)
        storage += sum(size for _, size in segment)
        require(position == logical[i + 1], f"segment {i}: expected to end at {logical[i + 1]}, found {position}")
    require(len(blocks) == block_count, f"block map: expected {block_count} blocks, found {len(blocks)}")
    require(position == value_count, f"block map: expected {value_count} values, found {position}")
    return blocks


def _decode_segment(record: bytes, position: int, storage: int) -> list[tuple[int, int]]:
    first, offset, min_count, min_size, count_bits, size_bits, blocks = struct.unpack(SEGMENT, take(record, 0, 28))
    require((first, offset) == (position, storage), f"segment: expected {(position, storage)}, found {(first, offset)}")
    require(count_bits in TYPES and size_bits in TYPES, f"segment: found widths {count_bits} and {size_bits}")
    counts = unpack(record[28:], blocks, TYPES[count_bits])
    # The sizes stand at a multiple of 4; 28 is one.
    sizes_at = 28 + (blocks * count_bits // 8 + 3) // 4 * 4
    sizes = unpack(record[sizes_at:], blocks, TYPES[size_bits])
    found = [(min_count + count, min_size + size) for count, size in zip(counts, sizes, strict=True)]
    for count, size in found:
        require(0 < count < LIMIT and 0 < size < LIMIT, f"segment: found a block of {count} values in {size} bytes")
    return found


def encode(blocks: list[tuple[int, int]], segment_size: int = 1024) -> bytes:
    """The map of blocks given as (values, bytes)."""
    out = b""
    logical, records, storage = [0], [0], 0
    for at in range(0, len(blocks), segment_size):
        counts = [count for count, _ in blocks[at : at + segment_size]]
        sizes = [size for _, size in blocks[at : at + segment_size]]
        count_bits, size_bits = _bits(counts), _bits(sizes)
        segment = struct.pack(
            SEGMENT, logical[-1], storage, min(counts), min(sizes), count_bits, size_bits, len(counts)
        )
        segment += pack([count - min(counts) for count in counts], TYPES[count_bits])
        segment += bytes(-len(segment) % 4)
        segment += pack([size - min(sizes) for size in sizes], TYPES[size_bits])
        out += segment.ljust(align8(len(segment)), b"\0")
        logical.append(logical[-1] + sum(counts))
        storage += sum(sizes)
        records.append(len(out))
    footer = struct.pack(FOOTER, logical[-1], len(blocks), len(logical) - 1, segment_size, storage)
    return out + pack(logical, "u8") + pack(records, "u8") + footer


def _bits(sizes: list[int]) -> int:
    spread = max(sizes) - min(sizes)
    return 8 if spread < 1 << 8 else 16 if spread < 1 << 16 else 32
