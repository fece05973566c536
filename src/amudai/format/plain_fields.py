"""The descriptors of fields that are stored in the simplest way, for readers of thousands of columns."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from amudai import _kernels
from amudai.errors import CorruptedData
from amudai.format.container import Bytes
from amudai.format.encodings import BufferKind
from amudai.format.message import parse
from amudai.format.wire import amudai_pb2 as wire

__all__ = ["PlainBuffer", "payload_spans", "plain_buffer"]

_DATA: Final = int(BufferKind.DATA)
_RANGE_INDEX: Final = int(BufferKind.RANGE_INDEX)


class PlainBuffer(NamedTuple):
    """Where the blocks of a field are, and their map.

    `numbers` are: the start and the end of the buffer, those of its block map, the number of blocks, 1 if blocks have
    checksums, 1 if an identity is behind the buffer, and the two halves of this identity. An unknown number of blocks
    is `_kernels.NOT_READ`.
    """

    url: str
    numbers: tuple[int, ...]

    @property
    def start(self) -> int:
        """The first byte of the buffer."""
        return self.numbers[0]

    @property
    def end(self) -> int:
        """The end of the buffer, without the identity behind it."""
        return self.numbers[1]


def payload_spans(data: Bytes, frames: list[tuple[int, int]], verify: bool) -> list[tuple[int, int]] | None:
    """Where the payloads of frames begin and end, like `unframe` for each; None if it would refuse one of them."""
    starts, ends = np.array(frames, np.uint64).reshape(-1, 2).T.copy()
    found = _kernels.unframe(memoryview(data), starts, ends, verify)
    return None if found is None else list(zip(found[0].tolist(), found[1].tolist(), strict=True))


def plain_buffer(payload: Bytes, positions: int) -> PlainBuffer | None:
    """The only buffer that holds values of a field of `positions` positions, for the payload of its descriptor.

    None if the field has other buffers with values, a constant or a dictionary, an index of its own, or several
    encodings; and if anything is wrong with the descriptor: decoding it in full says what.
    """
    try:
        message = parse(wire.StripeFieldDescriptor, payload)
    except CorruptedData:
        return None
    field = message.field
    has = field.HasField
    if field.position_count != positions or has("constant_value") or has("dictionary_size") or has("indexes"):
        return None
    if field.null_count >= positions or len(message.encodings) != 1:
        return None
    native = message.encodings[0].native
    if native.packed_group:
        return None
    data: wire.EncodedBuffer | None = None
    for buffer in native.buffers:
        kind = buffer.kind
        if kind == _DATA and data is None:
            data = buffer
            continue
        # A range index is not read for values. Its references must be sound, as those of all buffers.
        extent, block_map = buffer.buffer.range, buffer.block_map.range
        if kind != _RANGE_INDEX or extent.end < extent.start or block_map.end < block_map.start:
            return None
    if data is None or data.HasField("packed_group_index"):
        return None
    ref, block_map = data.buffer, data.block_map.range
    extent = ref.range
    start, end, map_start, map_end = extent.start, extent.end, block_map.start, block_map.end
    if not start <= map_start <= map_end <= end:
        return None
    return PlainBuffer(
        ref.url,
        (
            start,
            end,
            map_start,
            map_end,
            data.block_count if data.HasField("block_count") else _kernels.NOT_READ,
            data.block_checksums,
            data.HasField("identity_first"),
            data.identity_first,
            data.identity_last,
        ),
    )
