"""The joined values as an LZ4 block that refers to the dictionary of the buffer, then their offsets."""

from tests.oracle import codec
from tests.oracle.binary import payload
from tests.oracle.common import Encoder

CODE = 0x8006
FIELDS = "IBBII"  # bytes of the payload, offset width, offsets are nested, checksum of the dictionary, nothing


def decode(region: bytes, count: int, fixed_size: int | None, presence: list[bool]) -> list[bytes | None]:
    """The values cut from the decompressed bytes. The dictionary is the one of all tests."""
    known = codec.DICTIONARY_CHECKSUM
    return payload.decode(region, CODE, FIELDS, count, fixed_size, codec.shared_lz4_decompress, known, 0)


def encode(values: list[bytes], fixed_size: int | None = None, nested_offsets: Encoder | None = None) -> bytes:
    """One frame or block, then offsets nested or raw."""
    compressed = codec.shared_lz4_compress(b"".join(values))
    known = codec.DICTIONARY_CHECKSUM
    return payload.encode(CODE, FIELDS, compressed, values, fixed_size, nested_offsets, known, 0)
