"""Which 64 bits stand for a value in a sketch?

Seeded XXH3 over the bytes of a value: UTF-8 of a string, the stored bytes of anything else, no length, no terminator.
Each sketch has a seed of its own. Nulls are no values: they are never hashed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from amudai.errors import InvalidArgument

__all__ = [
    "BLOOM_SEED",
    "HASH_ALGORITHM",
    "HLL_SEED",
    "Hashes",
    "distinct",
    "hash_distinct",
    "hash_value",
    "hash_values",
]

Hashes: TypeAlias = NDArray[np.uint64]

HASH_ALGORITHM: Final = "xxh3_64"
HLL_SEED: Final = 0x416D7564484C4C31
BLOOM_SEED: Final = 0x4D75646169424646

_SLICE: Final = 1 << 16  # values that are Python objects at a time


def hash_value(value: bytes | bytearray | memoryview, seed: int) -> int:
    """The hash of one value.

    >>> hex(hash_value(b"apple", HLL_SEED))
    '0x29ec303170129658'
    """
    return xxh3_64_intdigest(value, seed)


def hash_values(values: pa.Array | Iterable[bytes | bytearray | memoryview], seed: int) -> Hashes:
    """A hash for each distinct value, in the order of their first appearance; nulls have none."""
    if isinstance(values, pa.Array):
        return hash_distinct(distinct(values), seed)
    return np.array([xxh3_64_intdigest(value, seed) for value in dict.fromkeys(map(bytes, values))], np.uint64)


def distinct(values: pa.Array) -> pa.Array:
    """The distinct values of an array of strings or bytes, without null, as bytes of some Arrow type."""
    kind = values.type
    # Views first become arrays with offsets: pyarrow's `unique` turns a null among views into an empty value.
    if kind in (pa.string_view(), pa.binary_view(), pa.large_string()):
        values = values.cast(pa.large_binary())
    elif kind == pa.string():
        values = values.cast(pa.binary())
    elif not (kind in (pa.binary(), pa.large_binary()) or pa.types.is_fixed_size_binary(kind)):
        raise InvalidArgument(f"values to hash: expected strings or bytes, found {kind}")
    return pc.unique(values).drop_null()


def hash_distinct(values: pa.Array, seed: int) -> Hashes:
    """A hash for each value of what `distinct` gave."""
    return np.fromiter((xxh3_64_intdigest(value, seed) for value in _each(values)), np.uint64, len(values))


def _each(values: pa.Array) -> Iterator[bytes]:
    for start in range(0, len(values), _SLICE):
        yield from values.slice(start, _SLICE).to_pylist()
