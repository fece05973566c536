"""How do stripes, fields, buffers and blocks lie in a shard?"""

from __future__ import annotations

from dataclasses import dataclass

from amudai.api import Shard
from amudai.errors import InvalidArgument
from amudai.format import BufferKind
from amudai.shard import FieldReader, StripeReader
from amudai.types import CONTAINERS, quote_name

__all__ = ["BlockLayout", "BufferLayout", "FieldLayout", "StripeLayout", "layout_of"]


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """A block; `start` counts from that of its buffer, the first value from that of its stripe's field."""

    ordinal: int
    first_value: int
    values: int
    start: int
    bytes: int
    encoding: str


@dataclass(frozen=True, slots=True)
class BufferLayout:
    """A buffer of a field; its blocks are those that were asked for."""

    kind: str
    file: str
    start: int
    bytes: int
    block_count: int | None
    blocks: tuple[BlockLayout, ...]


@dataclass(frozen=True, slots=True)
class FieldLayout:
    """A field in one stripe; its bytes are those of its own buffers and of the fields below it."""

    name: str
    type: str
    bytes: int
    encodings: dict[str, int]
    buffers: tuple[BufferLayout, ...]
    children: tuple[FieldLayout, ...]


@dataclass(frozen=True, slots=True)
class StripeLayout:
    """A stripe and its fields."""

    ordinal: int
    first_row: int
    rows: int
    bytes: int
    fields: tuple[FieldLayout, ...]


def layout_of(shard: Shard, *, stripe: int | None = None, blocks: bool = False) -> list[StripeLayout]:
    """The layout of all stripes, or of one; with `blocks`, which reads them, down to the blocks."""
    readers = shard._reader.stripes
    if stripe is not None:
        if stripe >= len(readers):
            raise InvalidArgument(f"--stripe: expected 0..{len(readers) - 1}, found {stripe}")
        readers = readers[stripe : stripe + 1]
    return [_stripe(reader, blocks) for reader in readers]


def _stripe(stripe: StripeReader, blocks: bool) -> StripeLayout:
    nodes = stripe.shard.schema.fields()
    fields = tuple(_field(stripe.field(node, quote_name(node.name), stripe.num_rows), blocks) for node in nodes)
    size = sum(field.bytes for field in fields)
    return StripeLayout(stripe.ordinal, stripe.first_row, stripe.num_rows, size, fields)


def _field(field: FieldReader, blocks: bool) -> FieldLayout:
    buffers = _buffers(field, blocks)
    below = range(len(field.node.children)) if field.node.basic_type in CONTAINERS and field.descriptor else ()
    children = tuple(_field(field.child(index), blocks) for index in below)
    size = sum(each.bytes for each in buffers) + sum(each.bytes for each in children)
    name = field.path if not children and "." not in field.path else field.path.rsplit(".", 1)[-1]
    shown = buffers if blocks else ()
    return FieldLayout(name, str(field.node), size, dict(field.encodings().most_common()), shown, children)


def _buffers(field: FieldReader, blocks: bool) -> tuple[BufferLayout, ...]:
    if field.descriptor is None:
        return ()
    of_blocks = dict(field.block_buffers()) if blocks else {}
    found = []
    for buffer in field.encoding.buffers:
        if buffer.buffer is None:
            continue
        kind = buffer.kind.name.lower().replace("_", " ") if isinstance(buffer.kind, BufferKind) else str(buffer.kind)
        opened = of_blocks.get(buffer.kind) if isinstance(buffer.kind, BufferKind) else None
        listed: tuple[BlockLayout, ...] = ()
        if opened is not None and isinstance(buffer.kind, BufferKind):
            offsets, values = opened.block_map.offsets.tolist(), opened.block_map.values.tolist()
            listed = tuple(
                BlockLayout(
                    at, values[at], values[at + 1] - values[at], offsets[at], offsets[at + 1] - offsets[at], plan
                )
                for at, plan in enumerate(field.block_encodings(buffer.kind, opened))
            )
        count = len(listed) if opened is not None else buffer.block_count
        url = field.stripe.artifact_of(buffer).url
        found.append(BufferLayout(kind, url, buffer.buffer.start, buffer.buffer.size, count, listed))
    return tuple(found)
