"""FastLanes bit packing: where do the bits of 1024 values go?

A chunk of 1024 values is spread over lanes, each of which owns as many values (rows) as a word has bits. Lane `l` owns
the words l, l + lanes, l + 2 * lanes and so on; its rows stand in them lowest bit first, without gaps.
"""

from tests.oracle.common import bits_of, pack, require, unpack, unsigned

CHUNK = 1024
ORDER = (0, 4, 2, 6, 1, 5, 3, 7)


def index(row: int, lane: int) -> int:
    """Which of the 1024 values stands in this row of this lane."""
    return ORDER[row // 8] * 16 + row % 8 * 128 + lane


def pack_chunk(values: list[int], width: int, dtype: str) -> bytes:
    """1024 values, each cut to `width` bits, in `128 * width` bytes."""
    bits = bits_of(dtype)
    lanes = CHUNK // bits
    words = [0] * (lanes * width)
    for lane in range(lanes):
        joined = sum((values[index(row, lane)] % (1 << width)) << (row * width) for row in range(bits))
        for k in range(width):
            words[k * lanes + lane] = (joined >> (k * bits)) % (1 << bits)
    return pack(words, unsigned(dtype))


def unpack_chunk(data: bytes, width: int, dtype: str) -> list[int]:
    """The 1024 unsigned values of one chunk."""
    bits = bits_of(dtype)
    lanes = CHUNK // bits
    words = unpack(data, lanes * width, unsigned(dtype))
    values = [0] * CHUNK
    for lane in range(lanes):
        joined = sum(words[k * lanes + lane] << (k * bits) for k in range(width))
        for row in range(bits):
            values[index(row, lane)] = (joined >> (row * width)) % (1 << width)
    return values


def pack_all(values: list[int], width: int, dtype: str, filler: int = 0) -> bytes:
    """All chunks of `values`; the last one is filled up with `filler`."""
    require(1 <= width <= bits_of(dtype), f"bit width: expected 1..{bits_of(dtype)}, found {width}")
    filled = values + [filler] * (-len(values) % CHUNK)
    return b"".join(pack_chunk(filled[at : at + CHUNK], width, dtype) for at in range(0, len(filled), CHUNK))


def unpack_all(data: bytes, count: int, width: int, dtype: str) -> list[int]:
    """The first `count` values of whole chunks. Chunks too many are skipped without a look, as readers do."""
    require(1 <= width <= bits_of(dtype), f"bit width: expected 1..{bits_of(dtype)}, found {width}")
    size = 128 * width
    require(len(data) % size == 0, f"packed values: expected a multiple of {size} bytes, found {len(data)}")
    chunks = (count + CHUNK - 1) // CHUNK
    require(len(data) >= chunks * size, f"packed values: expected {chunks * size} bytes, found {len(data)}")
    values = []
    for at in range(0, chunks * size, size):
        values += unpack_chunk(data[at : at + size], width, dtype)
    return values[:count]
