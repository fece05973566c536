"""Parquet files whose footer is changed: the compact protocol of Thrift as nested lists, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12

Struct = list[list[Any]]
"""The fields of a struct: their number, their type and their value."""


def changed(file: bytes, change: Callable[[Struct], object]) -> bytes:
    """The file with a changed footer."""
    size = int.from_bytes(file[-8:-4], "little")
    footer, _ = _read(file[-8 - size : -8], 0, STRUCT)
    change(footer)
    return with_footer(file, written(STRUCT, footer))


def with_footer(file: bytes, footer: bytes) -> bytes:
    """The file with another footer."""
    size = int.from_bytes(file[-8:-4], "little")
    return file[: -8 - size] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def chunk_of(footer: Struct, leaf: int = 0, row_group: int = 0) -> Struct:
    """The fields of a column chunk."""
    found: Struct = member(member(footer, 4)[1][row_group], 1)[1][leaf]
    return found


def member(struct: Struct, number: int) -> Any:
    """The value of a field."""
    return next(value for each, _, value in struct if each == number)


def put(struct: Struct, number: int, kind: int, value: Any) -> None:
    """Set a field, which the struct may have or not."""
    remove(struct, number)
    struct.append([number, kind, value])
    struct.sort(key=lambda field: int(field[0]))


def remove(struct: Struct, number: int) -> None:
    """Remove a field."""
    struct[:] = [field for field in struct if field[0] != number]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = place = 0
    while True:
        number |= (data[at] & 127) << place
        at += 1
        place += 7
        if data[at - 1] < 128:
            return number, at


def _read(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (1, 2, 3):
        return data[at], at + 1
    if kind in (4, I32, I64):
        number, at = _varint(data, at)
        return (number >> 1) ^ -(number & 1), at
    if kind == BINARY:
        size, at = _varint(data, at)
        return data[at : at + size], at + size
    if kind == LIST:
        head, items = data[at], []
        count, at = (head >> 4, at + 1) if head >> 4 < 15 else _varint(data, at + 1)
        for _ in range(count):
            item, at = _read(data, at, head & 15)
            items.append(item)
        return [head & 15, items], at
    assert kind == STRUCT
    fields: Struct = []
    number = 0
    while data[at]:
        head = data[at]
        number += head >> 4
        assert head >> 4, "fields that are far apart"
        value, at = (None, at + 1) if head & 15 <= 2 else _read(data, at + 1, head & 15)
        fields.append([number, head & 15, value])
    return fields, at + 1


def number_of(value: int) -> bytes:
    """A number that is not negative, seven bits in each byte."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def written(kind: int, value: Any) -> bytes:
    """The bytes of a value."""
    if kind in (1, 2, 3):
        return bytes([value])
    if kind in (4, I32, I64):
        return number_of(value << 1 if value >= 0 else (-value << 1) - 1)
    if kind == BINARY:
        return number_of(len(value)) + bytes(value)
    if kind == LIST:
        inner, items = value
        head = bytes([len(items) << 4 | inner]) if len(items) < 15 else bytes([0xF0 | inner]) + number_of(len(items))
        return head + b"".join(written(inner, item) for item in items)
    out, last = b"", 0
    for number, inner, item in value:
        assert 0 < number - last < 16
        out += bytes([(number - last) << 4 | inner]) + (b"" if inner <= 2 else written(inner, item))
        last = number
    return out + b"\0"
