"""The command `append`: add rows to a folder of shards, or to one shard."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from amudai import Dataset, append, read_files
from amudai.asking import count_text, time_text
from amudai.cli.options import Allow, Hashes, Indexes, Json, Profile, index_specs, profile_choice
from amudai.cli.terminal import output, print_json

__all__ = ["run"]


def run(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="A folder of shards, or a shard.", show_default=False)
    ],
    sources: Annotated[
        list[str], typer.Argument(metavar="FILES...", help="Files with the rows to add.", show_default=False)
    ],
    format: Annotated[str | None, typer.Option("--format", "-f", help="Format of the files.")] = None,  # noqa: A002
    profile: Profile = None,
    index: Indexes = None,
    hash: Hashes = None,  # noqa: A002
    allow: Allow = None,
    json: Json = False,
) -> int:
    """Add the rows of FILES: as one more shard of a folder, or to one shard, whose old rows are not read."""
    begin = time.perf_counter()
    specs = index_specs(index, hash, "shard") or None
    with read_files(sources, format=format) as source:
        found = append(target, source, profile=profile_choice(profile), indexes=specs, allow=allow or ())
    seconds = time.perf_counter() - begin
    if json:
        shards = len(found.shards) if isinstance(found, Dataset) else 1
        print_json({"target": target, "rows": found.num_rows, "shards": shards, "seconds": seconds})
    else:
        said = f"{count_text(found.num_rows, 'row')} in all"
        if isinstance(found, Dataset):
            said += f", {count_text(len(found.shards), 'shard')}"
        output().print(f"{target}: {said}, in {time_text(seconds)}", soft_wrap=True)
    return 0
