"""The buffer of a range index: the smallest and the largest value of each logical block.

The buffer has a header and three payloads: the smallest and the largest value of each logical block, usually of 256
slots, and how many of its slots are null or NaN. A payload is one encoded block of `u8`, which is not decoded here.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self

from amudai.errors import CorruptedData, InvalidArgument, UnsupportedFeature
from amudai.format.container import Bytes, checksum
from amudai.types import WIDTHS, BasicType, SchemaNode, bounds_node

__all__ = ["LOGICAL_BLOCK_SIZE", "RangeIndexHeader", "encode_range_index"]

LOGICAL_BLOCK_SIZE: Final = 256

_HEADER: Final = Struct("<HBBQQQQHH")
_VERSION: Final = 1
_CHECKSUM: Final = 4
_ENVELOPE: Final = 8
_ALIGNMENT: Final = 64
_NAMES: Final = ("minima", "maxima", "invalid counts")
_DECIMAL_SIZE: Final = 16
_MAX_BLOCK_SIZE: Final = 0xFFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeIndexHeader:
    """The first 40 bytes of a range index: the number of slots, slots in a block, and bytes of a bound."""

    span: int
    logical_block_size: int
    width: int
    has_checksum: bool
    sizes: tuple[int, int, int]

    @property
    def logical_block_count(self) -> int:
        """The number of logical blocks. The last one may be shorter."""
        return -(-self.span // self.logical_block_size)

    @classmethod
    def decode(cls, data: Bytes, node: SchemaNode, *, expected_span: int | None = None) -> Self:
        """The header of the buffer that begins with `data`. `expected_span` is the descriptor's `position_count`."""
        node = bounds_node(node)
        if len(data) < _HEADER.size:
            raise CorruptedData(f"range index header: expected {_HEADER.size} bytes, found {len(data)}")
        version, kind, has_checksum, span, minima, maxima, counts, logical_block_size, padding = _HEADER.unpack_from(
            data
        )
        if version != _VERSION:
            raise UnsupportedFeature(f"range index version: expected {_VERSION}, found {version}")
        if padding != 0:
            raise CorruptedData(f"range index header padding: expected 0, found {padding}")
        if kind > max(BasicType):
            raise UnsupportedFeature(f"range index basic_type: expected at most {max(BasicType)}, found {kind}")
        if kind != node.basic_type or not (node.basic_type in WIDTHS or node.is_decimal):
            raise CorruptedData(f"range index basic_type: expected {node.basic_type.value} ({node}), found {kind}")
        if has_checksum > 1:
            raise CorruptedData(f"range index has_checksum: expected 0 or 1, found {has_checksum}")
        if expected_span is not None and span != expected_span:
            raise CorruptedData(f"range index span: expected {expected_span}, found {span}")
        if not (span and logical_block_size and minima and maxima):
            found = f"span {span}, block size {logical_block_size}, payloads of {minima} and {maxima} bytes"
            raise CorruptedData(f"range index header: expected no zero, found {found}")
        if logical_block_size & (logical_block_size - 1):
            # The header has no checksum, and another size would assign bounds to other positions. One flipped bit never
            # turns a power of two into another.
            raise CorruptedData(f"range index block size: expected a power of two, found {logical_block_size}")
        return cls(
            span=span,
            logical_block_size=logical_block_size,
            width=_DECIMAL_SIZE if node.is_decimal else WIDTHS[node.basic_type],
            has_checksum=bool(has_checksum),
            sizes=(minima, maxima, counts),
        )

    def encode(self, node: SchemaNode) -> bytes:
        """The 40 bytes that state this header for a field."""
        kind, has_checksum, padding = node.basic_type, self.has_checksum, 0
        return _HEADER.pack(_VERSION, kind, has_checksum, self.span, *self.sizes, self.logical_block_size, padding)

    def payloads(self, buffer: Bytes, verify: bool = True) -> tuple[memoryview, memoryview, memoryview]:
        """The blocks of minima, maxima and invalid counts, with checksums. The last is empty if all counts are 0."""
        end = _HEADER.size + sum(self.sizes)
        if not end <= len(buffer) < end + _ALIGNMENT:
            room = f"{end}..{end + _ALIGNMENT - 1}"
            raise CorruptedData(f"range index: expected {room} bytes, found {len(buffer)}")
        view, at, found = memoryview(buffer), _HEADER.size, []
        for name, size in zip(_NAMES, self.sizes, strict=True):
            payload = view[at : at + size]
            if size:
                self._check(payload, name, verify)
            found.append(payload)
            at += size
        if any(buffer[end:]):  # the header has no checksum: a damaged size 0 of the counts would mean "no nulls"
            raise CorruptedData(f"range index: expected zeros after byte {end}, found other bytes")
        return found[0], found[1], found[2]

    def _check(self, payload: memoryview, name: str, verify: bool) -> None:
        least = _ENVELOPE + (_CHECKSUM if self.has_checksum else 0)
        if len(payload) < least:
            raise CorruptedData(f"range index {name}: expected at least {least} bytes, found {len(payload)}")
        if verify and self.has_checksum:
            stored, computed = int.from_bytes(payload[-_CHECKSUM:], "little"), checksum(payload[:-_CHECKSUM])
            if stored != computed:
                raise CorruptedData(f"range index {name} checksum: expected {stored:#010x}, found {computed:#010x}")


def encode_range_index(
    node: SchemaNode,
    span: int,
    minima: Bytes,
    maxima: Bytes,
    invalid: Bytes | None = None,
    *,
    logical_block_size: int = LOGICAL_BLOCK_SIZE,
) -> bytes:
    """The buffer of a range index over `span` slots.

    The three payloads are encoded blocks of `u8` with checksums: the stored bytes of the bounds, and the invalid counts
    as `u16`. None for `invalid` stands for counts of 0.
    """
    counts = b"" if invalid is None else invalid
    if not (node.basic_type in WIDTHS or node.is_decimal):
        raise InvalidArgument(f"range index of {node}: expected numbers, times or decimals, found another type")
    if span < 1 or not 1 <= logical_block_size <= _MAX_BLOCK_SIZE or logical_block_size & (logical_block_size - 1):
        found = f"{span} slots in blocks of {logical_block_size}"
        raise InvalidArgument(
            f"range index: expected at least one slot, in blocks of 1..65535 and a power of two, found {found}"
        )
    header = RangeIndexHeader(
        span=span,
        logical_block_size=logical_block_size,
        width=_DECIMAL_SIZE if node.is_decimal else WIDTHS[node.basic_type],
        has_checksum=True,
        sizes=(len(minima), len(maxima), len(counts)),
    )
    for name, payload in zip(_NAMES, (minima, maxima, invalid), strict=True):
        if payload is not None and len(payload) < _ENVELOPE + _CHECKSUM:
            expected = f"a block of at least {_ENVELOPE + _CHECKSUM} bytes"
            raise InvalidArgument(f"range index {name}: expected {expected}, found {len(payload)}")
    content = b"".join((header.encode(node), minima, maxima, counts))
    return content + bytes(-len(content) % _ALIGNMENT)
