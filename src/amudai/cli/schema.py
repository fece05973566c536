"""The command `schema`: show the columns and their types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amudai import Field
from amudai.cli.options import Allow, Json, Location, opened
from amudai.cli.terminal import output, print_json, table

__all__ = ["run"]


def run(location: Location, json: Json = False, allow: Allow = None) -> int:
    """Show the columns: their Arrow types, and how these are stored."""
    with opened(location, allow) as shard:
        nullable = {field.name: field.nullable for field in shard.schema}
        if json:
            print_json([{**_document(field), "nullable": nullable.get(field.name, True)} for field in shard.columns])
        else:
            columns = {"column": "left", "Arrow type": "fold", "stored as": "fold", "": "left"}
            rows = [
                ("  " * depth + _named(field), _shown(field), _stored(field), _required(field, depth, nullable))
                for top in shard.columns
                for depth, field in _below(top, 0)
            ]
            output().print(table(columns, rows))
    return 0


def _below(field: Field, depth: int) -> Iterator[tuple[int, Field]]:
    """A field and all fields below it, each with its depth."""
    yield depth, field
    for child in field.children:
        yield from _below(child, depth + 1)


def _named(field: Field) -> str:
    """The name of a field, and its other names."""
    return f"{field.label} ({', '.join(field.aliases)})" if field.aliases else field.label


def _shown(field: Field) -> str:
    return str(field.type).split("<", 1)[0] if field.children else str(field.type)


def _stored(field: Field) -> str:
    return field.stored_type.split("<", 1)[0] if field.children else field.stored_type


def _required(field: Field, depth: int, nullable: dict[str, bool]) -> str:
    return "not null" if depth == 0 and not nullable.get(field.name, True) else ""


def _document(field: Field) -> dict[str, Any]:
    found: dict[str, Any] = {"name": field.label, "type": str(field.type), "stored_type": field.stored_type}
    if field.aliases:
        found["aliases"] = list(field.aliases)
    if field.extension is not None:
        found["extension"] = {"label": field.extension.label, "properties": dict(field.extension.properties)}
    children = [_document(child) for child in field.children]
    return {**found, "children": children} if children else found
