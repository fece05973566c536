"""Shards and fields as HTML, for notebooks.

Colours are those of the notebook, in light and in dark; nothing is loaded from elsewhere, and every text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from amudai.api.display import FieldRow, field_rows, headline, shard_rows
from amudai.inspect import counted, size_text

if TYPE_CHECKING:
    from amudai.api.field import Field
    from amudai.api.shard import Shard

__all__ = ["field_html", "shard_html"]

_COLUMNS, _STRIPES, _PLANS = 50, 20, 3  # shown of each; the rest is counted
_LEFT: Final = "text-align:left;vertical-align:top"
_RIGHT: Final = "text-align:right;vertical-align:top;white-space:nowrap"
_SOFT: Final = "opacity:.7"


def shard_html(shard: Shard) -> str:
    """The shard as HTML: columns, indexes, stripes."""
    name, _, rest = headline(shard).partition(": ")
    parts = [f"<div><b>{escape(name)}</b> <span style='{_SOFT}'>{escape(rest)}</span></div>"]
    parts.append(_fields(shard_rows(shard, _COLUMNS)))
    if (more := len(shard.columns) - _COLUMNS) > 0:
        parts.append(f"<div style='{_SOFT}'>and {counted(more, 'more column')}</div>")
    if shard.indexes:
        listed = [
            (
                index.type,
                ", ".join(index.fields),
                "" if index.stripe is None else f"{index.stripe}",
                "" if index.size is None else size_text(index.size),
            )
            for index in shard.indexes[:_STRIPES]
        ]
        if (more := len(shard.indexes) - _STRIPES) > 0:
            listed.append((f"and {more:,} more", "", "", ""))
        title = counted(len(shard.indexes), "index", "indexes")
        parts.append(_details(title, ("type", "fields", ">stripe", ">size"), listed))
    if len(shard.stripes) > 1:
        rows = [
            (
                f"{each.ordinal}",
                f"{each.first_row:,}",
                f"{each.num_rows:,}",
                f"{each.num_positions - each.num_rows:,}",
            )
            for each in shard.stripes[:_STRIPES]
        ]
        if (more := len(shard.stripes) - _STRIPES) > 0:
            rows.append((f"and {more:,} more", "", "", ""))
        heads = (">stripe", ">first row", ">rows", ">deleted")
        parts.append(_details(counted(len(shard.stripes), "stripe"), heads, rows))
    return f"<div>{''.join(parts)}</div>"


def field_html(field: Field) -> str:
    """The field and those below it as an HTML table."""
    return _fields(field_rows(field))


def _fields(rows: Iterable[FieldRow]) -> str:
    cells = [
        (
            f"<span style='padding-left:{row.depth * 1.2:.1f}em'>{escape(row.name)}</span>",
            f"<code>{escape(row.type)}</code>",
            escape(row.size),
            _plans(row.encodings),
            escape(row.problem or row.statistics),
        )
        for row in rows
    ]
    return _table(("column", "type", ">size", "encodings", "statistics"), cells)


def _plans(plans: Sequence[str]) -> str:
    shown = "<br>".join(f"<code>{escape(plan)}</code>" for plan in plans[:_PLANS])
    if len(plans) <= _PLANS:
        return shown
    others = escape(", ".join(plans[_PLANS:]), quote=True)
    return f'{shown}<br><span style="{_SOFT}" title="{others}">and {len(plans) - _PLANS:,} more</span>'


def _details(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    table = _table(heads, [[escape(cell) for cell in row] for row in rows])
    return f"<details><summary>{escape(title)}</summary>{table}</details>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are HTML; a column whose head begins with `>` has figures."""
    styles = [_RIGHT if head.startswith(">") else _LEFT for head in heads]
    lines = [_line("th", [escape(head.removeprefix(">")) for head in heads], styles)]
    lines += [_line("td", row, styles) for row in rows]
    return f"<table>{''.join(lines)}</table>"


def _line(tag: str, cells: Sequence[str], styles: Sequence[str]) -> str:
    row = "".join(f"<{tag} style='{style}'>{cell}</{tag}>" for cell, style in zip(cells, styles, strict=True))
    return f"<tr>{row}</tr>"
