"""The command `stats`: show the statistics of columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from amudai import Field, FieldLayout, FieldStats
from amudai.asking import json_line, json_value, size_text
from amudai.cli.fields import fields_below, require_readable
from amudai.cli.options import Allow, Json, Location, opened
from amudai.cli.terminal import output, print_json, table

__all__ = ["run"]

_LONGEST = 32


def run(
    location: Location,
    column: Annotated[
        str | None,
        typer.Argument(metavar="[COLUMN]", help="Show everything that is known about this column.", show_default=False),
    ] = None,
    json: Json = False,
    allow: Allow = None,
) -> int:
    """Show statistics of each column: nulls, bounds, distinct values and sizes. With COLUMN, everything about one."""
    with opened(location, allow) as shard:
        tops = shard.columns if column is None else (shard[column],)
        # The table of all columns does not show encodings, for which the columns would have to be read.
        wants_encodings = json or column is not None
        layout = require_readable(shard.inspect([top.path for top in tops], encodings=wants_encodings))
        fields = [each for top, mine in zip(tops, layout.fields, strict=True) for each in fields_below(top, mine)]
        if json:
            print_json([_document(field, mine) for _, field, mine in fields])
        elif column is None:
            columns = {"column": "left", "nulls": "right", "min": "left", "max": "left", "distinct": "right"}
            rows = [_row(depth, field, mine) for depth, field, mine in fields]
            output().print(table({**columns, "stored": "right", "ratio": "right"}, rows))
        else:
            for _, field, mine in fields:
                output().print(table({field.path: "left", "": "fold"}, _details(field, mine)))
    return 0


def _row(depth: int, field: Field, layout: FieldLayout) -> list[str]:
    stats, stored = field.stats, layout.bytes
    return [
        "  " * depth + field.label,
        "" if stats.null_count is None else f"{stats.null_count:,}",
        _short(stats.min),
        _short(stats.max),
        _distinct(stats),
        size_text(stored),
        "" if not stats.raw_bytes or not stored else f"{stats.raw_bytes / stored:.1f}",
    ]


def _details(field: Field, layout: FieldLayout) -> Iterator[tuple[str, str]]:
    stats = field.stats
    yield "type", f"{field.type}, stored as {field.stored_type}"
    yield "positions", f"{stats.count:,}"
    if stats.null_count is not None:
        yield "nulls", f"{stats.null_count:,}"
    if stats.min is not None:
        yield "min", _text(stats.min)
    if stats.max is not None:
        yield "max", _text(stats.max)
    if stats.distinct_count is not None:
        yield "distinct", _distinct(stats)
    if stats.raw_bytes is not None:
        yield "raw", size_text(stats.raw_bytes)
    yield "stored", size_text(layout.bytes)
    if layout.encodings:
        plans = layout.encodings.items()
        yield "encodings", ", ".join(f"{plan} x{count}" if count > 1 else plan for plan, count in plans)
    for name, value in stats.details.items():
        yield name.replace("_", " "), f"{value:,}"
    for name, noted in field.properties.items():
        yield f"property {name}", _text(noted)


def _distinct(stats: FieldStats) -> str:
    if stats.distinct_count is None:
        return ""
    return f"{'' if stats.distinct_is_exact else '~'}{stats.distinct_count:,}"


def _text(value: object) -> str:
    found = json_value(value)
    return found if isinstance(found, str) else json_line(found)


def _short(value: object) -> str:
    if value is None:
        return ""
    text = _text(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _document(field: Field, layout: FieldLayout) -> dict[str, Any]:
    stats = field.stats
    return {
        "column": field.path,
        "type": str(field.type),
        "stored_type": field.stored_type,
        "count": stats.count,
        "null_count": stats.null_count,
        "min": json_value(stats.min),
        "max": json_value(stats.max),
        "distinct_count": stats.distinct_count,
        "distinct_is_exact": stats.distinct_is_exact,
        "raw_bytes": stats.raw_bytes,
        "stored_bytes": layout.bytes,
        "encodings": layout.encodings,
        "details": stats.details,
    }
