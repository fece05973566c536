"""The command `compact`: write the rows of shards anew as one shard."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from amudai import compact
from amudai.asking import count_text, size_text, time_text
from amudai.cli.options import (
    Allow,
    Compatibility,
    Json,
    Overwrite,
    Profile,
    Target,
    Where,
    names_of,
    profile_choice,
    readers,
    require_new,
)
from amudai.cli.terminal import Bar, output, print_json

__all__ = ["run"]


def run(
    shards: Annotated[list[str], typer.Argument(metavar="SHARDS...", help="Paths or URLs.", show_default=False)],
    to: Target,
    sort_by: Annotated[
        list[str] | None,
        typer.Option(
            "--sort-by", metavar="NAMES", help="Columns to sort by, separated by commas; -NAME for descending."
        ),
    ] = None,
    where: Where = None,
    stripe_rows: Annotated[
        int | None, typer.Option("--stripe-rows", help="Rows per stripe. Default: a single stripe.", min=1)
    ] = None,
    processes: Annotated[
        int,
        typer.Option(
            "--processes",
            metavar="N",
            help="Processes that share the work. The new shard refers to their parts.",
            min=1,
        ),
    ] = 1,
    profile: Profile = None,
    compatibility: Compatibility = "reference",
    overwrite: Overwrite = False,
    allow: Allow = None,
    json: Json = False,
) -> int:
    """Write the rows of shards anew as one shard, without deleted rows."""
    require_new(to, overwrite)
    keys = [
        (name.removeprefix("-"), "descending" if name.startswith("-") else "ascending")
        for name in names_of(sort_by, "--sort-by") or ()
    ]
    begin = time.perf_counter()
    with Bar("compacting") as bar:
        found = compact(
            shards,
            to,
            sort_by=keys,
            where=where,
            stripe_rows=stripe_rows,
            profile=profile_choice(profile),
            compatibility=readers(compatibility),
            overwrite=overwrite,
            allow=allow or (),
            processes=processes,
            progress=bar,
        )
    seconds = time.perf_counter() - begin
    if json:
        print_json({"shard": found.url, "rows": found.num_rows, "bytes": found.size, "seconds": seconds})
        return 0
    line = f"{to}: {count_text(found.num_rows, 'row')} of {count_text(len(shards), 'shard')}"
    output().print(f"{line}, {size_text(found.size)}, written in {time_text(seconds)}", soft_wrap=True)
    return 0
