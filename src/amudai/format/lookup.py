"""Where do the columns of an index lie that a look-up reads?

A piece of an index is a shard, and opening one takes several requests. A property of the piece says where the buffers
lie that every look-up reads, so that it need not be opened for them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from amudai.errors import CorruptedData
from amudai.format.encodings import BufferKind, EncodedBuffer
from amudai.format.property_values import AnyValue, Properties
from amudai.format.references import DataRef

__all__ = ["LOOKUP", "LookupBuffer", "lookup_buffers", "lookup_property"]

LOOKUP: Final = "lookup"
_BUFFER: Final = struct.Struct("<5Q")


@dataclass(frozen=True, slots=True)
class LookupBuffer:
    """A buffer of blocks with checksums, in the file of the piece.

    Attributes
    ----------
    start, block_map, end
        Where it begins, where its block map does, and where both end.
    values, blocks
        How many there are.
    """

    start: int
    block_map: int
    end: int
    values: int
    blocks: int

    @classmethod
    def of(cls, buffer: EncodedBuffer, values: int) -> LookupBuffer | None:
        """What is to be said of a buffer; None where that would not be all."""
        if buffer.block_count is None or not buffer.block_checksums:
            return None
        whole, block_map = buffer.block_refs()
        if block_map.end != whole.end:
            return None
        return cls(whole.start, block_map.start, whole.end, values, buffer.block_count)

    def descriptor(self) -> EncodedBuffer:
        """The buffer as a field of the piece would describe it."""
        return EncodedBuffer(
            kind=BufferKind.DATA,
            buffer=DataRef("", self.start, self.end),
            block_map=DataRef("", self.block_map, self.end),
            block_count=self.blocks,
            block_checksums=True,
        )


def lookup_property(buffers: Sequence[LookupBuffer]) -> Properties:
    """The property that states these buffers."""
    stated = (_BUFFER.pack(each.start, each.block_map, each.end, each.values, each.blocks) for each in buffers)
    return ((LOOKUP, AnyValue("bytes", b"".join(stated))),)


def lookup_buffers(properties: Properties, count: int | None = None) -> tuple[LookupBuffer, ...] | None:
    """The buffers that properties state; None where they state none. `count` is how many a type of index has."""
    for name, stated in properties:
        if name == LOOKUP and isinstance(stated.value, bytes):
            wanted = len(stated.value) // _BUFFER.size if count is None else count
            if len(stated.value) != wanted * _BUFFER.size:
                expected = wanted * _BUFFER.size
                raise CorruptedData(f"property {LOOKUP}: expected {expected} bytes, found {len(stated.value)}")
            return tuple(LookupBuffer(*each) for each in _BUFFER.iter_unpack(stated.value))
    return None
