"""Split-block Bloom filters, which prove that a value is not in a stripe.

A filter has blocks of eight 32-bit words. The upper half of a value's hash picks the block, the lower half one bit in
each word. If one of the bits is clear, the value is absent. If all are set, the value may be present.
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from amudai.errors import CorruptedData, InvalidArgument
from amudai.stats.hashing import Hashes

__all__ = [
    "BLOCK_SIZE",
    "MOST_VALUES",
    "TARGET_FPP",
    "build_filter",
    "filter_of_distinct",
    "probe",
    "probe_each",
    "probe_many",
    "size_for",
]

BytesLike: TypeAlias = bytes | bytearray | memoryview | NDArray[np.uint8]

BLOCK_SIZE: Final = 32  # bytes
TARGET_FPP: Final = 0.01
MOST_VALUES: Final = 1024  # no filter is kept for more distinct values

_SALTS: Final = np.array(
    [0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31], np.uint32
)
_WORD_BITS: Final = 32
_WORDS: Final = np.arange(len(_SALTS))


def size_for(count: int, fpp: float = TARGET_FPP) -> int:
    """Bytes of the filter of `count` distinct hashes.

    >>> [size_for(count) // BLOCK_SIZE for count in (1, 26, 27, 1024)]
    [1, 1, 2, 40]
    """
    if count < 1:
        raise InvalidArgument(f"values of a Bloom filter: expected at least 1, found {count}")
    bits = math.ceil(-count * math.log(fpp) / math.log(2) ** 2)
    # Whole bits for each value: other readers expect the size with this rounding.
    size = math.ceil(bits / count) * count // 8
    return max(BLOCK_SIZE, -(-size // BLOCK_SIZE) * BLOCK_SIZE)


def build_filter(hashes: Hashes, fpp: float = TARGET_FPP, limit: int = MOST_VALUES) -> bytes | None:
    """The filter of `hashes`; None if there are no hashes, or more than `limit` distinct ones."""
    hashes = np.unique(hashes)
    return filter_of_distinct(hashes, fpp) if 1 <= len(hashes) <= limit else None


def filter_of_distinct(hashes: Hashes, fpp: float = TARGET_FPP) -> bytes:
    """The filter of one hash or more, all of them different."""
    blocks = size_for(len(hashes), fpp) // BLOCK_SIZE
    chosen, bits = _places(hashes, blocks)
    is_set = np.zeros(_WORD_BITS * len(_SALTS) * blocks, np.bool_)
    is_set[(chosen[:, None] * len(_SALTS) + _WORDS) * _WORD_BITS + bits] = True
    return np.packbits(is_set, bitorder="little").tobytes()


def probe(data: BytesLike, value_hash: int) -> bool:
    """Whether a value with this hash may be in the filter; False proves that it is not."""
    return bool(probe_many(data, np.array([value_hash], np.uint64))[0])


def probe_many(data: BytesLike, hashes: Hashes) -> NDArray[np.bool_]:
    """`probe` of each hash."""
    stored = np.frombuffer(data, np.uint8)
    if not len(stored) or len(stored) % BLOCK_SIZE:
        raise CorruptedData(f"Bloom filter: expected blocks of {BLOCK_SIZE} bytes, found {len(stored)} bytes")
    words = stored.view("<u4").reshape(-1, len(_SALTS))
    blocks, bits = _places(hashes, len(words))
    return np.asarray((words[blocks] & (np.uint32(1) << bits) != 0).all(axis=1))


def probe_each(filters: pa.Array, value_hash: int) -> NDArray[np.bool_]:
    """Whether a value with this hash may be in each of many filters, an array of binary values without nulls.

    >>> with_apple, without = build_filter(np.array([7], np.uint64)), build_filter(np.array([99], np.uint64))
    >>> probe_each(pa.array([with_apple, without]), 7).tolist()
    [True, False]
    """
    import pyarrow.compute as pc  # takes long to import, and few need it

    hashes = np.array([value_hash], np.uint64)
    found = np.zeros(len(filters), np.bool_)
    sizes = np.asarray(pc.binary_length(filters).to_numpy(zero_copy_only=False))
    for size in np.unique(sizes).tolist():
        if not size or size % BLOCK_SIZE:
            raise CorruptedData(f"Bloom filter: expected blocks of {BLOCK_SIZE} bytes, found {size} bytes")
        mine = np.flatnonzero(sizes == size)
        same = filters if len(mine) == len(filters) else filters.take(pa.array(mine))
        start = np.frombuffer(same.buffers()[1], np.int32, 1, 4 * same.offset)[0]
        data = np.frombuffer(same.buffers()[2], np.uint8, len(mine) * size, int(start))
        words = data.reshape(len(mine), -1).view("<u4").reshape(len(mine), -1, len(_SALTS))
        blocks, bits = _places(hashes, words.shape[1])
        found[mine] = (words[:, blocks[0]] & (np.uint32(1) << bits[0]) != 0).all(axis=1)
    return found


def _places(hashes: Hashes, blocks: int) -> tuple[NDArray[np.intp], NDArray[np.uint32]]:
    """The block of each hash, and the number of its bit in each of the eight words."""
    upper, lower = hashes >> np.uint64(32), hashes.astype(np.uint32)
    block = (upper * np.uint64(blocks)) >> np.uint64(32)
    return block.astype(np.intp), (lower[:, None] * _SALTS) >> np.uint32(27)
