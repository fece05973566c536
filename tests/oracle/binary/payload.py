"""What regions with compressed values have in common: a payload, then offsets."""

from collections.abc import Callable

from tests.oracle.binary import offsets
from tests.oracle.common import Encoder, align8, header_size, make_header, pad8, read_header, require, rest, take


def decode(
    region: bytes,
    code: int,
    fields: str,
    count: int,
    fixed_size: int | None,
    decompress: Callable[[bytes, int], bytes],
    *expected: int,
) -> list[bytes | None]:
    """The values cut from the decompressed bytes. `expected` are the fields behind the usual three."""
    payload_size, width, nested, *more = read_header(region, code, fields)
    require(tuple(more) == expected, f"region: expected {expected}, found {more}")
    offsets.require_width(width, fixed_size)
    at = header_size(fields)
    payload = take(region, at, payload_size)
    at += align8(payload_size)
    found = offsets.decode(rest(region, at), count, fixed_size, bool(nested), at)
    return list(offsets.cut(decompress(payload, found[-1]), found))


def encode(
    code: int,
    fields: str,
    payload: bytes,
    values: list[bytes],
    fixed_size: int | None,
    nested_offsets: Encoder | None,
    *more: int,
) -> bytes:
    """The payload, then offsets nested or raw."""
    nested = fixed_size is None and nested_offsets is not None
    header = make_header(code, fields, len(payload), offsets.WIDTH if fixed_size is None else 0, nested, *more)
    return header + pad8(payload) + offsets.encode(values, fixed_size, nested_offsets)
