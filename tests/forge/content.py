"""What does one field hold in one stripe?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from amudai.format.wire import amudai_pb2 as wire
from tests.oracle import block_map


class BufferKind(IntEnum):
    """The kinds of docs/format/container.md."""

    DATA = 0
    PRESENCE = 1
    OFFSETS = 2
    VALUE_DICTIONARY = 3
    OPAQUE_DICTIONARY = 4
    RANGE_INDEX = 5


Block = tuple[int, bytes]
"""Values and bytes of a block, as the block map counts them."""


@dataclass(kw_only=True)
class Buffer:
    """One encoded buffer: blocks with a map behind them, or, where there are no `blocks`, the bytes in `raw`.

    `kind` may be a number that no enum knows. `edit` has the last word on the descriptor.
    """

    kind: int
    blocks: Sequence[Block] | None = None
    raw: bytes = b""
    checksums: bool = True
    embedded_presence: bool = False
    embedded_offsets: bool = False
    segment_size: int = 1024
    edit: Callable[[wire.EncodedBuffer], None] | None = None

    def layout(self) -> tuple[bytes, int | None]:
        """The bytes of the buffer, and where in them the block map begins."""
        if self.blocks is None:
            return self.raw, None
        stored = b"".join(block for _, block in self.blocks)
        stored += bytes(-len(stored) % 16)
        sizes = [(count, len(block)) for count, block in self.blocks]
        return stored + block_map.encode(sizes, self.segment_size), len(stored)

    def message(self, url: str, start: int) -> wire.EncodedBuffer:
        """The descriptor of the buffer that lies at `start` of the file `url`."""
        stored, map_at = self.layout()
        end = start + len(stored)
        message = wire.EncodedBuffer(
            buffer=reference(url, start, end),
            embedded_presence=self.embedded_presence,
            embedded_offsets=self.embedded_offsets,
        )
        message.kind = self.kind  # type: ignore[assignment]
        if map_at is not None and self.blocks is not None:
            message.block_map.CopyFrom(reference(url, start + map_at, end))
            message.block_count = len(self.blocks)
            message.block_checksums = self.checksums
        if self.edit is not None:
            self.edit(message)
        return message


Encodings = Callable[[wire.DataEncoding], Sequence[wire.DataEncoding]]


@dataclass(kw_only=True)
class FieldContent:
    """A field's descriptor and buffers in one stripe.

    `descriptor` is stored as it is. `encodings` turns the native encoding of the buffers into the list that is stored;
    `edit` has the last word on the message, `unknown` is appended to its bytes.
    """

    descriptor: wire.FieldDescriptor
    buffers: list[Buffer] = field(default_factory=list)
    packed_group: bool = False
    encodings: Encodings = lambda native: [native]
    edit: Callable[[wire.StripeFieldDescriptor], None] | None = None
    unknown: bytes = b""
    broken_checksum: bool = False

    def buffer(self, kind: int) -> Buffer:
        """The first buffer of this kind."""
        return next(buffer for buffer in self.buffers if buffer.kind == kind)

    def message(self, buffers: Sequence[wire.EncodedBuffer]) -> wire.StripeFieldDescriptor:
        """The stripe field descriptor, given those of the buffers."""
        native = wire.DataEncoding(native=wire.NativeDataEncoding(buffers=buffers, packed_group=self.packed_group))
        message = wire.StripeFieldDescriptor(field=self.descriptor, encodings=self.encodings(native))
        if self.edit is not None:
            self.edit(message)
        return message


def reference(url: str, start: int, end: int) -> wire.DataRef:
    """A reference to some bytes of a file."""
    return wire.DataRef(url=url, range=wire.UInt64Range(start=start, end=end))


def any_value(value: object, kind: str | None = None) -> wire.AnyValue:
    """A value for properties, constants and bounds; `kind` where Python's type does not tell (`u64`, `decimal`)."""
    if value is None:
        return wire.AnyValue(null_value=wire.UnitValue())
    if kind is None:
        kinds = {bool: "bool", int: "i64", float: "double", str: "string", bytes: "bytes"}
        kind = kinds[type(value)]
    if kind == "datetime":
        return wire.AnyValue(datetime_value=wire.DateTimeUtc(ticks=value))  # type: ignore[arg-type]
    if kind == "timespan":
        return wire.AnyValue(timespan_value=wire.TimeSpan(ticks=value % (1 << 64)))  # type: ignore[operator]
    return wire.AnyValue(**{f"{kind}_value": value})  # type: ignore[arg-type]


def pairs(bag: dict[str, object]) -> list[wire.NameValuePair]:
    """A property bag; values may be `AnyValue`s."""
    return [
        wire.NameValuePair(name=name, value=value if isinstance(value, wire.AnyValue) else any_value(value))
        for name, value in bag.items()
    ]
