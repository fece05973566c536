"""The command `indexes`: list the indexes of a shard."""

from __future__ import annotations

from dataclasses import asdict

from amudai import Index
from amudai.asking import json_line, json_value, size_text
from amudai.cli.options import Allow, Json, Location, opened
from amudai.cli.terminal import note, output, print_json, table

__all__ = ["run", "type_and_owner"]


def run(location: Location, json: Json = False, allow: Allow = None) -> int:
    """List the indexes of a shard: their types, columns and sizes."""
    with opened(location, allow) as shard:
        found = shard.indexes
        if json:
            print_json([json_value(asdict(index)) for index in found])
        elif found:
            total = shard.size
            rows = [
                (
                    type_and_owner(index),
                    ", ".join(index.fields),
                    "?" if index.size is None else size_text(index.size),
                    "" if index.size is None else f"{100 * index.size / total:.1f} %",
                    "\n".join(f"{name}: {_text(value)}" for name, value in index.properties.items()),
                )
                for index in found
            ]
            columns = {"type": "left", "columns": "fold", "size": "right", "share": "right", "properties": "fold"}
            output().print(table(columns, rows))
        else:
            note("no indexes; `amudai index` adds them")
    return 0


def type_and_owner(index: Index) -> str:
    """The type of an index, and the stripe if it belongs to one."""
    return index.type if index.stripe is None else f"{index.type}, stripe {index.stripe}"


def _text(value: object) -> str:
    found = json_value(value)
    if isinstance(found, list):
        return ", ".join(map(str, found))
    return found if isinstance(found, str) else json_line(found)
