"""The command `columns`: list, add, drop and rename the columns of a shard."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from amudai import InvalidArgument, Shard, drop_columns, read_files, rename_columns, with_columns
from amudai.cli.options import Allow, Hashes, Indexes, Json, Location, Overwrite, index_specs, opened, require_new
from amudai.cli.terminal import Bar, output, print_json, table

__all__ = ["run"]


def run(
    action: Annotated[
        Literal["list", "add", "drop", "rename"],
        typer.Argument(help="What to do. list shows columns, the others write a new shard.", show_default=False),
    ],
    location: Location,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COLUMN",
            help="add: files with the new columns. drop: names. rename: OLD=NEW.",
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="SHARD", help="Path of the new shard.", show_default=False),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="add: replace columns that exist.")] = False,
    index: Indexes = None,
    hash: Hashes = None,  # noqa: A002
    overwrite: Overwrite = False,
    allow: Allow = None,
    json: Json = False,
) -> int:
    """List, add, drop or rename columns. A new shard refers to the files of the old one: keep them."""
    given = names or []
    if action == "list":
        if given or to is not None:
            raise InvalidArgument("columns list: expected a shard alone, found more arguments")
        with opened(location, allow) as shard:
            return _show(shard, json)
    if not given or to is None:
        raise InvalidArgument(f"columns {action}: expected columns and --output, found {'no -o' if given else 'none'}")
    require_new(to, overwrite)
    if action == "add":
        specs = index_specs(index, hash, "shard", tokenizer=None, granularity=None, max_bytes=None)
        with Bar("adding") as bar, read_files(given) as source:
            made = with_columns(
                location,
                source.to_reader(),
                to,
                indexes=specs,
                replace=replace,
                overwrite=overwrite,
                allow=allow or (),
                progress=bar,
            )
    elif action == "drop":
        made = drop_columns(location, given, to, overwrite=overwrite, allow=allow or ())
    else:
        made = rename_columns(location, dict(map(_pair, given)), to, overwrite=overwrite, allow=allow or ())
    return _show(made, json)


def _pair(text: str) -> tuple[str, str]:
    old, equals, new = text.rpartition("=")
    if not equals or not old or not new:
        raise InvalidArgument(f"columns rename: expected OLD=NEW, found {text!r}")
    return old, new


def _show(shard: Shard, json: bool) -> int:
    columns = [(field.name, str(field.type), field.stored_type) for field in shard.columns]
    internal = [(role, str(field.type), field.stored_type) for role, field in shard.internal.items()]
    if json:
        keys = ("name", "type", "stored")
        document = {
            "shard": shard.url,
            "columns": [dict(zip(keys, each, strict=True)) for each in columns],
            "internal": [dict(zip(keys, each, strict=True)) for each in internal],
        }
        print_json(document)
        return 0
    rows = [*columns, *((f"@{role}", kind, stored) for role, kind, stored in internal)]
    output().print(table({"column": "fold", "type": "fold", "stored as": "fold"}, rows))
    return 0
