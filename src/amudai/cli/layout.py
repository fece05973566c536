"""How do stripes, fields, buffers and blocks lie in a shard?"""

from __future__ import annotations

from dataclasses import dataclass

from amudai.api import Shard
from amudai.column import BufferLayout, ColumnSource
from amudai.errors import InvalidArgument
from amudai.shard import StripeReader

__all__ = ["FieldLayout", "StripeLayout", "layout_of"]


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
    fields = tuple(_field(stripe.column(node), blocks) for node in nodes)
    size = sum(field.bytes for field in fields)
    return StripeLayout(stripe.ordinal, stripe.first_row, stripe.num_rows, size, fields)


def _field(source: ColumnSource, blocks: bool) -> FieldLayout:
    facts = source.describe(blocks=blocks)
    children = () if source.is_absent else tuple(_field(child, blocks) for child in source.children())
    size = facts.bytes + sum(each.bytes for each in children)
    name = source.path if not children and "." not in source.path else source.path.rsplit(".", 1)[-1]
    shown = facts.buffers if blocks else ()
    return FieldLayout(name, str(source.node), size, dict(source.encodings().most_common()), shown, children)
