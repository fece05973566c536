"""Snappy: the joined values as one Snappy block, then their offsets."""

from tests.oracle import codec
from tests.oracle.binary import payload
from tests.oracle.common import Encoder

CODE = 0x8004
FIELDS = "IBB"  # bytes of the payload, offset width, offsets are nested


def decode(region: bytes, count: int, fixed_size: int | None, presence: list[bool]) -> list[bytes | None]:
    """The values cut from the decompressed bytes."""
    return payload.decode(region, CODE, FIELDS, count, fixed_size, codec.snappy_decompress)


def encode(values: list[bytes], fixed_size: int | None = None, nested_offsets: Encoder | None = None) -> bytes:
    """One block, then offsets nested or raw."""
    return payload.encode(CODE, FIELDS, codec.snappy_compress(b"".join(values)), values, fixed_size, nested_offsets)
