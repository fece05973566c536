"""What every part of the oracle shares: its error, its value types, raw values and section headers."""

import struct
from collections.abc import Callable

Encoder = Callable[[list[int], str], bytes]
"""Makes the section of some values of some type; how a test hands a nested encoding to an encoder."""

UNSIGNED = ("u1", "u2", "u4", "u8")
SIGNED = ("i1", "i2", "i4", "i8")
FLOATS = ("f4", "f8")
INTEGERS = UNSIGNED + SIGNED
ALL = INTEGERS + FLOATS


class OracleError(ValueError):
    """The bytes, or what was asked of an encoder, break the format."""


def require(condition: bool, message: str) -> None:
    """Raise `OracleError` with `message` unless `condition` holds."""
    if not condition:
        raise OracleError(message)


def align8(size: int) -> int:
    """`size` rounded up to a multiple of 8."""
    return (size + 7) // 8 * 8


def pad8(data: bytes) -> bytes:
    """`data` with zeros up to a multiple of 8 bytes."""
    return data.ljust(align8(len(data)), b"\0")


def size_of(dtype: str) -> int:
    """Bytes of one value."""
    return int(dtype[1])


def bits_of(dtype: str) -> int:
    """Bits of one value."""
    return 8 * size_of(dtype)


def unsigned(dtype: str) -> str:
    """The unsigned type of the same width."""
    return "u" + dtype[1]


def wrap(value: int, dtype: str) -> int:
    """`value` modulo 2^bits, as `dtype` shows it."""
    bits = bits_of(dtype)
    value %= 1 << bits
    return value - (1 << bits) if dtype in SIGNED and value >> (bits - 1) else value


def pack(values: list[int], dtype: str) -> bytes:
    """Raw little-endian values; floats are given as bit patterns."""
    return b"".join(value.to_bytes(size_of(dtype), "little", signed=dtype in SIGNED) for value in values)


def unpack(data: bytes, count: int, dtype: str) -> list[int]:
    """The first `count` raw little-endian values of `data`; what follows them is not looked at."""
    size = size_of(dtype)
    require(len(data) >= count * size, f"raw values: expected {count * size} bytes, found {len(data)}")
    return [
        int.from_bytes(data[at : at + size], "little", signed=dtype in SIGNED) for at in range(0, count * size, size)
    ]


def unpack_exact(data: bytes, count: int, dtype: str) -> list[int]:
    """`count` raw little-endian values and nothing else."""
    size = count * size_of(dtype)
    require(len(data) == size, f"raw values: expected {size} bytes, found {len(data)}")
    return unpack(data, count, dtype)


def take(data: bytes, start: int, size: int) -> bytes:
    """`size` bytes of `data` from `start`, all of which must be there."""
    require(start + size <= len(data), f"part: expected {size} bytes at {start}, found {len(data)} bytes in all")
    return data[start : start + size]


def rest(data: bytes, start: int) -> bytes:
    """The bytes of `data` from `start` on; `start` itself must be inside or at the end."""
    require(start <= len(data), f"part: expected to start at {start}, found {len(data)} bytes in all")
    return data[start:]


def require_code(data: bytes, code: int) -> None:
    """`data` must start with the encoding's code."""
    require(len(data) >= 2, f"section: expected a code of 2 bytes, found {len(data)}")
    found = int.from_bytes(data[:2], "little")
    require(found == code, f"section: expected code {code}, found {found}")


def header_size(fields: str) -> int:
    """Bytes of the code, the fields (as `struct` spells them) and the padding behind them."""
    return align8(struct.calcsize("<H" + fields))


def read_header(data: bytes, code: int, fields: str) -> tuple[int, ...]:
    """The header fields behind the code. The padding behind them is skipped without a look, as readers must."""
    require_code(data, code)
    require(len(data) >= header_size(fields), f"header: expected {header_size(fields)} bytes, found {len(data)}")
    return struct.unpack_from("<" + fields, data, 2)


def make_header(code: int, fields: str, *values: int) -> bytes:
    """Code, fields and zeros up to a multiple of 8 bytes."""
    try:
        return pad8(struct.pack("<H" + fields, code, *values))
    except struct.error as error:
        raise OracleError(f"header: {values} do not fit the fields {fields}") from error
