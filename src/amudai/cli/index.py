"""How does a shard get indexes on the command line?"""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated

import typer

from amudai.api import add_indexes
from amudai.cli.options import Hashes, Indexes, Json, Location, Overwrite, Tokenizer, index_specs, require_new
from amudai.cli.terminal import Bar, output, print_json, size_text, table, time_text
from amudai.cli.values import json_value
from amudai.errors import InvalidArgument

__all__ = ["run"]


def run(
    location: Location,
    to: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="SHARD", help="The new shard, in the folder of the old one.", show_default=False
        ),
    ],
    index: Indexes = None,
    hash: Hashes = None,  # noqa: A002
    tokenizer: Tokenizer = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """Add indexes to a shard. The new one refers to the files of the old one, which must stay."""
    specs = index_specs(index, hash, tokenizer)
    if not specs:
        raise InvalidArgument("index: expected --index or --hash, found neither")
    require_new(to, overwrite)
    begin = time.perf_counter()
    with Bar("indexing") as bar:
        shard = add_indexes(location, specs, to, overwrite=overwrite, progress=bar)
    seconds = time.perf_counter() - begin
    added = [each for each in shard.indexes if each.stripe is None][-len(specs) :]
    if json:
        indexes = [json_value(asdict(each)) for each in added]
        print_json({"shard": shard.url, "rows": shard.num_rows, "seconds": seconds, "indexes": indexes})
        return 0
    rows = [(each.type, ", ".join(each.fields), "?" if each.size is None else size_text(each.size)) for each in added]
    output().print(f"{to}: {shard.num_rows:,} rows indexed in {time_text(seconds)}", soft_wrap=True)
    output().print(table({"type": "left", "columns": "fold", "size": "right"}, rows))
    return 0
