"""LZ4: the joined values as a raw LZ4 block behind their size, then their offsets."""

from tests.oracle import codec
from tests.oracle.binary import offsets
from tests.oracle.common import Encoder, align8, header_size, make_header, pad8, read_header, rest, take

CODE = 17
FIELDS = "IBB"  # bytes of the payload, offset width, offsets are nested


def decode(region: bytes, count: int, fixed_size: int | None, presence: list[bool]) -> list[bytes | None]:
    """The values cut from the decompressed bytes."""
    payload_size, width, nested = read_header(region, CODE, FIELDS)
    offsets.require_width(width, fixed_size)
    at = header_size(FIELDS)
    payload = take(region, at, payload_size)
    at += align8(payload_size)
    found = offsets.decode(rest(region, at), count, fixed_size, bool(nested), at)
    return list(offsets.cut(codec.lz4_decompress(payload, found[-1]), found))


def encode(values: list[bytes], fixed_size: int | None = None, nested_offsets: Encoder | None = None) -> bytes:
    """One block, then offsets nested or raw."""
    payload = codec.lz4_compress(b"".join(values))
    nested = fixed_size is None and nested_offsets is not None
    header = make_header(CODE, FIELDS, len(payload), offsets.WIDTH if fixed_size is None else 0, nested)
    return header + pad8(payload) + offsets.encode(values, fixed_size, nested_offsets)
