"""The command `index`: add indexes to a shard."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated

import typer

from amudai import Index, InvalidArgument, add_indexes
from amudai.asking import json_value, size_text, time_text
from amudai.cli.indexes import type_and_owner
from amudai.cli.options import (
    Allow,
    Granularity,
    Hashes,
    Indexes,
    Json,
    Level,
    Location,
    MaxBytes,
    Overwrite,
    Tokenizer,
    index_specs,
    require_new,
)
from amudai.cli.terminal import Bar, output, print_json, table

__all__ = ["run"]


def run(
    location: Location,
    to: Annotated[
        str,
        typer.Option("--output", "-o", metavar="SHARD", help="Path of the new shard.", show_default=False),
    ],
    index: Indexes = None,
    hash: Hashes = None,  # noqa: A002
    tokenizer: Tokenizer = None,
    granularity: Granularity = None,
    max_bytes: MaxBytes = None,
    level: Level = "shard",
    overwrite: Overwrite = False,
    json: Json = False,
    allow: Allow = None,
) -> int:
    """Add indexes to a shard. This writes a new shard that refers to the files of the old one: keep them."""
    specs = index_specs(index, hash, level, tokenizer=tokenizer, granularity=granularity, max_bytes=max_bytes)
    if not specs:
        raise InvalidArgument("index: expected --index or --hash, found neither")
    require_new(to, overwrite)
    begin = time.perf_counter()
    with Bar("indexing") as bar:
        shard = add_indexes(location, specs, to, overwrite=overwrite, progress=bar, allow=allow or ())
    seconds = time.perf_counter() - begin
    added = _added(shard.indexes, len(specs), level)
    if json:
        indexes = [json_value(asdict(each)) for each in added]
        print_json({"shard": shard.url, "rows": shard.num_rows, "seconds": seconds, "indexes": indexes})
        return 0
    rows = [
        (type_and_owner(each), ", ".join(each.fields), "?" if each.size is None else size_text(each.size))
        for each in added
    ]
    output().print(f"{to}: {shard.num_positions:,} rows indexed in {time_text(seconds)}", soft_wrap=True)
    output().print(table({"type": "left", "columns": "fold", "size": "right"}, rows))
    return 0


def _added(indexes: Iterable[Index], count: int, level: str) -> list[Index]:
    """The indexes that were added: the last ones of the shard, or of each stripe."""
    owners: dict[int | None, list[Index]] = {}
    for each in indexes:
        if (each.stripe is None) == (level != "stripe"):
            owners.setdefault(each.stripe, []).append(each)
    return [each for mine in owners.values() for each in mine[-count:]]
