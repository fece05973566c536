"""How does a shard look?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from amudai.errors import AmudaiError

if TYPE_CHECKING:
    from amudai.api.field import Field
    from amudai.api.shard import Shard

__all__ = ["field_html", "field_text", "shard_html", "shard_text", "size_text"]

_UNITS = ("B", "kB", "MB", "GB", "TB")


def size_text(size: float) -> str:
    """A size for people.

    >>> size_text(1_234_567)
    '1.2 MB'
    """
    for unit in _UNITS[:-1]:
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} {_UNITS[-1]}"


def shard_text(shard: Shard, fields: int) -> str:
    """The shard as a tree."""
    lines = [_headline(shard)]
    lines += [
        f"├─ stripe {stripe.ordinal}: rows {stripe.first_row:,}..{stripe.first_row + stripe.num_rows:,}"
        for stripe in shard.stripes[:20]
    ]
    if len(shard.stripes) > 20:
        lines.append(f"├─ and {len(shard.stripes) - 20:,} more stripes")
    rows = list(_rows(shard, fields))
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    for name, kind, size, rest in rows:
        lines.append(f"├─ {name:<{widths[0]}}  {kind:<{widths[1]}}  {size:>{widths[2]}}  {rest}".rstrip())
    count = len(shard._fields.visible())
    if count > fields:
        lines.append(f"├─ and {count - fields:,} more columns")
    lines += [f"├─ index {index.index_type} over fields {list(index.indexed_fields)}" for index in shard.indexes]
    lines[-1] = lines[-1].replace("├─", "└─", 1)
    return "\n".join(lines)


def field_text(field: Field) -> str:
    """The field and those below it, a line each."""
    return "\n".join(f"{name}  {kind}  {size}  {rest}" for name, kind, size, rest in _field_rows(field, 0))


def shard_html(shard: Shard) -> str:
    """The shard as an HTML table."""
    stripes = "".join(
        f"<tr><td>{each.ordinal}</td><td>{each.first_row:,}</td><td>{each.num_rows:,}</td></tr>"
        for each in shard.stripes[:20]
    )
    return (
        f"<div><b>{escape(_headline(shard))}</b>"
        f"<details><summary>{len(shard.stripes):,} stripes</summary><table><tr><th>stripe</th><th>first row</th>"
        f"<th>rows</th></tr>{stripes}</table></details>{_table(_rows(shard, 50))}</div>"
    )


def field_html(field: Field) -> str:
    """The field as an HTML table."""
    return _table(_field_rows(field, 0))


Row = tuple[str, str, str, str]


def _headline(shard: Shard) -> str:
    directory = shard._reader.directory
    name = shard.url.rsplit("/", 1)[-1]
    size = size_text(shard._reader.root.size)
    return f"{name}: {directory.total_records:,} rows, {directory.stripe_count:,} stripes, root file {size}"


def _rows(shard: Shard, fields: int) -> Iterator[Row]:
    for index, field in enumerate(shard):
        if index == fields:
            return
        yield from _field_rows(field, 0)


def _field_rows(field: Field, depth: int) -> Iterator[Row]:
    name = "  " * depth + field.label
    try:
        size = size_text(field.encoded_bytes)
        plans = ", ".join(f"{plan} x{blocks}" if blocks > 1 else plan for plan, blocks in field.encodings.items())
        rest = "  ".join(part for part in (plans, _stats_text(field)) if part)
    except AmudaiError as error:
        # A damaged or unknown field must not hide the others.
        size, rest = "?", f"unreadable: {error.message}"
    yield name, field.stored_type if not list(field) else field.stored_type.split("<", 1)[0], size, rest
    for child in field:
        yield from _field_rows(child, depth + 1)


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


def _table(rows: Iterable[Row]) -> str:
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left;white-space:pre'>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><tr><th>column</th><th>type</th><th>size</th><th>encodings, statistics</th></tr>{body}</table>"
