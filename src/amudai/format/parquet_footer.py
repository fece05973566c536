"""What the footer of a Parquet file states about its column chunks.

The footer is a message of Thrift's compact protocol. Arrow's reader parses it, too, but ends the process when asked
for a column chunk whose footer contradicts itself. So the few facts that are needed are read here. No count, size or
depth that the footer states is trusted beyond the bytes at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from amudai.errors import CorruptedData, UnsupportedFeature

__all__ = ["ParquetChunkFacts", "ParquetFooter"]

# The types of values in the compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_MOST_NESTED: Final = 64
_LONGEST_NUMBER: Final = 10  # bytes of a 64-bit number, 7 bits in each

# Which fields are read: by number, the type, and what is read of the items or members.
_Wanted = tuple[int, Any]
_Fields = Mapping[int, _Wanted]
_STATISTICS: Final[_Fields] = {
    1: (_BINARY, None),  # max and min as older files have them
    2: (_BINARY, None),
    3: (_I64, None),  # nulls
    5: (_BINARY, None),  # max and min in the order that the footer states
    6: (_BINARY, None),
}
_SIZES: Final[_Fields] = {1: (_I64, None), 2: (_LIST, (_I64, None)), 3: (_LIST, (_I64, None))}
_META: Final[_Fields] = {
    1: (_I32, None),  # type
    5: (_I64, None),  # values
    7: (_I64, None),  # compressed size
    9: (_I64, None),  # data pages
    11: (_I64, None),  # dictionary page
    12: (_STRUCT, _STATISTICS),
    16: (_STRUCT, _SIZES),
}
_CHUNK: Final[_Fields] = {3: (_STRUCT, _META), 8: (_STRUCT, {})}
_GROUP: Final[_Fields] = {1: (_LIST, (_STRUCT, _CHUNK))}
_ORDER: Final[_Fields] = {1: (_STRUCT, {})}
_FILE: Final[_Fields] = {4: (_LIST, (_STRUCT, _GROUP)), 6: (_BINARY, None), 7: (_LIST, (_STRUCT, _ORDER))}


@dataclass(frozen=True, slots=True)
class ParquetChunkFacts:
    """What the footer states about a column chunk.

    Attributes
    ----------
    storage_type
        The number of the type of its values.
    values
        How many values it has, nulls included.
    size
        The bytes of all of its pages.
    data_pages, dictionary
        Where its first data page and its dictionary are; None without a dictionary.
    has_statistics
        Whether anything is said about its values.
    nulls
        How many values are null, if that is said.
    bounds
        The encoded least and greatest value in the order that the footer states, if both are said.
    old_bounds
        The same as older files have them: compared as signed numbers.
    level_counts
        For how many repetition and definition levels values are counted; 0 if they are not.
    text_bytes
        The bytes of all texts, if they are said.
    """

    storage_type: int
    values: int
    size: int
    data_pages: int
    dictionary: int | None
    has_statistics: bool
    nulls: int | None
    bounds: tuple[bytes, bytes] | None
    old_bounds: tuple[bytes, bytes] | None
    level_counts: tuple[int, int]
    text_bytes: int | None

    @classmethod
    def of(cls, chunk: Mapping[int, Any]) -> ParquetChunkFacts:
        """The facts of a `ColumnChunk`. CorruptedData if one is missing, UnsupportedFeature if they are encrypted."""
        if 8 in chunk:
            raise UnsupportedFeature("expected a column that is not encrypted, found one that is")
        meta = chunk.get(3, {})
        if missing := [number for number in (1, 5, 7, 9) if number not in meta]:
            raise CorruptedData(f"metadata: expected fields 1, 5, 7 and 9, found none with the numbers {missing}")
        said, sizes = meta.get(12, {}), meta.get(16, {})
        return cls(
            storage_type=meta[1],
            values=meta[5],
            size=meta[7],
            data_pages=meta[9],
            dictionary=meta.get(11),
            has_statistics=12 in meta,
            nulls=said.get(3),
            bounds=(said[6], said[5]) if 5 in said and 6 in said else None,
            old_bounds=(said[2], said[1]) if 1 in said and 2 in said else None,
            level_counts=(len(sizes.get(2, ())), len(sizes.get(3, ()))),
            text_bytes=sizes.get(1),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ParquetFooter:
    """The facts of a footer.

    Attributes
    ----------
    created_by
        Which program wrote the file; empty if it does not say.
    ordered
        For each column whether the order of its bounds is that of its type. Empty if nothing is said.
    """

    created_by: str
    ordered: tuple[bool, ...]
    _groups: tuple[tuple[Mapping[int, Any], ...], ...]

    @classmethod
    def decode(cls, footer: bytes) -> ParquetFooter:
        """The facts of these bytes, which may be followed by others. CorruptedData if they are no footer."""
        try:
            found, _ = _struct(footer, 0, _FILE, 0)
        except IndexError:
            raise CorruptedData("footer: expected values within its bytes, found some behind them") from None
        groups = tuple(tuple(group.get(1, ())) for group in found.get(4, ()))
        created = found.get(6, b"").decode("utf-8", "replace")
        return cls(created, tuple(1 in each for each in found.get(7, ())), groups)

    def chunk(self, row_group: int, leaf: int) -> ParquetChunkFacts:
        """What is stated about a column chunk."""
        if row_group >= len(self._groups):
            raise CorruptedData(f"row group: expected less than {len(self._groups)}, found {row_group}")
        chunks = self._groups[row_group]
        if leaf >= len(chunks):
            raise CorruptedData(f"expected a column chunk for each column, found {len(chunks)} chunks")
        return ParquetChunkFacts.of(chunks[leaf])


def _struct(data: bytes, at: int, fields: _Fields, depth: int) -> tuple[dict[int, Any], int]:
    """The wanted fields of a struct, and where it ends. Fields of another type than the wanted one are passed over."""
    if depth > _MOST_NESTED:
        raise CorruptedData(f"footer: expected at most {_MOST_NESTED} structs and lists in each other, found more")
    found: dict[int, Any] = {}
    number = 0
    while True:
        head = data[at]
        at += 1
        kind = head & 15
        if not kind:
            return found, at
        if head >> 4:
            number += head >> 4
        else:
            number, at = _integer(data, at)
        wanted = fields.get(number)
        if wanted is None or wanted[0] != kind:
            at = at if kind <= _FALSE else _value(data, at, kind, None, depth + 1)[1]  # the type is the truth value
        else:
            found[number], at = _value(data, at, kind, wanted[1], depth + 1)


def _value(data: bytes, at: int, kind: int, inside: Any, depth: int) -> tuple[Any, int]:
    """A value, and where it ends. Of structs and lists only what is wanted `inside` is kept."""
    if _I16 <= kind <= _I64:
        return _integer(data, at)
    if kind == _BINARY:
        size, at = _unsigned(data, at)
        if size > len(data) - at:
            raise IndexError
        return data[at : at + size], at + size
    if kind == _STRUCT:
        return _struct(data, at, inside or {}, depth)
    if kind in (_LIST, _SET):
        return _list(data, at, inside, depth)
    if kind == _MAP:
        return None, _end_of_map(data, at, depth)
    size = {_TRUE: 1, _FALSE: 1, _BYTE: 1, _DOUBLE: 8}.get(kind, 0)
    if not size:
        raise CorruptedData(f"footer: expected types from 1 to 12, found {kind}")
    if size > len(data) - at:
        raise IndexError
    return None, at + size


def _list(data: bytes, at: int, wanted: _Wanted | None, depth: int) -> tuple[list[Any], int]:
    """The items of a list or set. None of them are kept if none are wanted."""
    head = data[at]
    count, kind = head >> 4, head & 15
    at += 1
    if count == 15:
        count, at = _unsigned(data, at)
    if count > len(data) - at:  # each item takes a byte or more
        raise IndexError
    if wanted is not None and count and kind != wanted[0]:
        raise CorruptedData(f"footer: expected a list of items of type {wanted[0]}, found type {kind}")
    items: list[Any] = []
    if depth > _MOST_NESTED:
        raise CorruptedData(f"footer: expected at most {_MOST_NESTED} structs and lists in each other, found more")
    for _ in range(count):
        item, at = _value(data, at, kind, None if wanted is None else wanted[1], depth + 1)
        if wanted is not None:
            items.append(item)
    return items, at


def _end_of_map(data: bytes, at: int, depth: int) -> int:
    count, at = _unsigned(data, at)
    if not count:
        return at
    if depth > _MOST_NESTED:
        raise CorruptedData(f"footer: expected at most {_MOST_NESTED} structs and lists in each other, found more")
    if 2 * count > len(data) - at:
        raise IndexError
    kinds = data[at]
    at += 1
    for _ in range(count):
        for kind in (kinds >> 4, kinds & 15):
            at = _value(data, at, kind, None, depth + 1)[1]
    return at


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    if byte < 128:
        return byte, at + 1
    number = byte & 127
    for place in range(1, _LONGEST_NUMBER):
        byte = data[at + place]
        number |= (byte & 127) << 7 * place
        if byte < 128 and number < 1 << 64:
            return number, at + place + 1
    raise CorruptedData("footer: expected numbers of at most 64 bits, found a longer one")


def _integer(data: bytes, at: int) -> tuple[int, int]:
    number, at = _unsigned(data, at)
    return (number >> 1) ^ -(number & 1), at
