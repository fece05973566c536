"""The command `merge`: make one shard of several, without copying their values."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

import amudai
from amudai.asking import time_text
from amudai.cli.options import Allow, Json, Overwrite, require_new
from amudai.cli.terminal import Bar, output, print_json

__all__ = ["run"]


def run(
    locations: Annotated[
        list[str], typer.Argument(metavar="SHARD...", help="Paths or URLs of the shards, in order.", show_default=False)
    ],
    to: Annotated[
        str, typer.Option("--output", "-o", metavar="SHARD", help="Path of the new shard.", show_default=False)
    ],
    indexes: Annotated[
        str,
        typer.Option(
            "--indexes",
            metavar="HOW",
            help="What to do with indexes: merge, keep (each with the rows of its shard), rebuild or drop.",
        ),
    ] = "merge",
    widen: Annotated[
        bool, typer.Option("--widen", help="Store columns of different types of numbers again, as the wider type.")
    ] = False,
    overwrite: Overwrite = False,
    allow: Allow = None,
    json: Json = False,
) -> int:
    """Merge shards. This writes a new shard that refers to the files of the old ones: keep them."""
    require_new(to, overwrite)
    begin = time.perf_counter()
    how: Any = indexes
    with Bar("merging") as bar:
        shard = amudai.merge(
            locations, to, indexes=how, widen=widen, overwrite=overwrite, allow=allow or (), progress=bar
        )
    seconds = time.perf_counter() - begin
    stripes = len(shard.stripes)
    if json:
        found = {"shard": shard.url, "shards": len(locations), "rows": shard.num_rows, "stripes": stripes}
        print_json({**found, "seconds": seconds})
        return 0
    said = f"{len(locations):,} shards, {shard.num_rows:,} rows in {stripes:,} stripes"
    output().print(f"{to}: {said}, merged in {time_text(seconds)}", soft_wrap=True)
    return 0
