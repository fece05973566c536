"""The command `copy`: copy or move a shard with all its files."""

from __future__ import annotations

from typing import Annotated

import typer

import amudai
from amudai.asking import size_text
from amudai.cli.files import files_json
from amudai.cli.options import Allow, Json, Location, Overwrite, require_new
from amudai.cli.terminal import output, print_json

__all__ = ["run"]


def run(
    location: Location,
    to: Annotated[str, typer.Option("--output", "-o", metavar="SHARD", help="Path of the copy.", show_default=False)],
    move: Annotated[
        bool, typer.Option("--move", help="Remove the shard, and the files that belong to it alone, afterwards.")
    ] = False,
    overwrite: Overwrite = False,
    allow: Allow = None,
    json: Json = False,
) -> int:
    """Copy a shard with every file that it refers to."""
    require_new(to, overwrite)
    with amudai.copy(location, to, move=move, overwrite=overwrite, allow=allow or ()) as shard:
        files = shard.files
    if json:
        print_json(files_json(files))
        return 0
    count = "1 file" if len(files) == 1 else f"{len(files):,} files"
    said = f"{'moved' if move else 'copied'}, {count} of {size_text(sum(file.bytes for file in files))}"
    output().print(f"{to}: {said}", soft_wrap=True)
    return 0
