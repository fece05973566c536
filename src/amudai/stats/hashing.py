"""The 64-bit hashes of values in sketches and filters.

A hash is seeded XXH3 over the bytes of a value: the UTF-8 of a string, the stored bytes of anything else, without
length or terminator. Each kind of sketch has its own seed. Nulls are not hashed.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

__all__ = ["BLOOM_SEED", "HASH_ALGORITHM", "HLL_SEED", "Hashes", "hash_value"]

Hashes: TypeAlias = NDArray[np.uint64]

HASH_ALGORITHM: Final = "xxh3_64"
HLL_SEED: Final = 0x416D7564484C4C31
BLOOM_SEED: Final = 0x4D75646169424646


def hash_value(value: bytes | bytearray | memoryview, seed: int) -> int:
    """The hash of one value.

    >>> hex(hash_value(b"apple", HLL_SEED))
    '0x29ec303170129658'
    """
    return xxh3_64_intdigest(value, seed)
