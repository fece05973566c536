"""The command `gc`: find files that no shard refers to."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

import typer

import amudai
from amudai import InvalidArgument
from amudai.asking import json_value, size_text
from amudai.cli.options import Allow, Json
from amudai.cli.terminal import note, output, print_json, table

__all__ = ["run"]


def run(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Folder with shards.", show_default=False)],
    remove: Annotated[bool, typer.Option("--remove", help="Remove the files. Without this they are listed.")] = False,
    hours: Annotated[
        float, typer.Option("--older-than", metavar="HOURS", help="Only files that are older than this many hours.")
    ] = 24.0,
    json: Json = False,
    allow: Allow = None,
) -> int:
    """Find files of stripes and indexes that no shard in a folder, or below it, refers to."""
    if not hours >= 0:
        raise InvalidArgument(f"--older-than: expected at least 0 hours, found {hours}")
    found = amudai.gc(folder, dry_run=not remove, older_than=timedelta(hours=hours), allow=allow or ())
    if json:
        print_json([json_value(asdict(file)) for file in found])
        return 0
    if not found:
        note("nothing: every file of a stripe or an index is in use, or too new")
        return 0
    rows = [(file.kind, size_text(file.bytes), "removed" if file.removed else "", file.url) for file in found]
    output().print(table({"kind": "left", "size": "right", "": "left", "url": "fold"}, rows))
    if not remove:
        note(f"{len(found):,} of them; `amudai gc --remove` removes them")
    return 0
