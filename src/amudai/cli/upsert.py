"""The command `upsert`: replace rows by their keys."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from amudai import read_files, upsert
from amudai.asking import count_text, time_text
from amudai.cli.options import Allow, Json, Location, Overwrite, Target, names_of, opened, require_new
from amudai.cli.terminal import Bar, output, print_json

__all__ = ["run"]


def run(
    location: Location,
    sources: Annotated[
        list[str],
        typer.Argument(metavar="FILES...", help="Files with the columns of the shard.", show_default=False),
    ],
    to: Target,
    key: Annotated[
        list[str],
        typer.Option("--key", "-k", metavar="NAMES", help="Columns that identify a row, separated by commas."),
    ],
    format: Annotated[str | None, typer.Option("--format", "-f", help="Format of the files.")] = None,  # noqa: A002
    overwrite: Overwrite = False,
    allow: Allow = None,
    json: Json = False,
) -> int:
    """Replace the rows that have the same key as a row in FILES, and add the other rows of FILES."""
    require_new(to, overwrite)
    begin = time.perf_counter()
    with opened(location, allow) as shard:
        types = {field.name: field.type for field in shard.schema}
        with read_files(sources, format=format, types=types) as source, Bar("writing") as bar:
            keys = names_of(key, "--key") or []
            found = upsert(shard, source, keys, to=to, overwrite=overwrite, allow=allow or (), progress=bar)
        added = found.num_positions - shard.num_positions
        replaced = shard.num_rows + added - found.num_rows
    seconds = time.perf_counter() - begin
    if json:
        document = {"shard": found.url, "rows": found.num_rows, "added": added, "replaced": replaced}
        print_json({**document, "seconds": seconds})
    else:
        what = f"{count_text(added, 'row')} written, {count_text(replaced, 'row')} replaced, {found.num_rows:,} in all"
        output().print(f"{to}: {what} in {time_text(seconds)}", soft_wrap=True)
    return 0
