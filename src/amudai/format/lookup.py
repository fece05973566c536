"""The property that says where a look-up finds the buffers of an index.

An artifact of an index is a shard, and opening a shard takes several requests. A property of the artifact says where
the buffers are that every look-up reads, so that the shard need not be opened for them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from amudai.errors import CorruptedData
from amudai.format.encodings import EncodedBuffer, checked_refs
from amudai.format.identity import IDENTITY_SIZE
from amudai.format.property_values import AnyValue, Properties
from amudai.format.references import DataRef

__all__ = ["LOOKUP", "LookupBuffer", "lookup_buffers", "lookup_property"]

LOOKUP: Final = "lookup"
_IDENTITIES: Final = "lookup.identities"
_BUFFER: Final = struct.Struct("<5Q")


class LookupBuffer(NamedTuple):
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

    @property
    def block_count(self) -> int:
        """`blocks`, by the name that the descriptor of a buffer has for it."""
        return self.blocks

    @property
    def block_checksums(self) -> bool:
        """Whether blocks have checksums. They do: look-ups name no other buffers."""
        return True

    def block_refs(self) -> tuple[DataRef, DataRef]:
        """The whole buffer, and its block map inside it. An error if that is impossible."""
        return checked_refs(DataRef("", self.start, self.end), DataRef("", self.block_map, self.end))


def lookup_property(buffers: Sequence[LookupBuffer]) -> Properties:
    """The properties that state these buffers."""
    stated = (_BUFFER.pack(each.start, each.block_map, each.end, each.values, each.blocks) for each in buffers)
    found = ((LOOKUP, AnyValue("bytes", b"".join(stated))),)
    identities = [each.identity for each in buffers if each.identity is not None]
    if len(identities) < len(buffers):
        return found
    return (*found, (_IDENTITIES, AnyValue("bytes", b"".join(identities))))


def lookup_buffers(stated: Mapping[str, object], *counts: int) -> tuple[LookupBuffer, ...] | None:
    """The buffers in the values of properties; None if there are none. `counts`: how many buffers there may be."""
    places, identities = stated.get(LOOKUP), stated.get(_IDENTITIES)
    if not isinstance(places, bytes):
        return None
    count = len(places) // _BUFFER.size
    if counts and count not in counts:
        count = counts[0]
    _require_size(LOOKUP, places, count * _BUFFER.size)
    if not isinstance(identities, bytes):
        return tuple([LookupBuffer(*each) for each in _BUFFER.iter_unpack(places)])
    _require_size(_IDENTITIES, identities, count * IDENTITY_SIZE)
    ends = range(IDENTITY_SIZE, len(identities) + 1, IDENTITY_SIZE)
    return tuple(
        [
            LookupBuffer(start, block_map, end, values, blocks, identities[at - IDENTITY_SIZE : at])
            for (start, block_map, end, values, blocks), at in zip(_BUFFER.iter_unpack(places), ends, strict=True)
        ]
    )


def _require_size(name: str, stated: bytes, expected: int) -> None:
    if len(stated) != expected:
        raise CorruptedData(f"property {name}: expected {expected} bytes, found {len(stated)}")
