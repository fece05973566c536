"""The property that says where a look-up finds the buffers of an index.

An artifact of an index is a shard, and opening a shard takes several requests. A property of the artifact says where
the buffers are that every look-up reads, so that the shard need not be opened for them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from amudai.errors import CorruptedData
from amudai.format.encodings import BufferKind, EncodedBuffer
from amudai.format.identity import IDENTITY_SIZE
from amudai.format.property_values import AnyValue, Properties
from amudai.format.references import DataRef

__all__ = ["LOOKUP", "LookupBuffer", "lookup_buffers", "lookup_property"]

LOOKUP: Final = "lookup"
_IDENTITIES: Final = "lookup.identities"
_BUFFER: Final = struct.Struct("<5Q")


@dataclass(frozen=True, slots=True)
class LookupBuffer:
    """A buffer of blocks with checksums, in the file of the artifact.

    Attributes
    ----------
    start, block_map, end
        The start of the buffer, the start of its block map, and the end of both.
    values, blocks
        The number of values and of blocks.
    identity
        What lies behind the buffer; None if nothing does.
    """

    start: int
    block_map: int
    end: int
    values: int
    blocks: int
    identity: bytes | None = None

    @classmethod
    def of(cls, buffer: EncodedBuffer, values: int) -> LookupBuffer | None:
        """The look-up entry for a buffer; None if reading the buffer needs more than an entry says."""
        if buffer.block_count is None or not buffer.block_checksums:
            return None
        whole, block_map = buffer.block_refs()
        if block_map.end != whole.end:
            return None
        return cls(whole.start, block_map.start, whole.end, values, buffer.block_count, buffer.identity)

    def descriptor(self) -> EncodedBuffer:
        """The buffer as the descriptor of a field would describe it."""
        return EncodedBuffer(
            kind=BufferKind.DATA,
            buffer=DataRef("", self.start, self.end),
            block_map=DataRef("", self.block_map, self.end),
            block_count=self.blocks,
            block_checksums=True,
            identity=self.identity,
        )


def lookup_property(buffers: Sequence[LookupBuffer]) -> Properties:
    """The properties that state these buffers."""
    stated = (_BUFFER.pack(each.start, each.block_map, each.end, each.values, each.blocks) for each in buffers)
    found = ((LOOKUP, AnyValue("bytes", b"".join(stated))),)
    identities = [each.identity for each in buffers if each.identity is not None]
    if len(identities) < len(buffers):
        return found
    return (*found, (_IDENTITIES, AnyValue("bytes", b"".join(identities))))


def lookup_buffers(properties: Properties, *counts: int) -> tuple[LookupBuffer, ...] | None:
    """The buffers in `properties`; None if there are none. `counts` are the numbers of buffers that there may be."""
    stated = _bytes(properties, LOOKUP)
    if stated is None:
        return None
    count = len(stated) // _BUFFER.size
    if counts and count not in counts:
        count = counts[0]
    _require_size(LOOKUP, stated, count * _BUFFER.size)
    identities = _bytes(properties, _IDENTITIES)
    if identities is None:
        return tuple(LookupBuffer(*each) for each in _BUFFER.iter_unpack(stated))
    _require_size(_IDENTITIES, identities, count * IDENTITY_SIZE)
    each_identity = (identities[at : at + IDENTITY_SIZE] for at in range(0, len(identities), IDENTITY_SIZE))
    return tuple(
        LookupBuffer(start, block_map, end, values, blocks, identity)
        for (start, block_map, end, values, blocks), identity in zip(
            _BUFFER.iter_unpack(stated), each_identity, strict=True
        )
    )


def _bytes(properties: Properties, wanted: str) -> bytes | None:
    for name, stated in properties:
        if name == wanted and isinstance(stated.value, bytes):
            return stated.value
    return None


def _require_size(name: str, stated: bytes, expected: int) -> None:
    if len(stated) != expected:
        raise CorruptedData(f"property {name}: expected {expected} bytes, found {len(stated)}")
