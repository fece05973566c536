"""Shards and fields as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amudai.errors import AmudaiError
from amudai.inspect import FieldLayout, Index, counted, size_text, total_layouts

if TYPE_CHECKING:
    from amudai.api.field import Field
    from amudai.api.shard import Shard
    from amudai.api.stripe import Stripe

__all__ = ["FieldRow", "field_rows", "field_text", "headline", "shard_rows", "shard_text"]


@dataclass(frozen=True, slots=True)
class FieldRow:
    """What the display says about a field. `problem` says why something is missing."""

    depth: int
    name: str
    type: str
    size: str
    encodings: tuple[str, ...]
    statistics: str
    problem: str = ""

    @property
    def rest(self) -> str:
        """Encodings, statistics and problem in a line."""
        return "  ".join(part for part in (", ".join(self.encodings), self.statistics, self.problem) if part)


def shard_text(shard: Shard, fields: int) -> str:
    """The shard as a tree."""
    lines = [headline(shard)]
    lines += [
        f"├─ stripe {stripe.ordinal}: rows {stripe.rows.start:,}..{stripe.rows.stop:,}{_deleted(stripe)}"
        for stripe in shard.stripes[:20]
    ]
    if len(shard.stripes) > 20:
        lines.append(f"├─ and {counted(len(shard.stripes) - 20, 'more stripe')}")
    rows = list(shard_rows(shard, fields))
    names = ["  " * row.depth + row.name for row in rows]
    width, types, sizes = (
        max(map(len, texts), default=0) for texts in (names, [row.type for row in rows], [row.size for row in rows])
    )
    for name, row in zip(names, rows, strict=True):
        lines.append(f"├─ {name:<{width}}  {row.type:<{types}}  {row.size:>{sizes}}  {row.rest}".rstrip())
    count = len(shard.columns)
    if count > fields:
        lines.append(f"├─ and {counted(count - fields, 'more column')}")
    lines += [f"├─ index {index.type}{_place(index)} over {', '.join(index.fields)}" for index in shard.indexes[:20]]
    if len(shard.indexes) > 20:
        lines.append(f"├─ and {len(shard.indexes) - 20:,} more indexes")
    lines[-1] = lines[-1].replace("├─", "└─", 1)
    return "\n".join(lines)


def _place(index: Index) -> str:
    return "" if index.stripe is None else f" of stripe {index.stripe}"


def field_text(field: Field) -> str:
    """The field and those below it, a line each."""
    return "\n".join(f"{'  ' * row.depth}{row.name}  {row.type}  {row.size}  {row.rest}" for row in field_rows(field))


def headline(shard: Shard) -> str:
    """The shard in a line."""
    name = shard.url.rsplit("/", 1)[-1]
    size = size_text(shard._reader.root.size)
    rows, stripes = counted(shard.num_rows, "row"), counted(shard._reader.directory.stripe_count, "stripe")
    return f"{name}: {rows}{_deleted(shard)}, {stripes}, root file {size}"


def _deleted(holder: Shard | Stripe) -> str:
    gone = holder.num_positions - holder.num_rows
    return f", {gone:,} deleted" if gone else ""


def shard_rows(shard: Shard, fields: int) -> Iterator[FieldRow]:
    """The first columns of a shard, with the fields below them."""
    columns = shard.columns[:fields]
    layouts = total_layouts(shard._reader, [column._nodes for column in columns], "encodings")
    for column, layout in zip(columns, layouts, strict=True):
        yield from _rows(column, layout, 0)


def field_rows(field: Field) -> Iterator[FieldRow]:
    """A field and those below it."""
    (layout,) = total_layouts(field._reader, [field._nodes], "encodings")
    return _rows(field, layout, 0)


def _rows(field: Field, layout: FieldLayout, depth: int) -> Iterator[FieldRow]:
    kind = layout.type.split("<", 1)[0] if layout.children else layout.type
    size = "?" if layout.problems else size_text(layout.bytes)
    plans = tuple(f"{plan} x{blocks}" if blocks > 1 else plan for plan, blocks in (layout.encodings or {}).items())
    # A damaged or unknown field must not hide the others.
    error = None if layout.problem is None else layout.problem.error
    statistics = ""
    if error is None:
        try:
            statistics = _stats_text(field)
        except AmudaiError as found:
            error = found
    problem = "" if error is None else f"unreadable: {error.message}"
    others = f" ({', '.join(field.aliases)})" if field.aliases else ""
    yield FieldRow(depth, f"{layout.name}{others}", kind, size, plans, statistics, problem)
    for child, below in zip(field.children, layout.children, strict=True):
        yield from _rows(child, below, depth + 1)


def _stats_text(field: Field) -> str:
    stats = field.stats
    parts = []
    if stats.null_count:
        parts.append(f"{stats.null_count:,} null")
    if stats.min is not None or stats.max is not None:
        parts.append(f"{_short(stats.min)}..{_short(stats.max)}")
    if stats.distinct_count is not None:
        parts.append(f"{'' if stats.distinct_is_exact else '~'}{stats.distinct_count:,} distinct")
    return ", ".join(parts)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 30 else f"{text[:29]}…"
