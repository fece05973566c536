"""The command `attach`: make a shard over Parquet files, whose values stay where they are."""

from __future__ import annotations

import os
import time
from typing import Annotated

import typer

import amudai
from amudai import InvalidArgument
from amudai.asking import size_text, time_text
from amudai.cli.option_words import in_option_words
from amudai.cli.options import (
    Allow,
    Hashes,
    Indexes,
    Json,
    Level,
    MaxBytes,
    Overwrite,
    Target,
    Timestamps,
    Tokenizer,
    index_specs,
    names_of,
    require_new,
    timestamps_of,
)
from amudai.cli.terminal import Bar, output, print_json

__all__ = ["run"]


def run(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Parquet files, folders, patterns or URLs.", show_default=False),
    ],
    to: Target,
    index: Indexes = None,
    hash: Hashes = None,  # noqa: A002
    tokenizer: Tokenizer = None,
    max_bytes: MaxBytes = None,
    level: Level = "shard",
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--ranges",
            metavar="NAMES",
            help="Columns that get a range index, separated by commas; all of numbers and times if not given.",
        ),
    ] = None,
    no_ranges: Annotated[
        bool, typer.Option("--no-ranges", help="No range indexes: only the statistics in the footers.")
    ] = False,
    timestamps: Timestamps = "ticks",
    refresh: Annotated[
        bool,
        typer.Option(
            "--refresh", help="FILE is a shard over Parquet files: make it again, with changed and new files."
        ),
    ] = False,
    overwrite: Overwrite = False,
    allow: Allow = None,
    json: Json = False,
) -> int:
    """Index Parquet files in place: the new shard refers to them. Keep them as they are."""
    specs = index_specs(index, hash, level, tokenizer=tokenizer, max_bytes=max_bytes)
    require_new(to, overwrite)
    begin = time.perf_counter()
    with Bar("attaching") as bar, in_option_words():
        if refresh:
            if len(files) != 1 or specs or ranges or no_ranges or timestamps != "ticks":
                raise InvalidArgument("--refresh: expected one shard and no options of indexes, which it keeps")
            shard = amudai.refresh(files[0], to, overwrite=overwrite, allow=allow or (), progress=bar)
        else:
            chosen = [] if no_ranges else names_of(ranges, "--ranges")
            shard = amudai.attach(
                files,
                to,
                indexes=specs,
                ranges=chosen,
                timestamps=timestamps_of(timestamps),
                overwrite=overwrite,
                allow=allow or (),
                progress=bar,
            )
    seconds = time.perf_counter() - begin
    attached = [each for each in shard.files if not each.owned]
    size = sum(each.bytes for each in attached)
    own = sum(each.bytes for each in shard.files if each.owned)
    if json:
        found = {
            "shard": shard.url,
            "files": [each.url for each in attached],
            "rows": shard.num_rows,
            "stripes": len(shard.stripes),
        }
        print_json({**found, "bytes": own, "attached_bytes": size, "seconds": seconds})
        return 0
    count = f"{len(attached):,} Parquet file{'' if len(attached) == 1 else 's'}"
    said = f"{shard.num_rows:,} rows in {count} of {size_text(size)}, indexed in {size_text(own)}"
    output().print(f"{os.path.basename(to)}: {said}, attached in {time_text(seconds)}", soft_wrap=True)
    return 0
