"""Value dictionary: the distinct values of a stripe's field, by id."""

import struct
from collections.abc import Callable
from typing import Any

from tests.oracle.binary import offsets
from tests.oracle.block import checksum
from tests.oracle.common import pack, require, take, unpack, unpack_exact

# Type, entries, a null among them, its id, bytes of each value or 0, then start and end of values, offsets, sorted ids.
HEADER = "<BIBII6Q"
HEADER_SIZE = 128
NUMBERS = {"Int8": 2, "Int16": 3, "Int32": 4, "Int64": 5, "Float32": 6, "Float64": 7, "DateTime": 12}
FIXED_TYPES = {"FixedSizeBinary": 9, "Guid": 11, **NUMBERS}
VARIABLE_TYPES = {"Binary": 8, "String": 10}


def decode(buffer: bytes) -> list[bytes | None]:
    """The entries in order of their ids; None is the null entry."""
    _, count, has_null, null_id, fixed_size, *ranges = _header(buffer)
    data = _payload(buffer, ranges[0], ranges[1])
    if fixed_size:
        require(len(data) == count * fixed_size, f"dictionary: expected {count * fixed_size} bytes, found {len(data)}")
        found = [i * fixed_size for i in range(count + 1)]
    else:
        found = unpack_exact(_payload(buffer, ranges[2], ranges[3]), count + 1, "u8")
    values: list[bytes | None] = list(offsets.cut(data, found))
    if has_null:
        require(null_id < count, f"dictionary null id: expected below {count}, found {null_id}")
        values[null_id] = None
    return values


def decode_sorted_ids(buffer: bytes) -> list[int] | None:
    """The ids in order of their values, without the null entry; None where the dictionary does not say."""
    _, count, has_null, _, _, *ranges = _header(buffer)
    if ranges[4] == ranges[5]:
        return None
    return unpack_exact(_payload(buffer, ranges[4], ranges[5]), count - bool(has_null), "u4")


def _header(buffer: bytes) -> tuple[int, ...]:
    header = take(buffer, 0, HEADER_SIZE)
    stored = int.from_bytes(header[124:], "little")
    require(stored == checksum(header[:124]), f"dictionary header: found checksum {stored:08x}")
    fields = struct.unpack_from(HEADER, header)
    known = {**FIXED_TYPES, **VARIABLE_TYPES}.values()
    require(fields[0] in known, f"dictionary: expected a type of {sorted(known)}, found {fields[0]}")
    return fields


def _payload(buffer: bytes, start: int, end: int) -> bytes:
    """What a section holds: length, payload, padding, and the payload's checksum as the last 4 bytes."""
    require(start <= end <= len(buffer), f"dictionary section: {start}..{end} is not inside {len(buffer)} bytes")
    section = buffer[start:end]
    require(len(section) >= 12, f"dictionary section: expected at least 12 bytes, found {len(section)}")
    (size,) = unpack(section, 1, "u8")
    require(size + 12 <= len(section), f"dictionary section: {size} bytes do not fit {len(section)}")
    payload, stored = section[8 : 8 + size], int.from_bytes(section[-4:], "little")
    require(stored == checksum(payload), f"dictionary section: found checksum {stored:08x}")
    return payload


def encode(
    values: list[bytes | None],
    value_type: str = "String",
    fixed_size: int = 0,
    sorted_ids: bool = True,
    order_of: Callable[[bytes], Any] = bytes,
) -> bytes:
    """A dictionary of these entries, at most one of which is None. `fixed_size` is 0 for values of any length.

    `order_of` says by what values are sorted: by their bytes, unless they are numbers.
    """
    require(values.count(None) <= 1, "dictionary: expected at most one null entry")
    require((value_type in FIXED_TYPES) == (fixed_size > 0), f"dictionary: {value_type} has not size {fixed_size}")
    stored = [bytes(fixed_size) if value is None else value for value in values]
    require(not fixed_size or all(len(value) == fixed_size for value in stored), "dictionary: a value has another size")
    order = sorted((i for i, value in enumerate(values) if value is not None), key=lambda i: order_of(stored[i]))

    parts = [_section(b"".join(stored))]
    parts.append(b"" if fixed_size else _section(pack(offsets.of(stored), "u8")))
    parts.append(_section(pack(order, "u4")) if sorted_ids else b"")
    ranges, at = [], HEADER_SIZE
    for part in parts:
        ranges += [at, at + len(part)]
        at += len(part)

    has_null = None in values
    code = {**FIXED_TYPES, **VARIABLE_TYPES}[value_type]
    null_id = values.index(None) if has_null else 0
    header = struct.pack(HEADER, code, len(values), has_null, null_id, fixed_size, *ranges).ljust(124, b"\0")
    buffer = header + checksum(header).to_bytes(4, "little") + b"".join(parts)
    return buffer + bytes(-len(buffer) % 64)


def _section(payload: bytes) -> bytes:
    section = len(payload).to_bytes(8, "little") + payload + bytes(64)
    section += bytes(-(len(section) + 4) % 16)
    return section + checksum(payload).to_bytes(4, "little")
