"""The command `salvage`: save the rows of a damaged shard that can be read."""

from __future__ import annotations

import time
from typing import Annotated, Literal

import typer

from amudai import salvage
from amudai.asking import count_text, size_text, time_text
from amudai.cli.options import (
    Allow,
    Columns,
    Compatibility,
    Json,
    Location,
    Overwrite,
    Profile,
    Target,
    names_of,
    profile_choice,
    readers,
    require_new,
)
from amudai.cli.terminal import Bar, output, print_json

__all__ = ["run"]


def run(
    location: Location,
    to: Target,
    columns: Columns = None,
    missing: Annotated[
        Literal["drop", "null"],
        typer.Option("--missing", help="Drop rows of which a column is lost, or keep them with null in its place."),
    ] = "drop",
    profile: Profile = None,
    compatibility: Compatibility = "reference",
    overwrite: Overwrite = False,
    json: Json = False,
    allow: Allow = None,
) -> int:
    """Save the rows of a damaged shard that can be read as a new shard, and list what was lost."""
    require_new(to, overwrite)
    begin = time.perf_counter()
    with Bar("salvaging") as bar:
        found = salvage(
            location,
            to,
            columns=names_of(columns, "--columns"),
            missing=missing,
            profile=profile_choice(profile),
            compatibility=readers(compatibility),
            overwrite=overwrite,
            progress=bar,
            allow=allow or (),
        )
    seconds = time.perf_counter() - begin
    if json:
        lost = [
            {
                "column": each.column,
                "stripe": each.stripe,
                "first": each.first,
                "end": each.end,
                "reason": each.reason,
            }
            for each in found.lost
        ]
        document = {"shard": found.shard.url, "rows": found.shard.num_rows, "lost_rows": found.lost_rows}
        print_json({**document, "lost": lost, "notes": list(found.notes), "seconds": seconds})
        return 0
    rows = f"{count_text(found.shard.num_rows, 'row')} saved, {count_text(found.lost_rows, 'row')} lost"
    output().print(f"{to}: {rows}, {size_text(found.shard.size)}, written in {time_text(seconds)}", soft_wrap=True)
    for line in (*map(str, found.lost), *found.notes):
        output().print(f"  {line}", soft_wrap=True)
    return 0
