"""The command `tail`: show the last rows, and those that arrive."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from amudai import Dataset, InvalidArgument, Shard
from amudai.cli.head import Count, Format
from amudai.cli.options import Allow, Columns, Json, Rows, Where, names_of, opened_rows
from amudai.cli.rows import RowWriter, row_writer

__all__ = ["run"]


def run(
    location: Rows,
    rows: Count = 10,
    where: Where = None,
    columns: Columns = None,
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", help="Go on with rows that are added, until interrupted.")
    ] = True,
    every_seconds: Annotated[
        float, typer.Option("--every-seconds", help="How often to look for rows.", min=0.05)
    ] = 1.0,
    format: Format = "table",  # noqa: A002
    json: Json = False,
    allow: Allow = None,
) -> int:
    """Show the last rows of a shard or of a folder of shards, then those that are added."""
    if location.startswith("iceberg://") and follow:
        raise InvalidArgument("--follow: expected a shard or a folder of shards, found an Iceberg table")
    names = names_of(columns)
    with opened_rows([location], allow) as shards:
        found = shards.tail(rows, names, where)
        seen = _positions(shards)
    writer = row_writer("jsonl" if json else format, found.column_names)
    for batch in found.to_batches():
        writer.write(batch)
    writer.close()
    sys.stdout.flush()
    while follow:
        time.sleep(every_seconds)
        with opened_rows([location], allow) as shards:
            _print_new(shards, seen, names, where, writer)
            seen = _positions(shards)
    return 0


def _positions(shards: Shard | Dataset) -> dict[str, int]:
    """How many positions each shard has."""
    if isinstance(shards, Shard):
        return {"": shards.num_positions}
    return {name: shards.shard(name).num_positions for name in shards.shards}


def _print_new(
    shards: Shard | Dataset, seen: dict[str, int], names: list[str] | None, where: str | None, writer: RowWriter
) -> None:
    """Print the rows behind those that were seen: rows are added at the end of a shard, or as another shard."""
    start = 0
    for name, count in _positions(shards).items():
        new = slice(start + min(seen.get(name, 0), count), start + count)
        start += count
        if new.start < new.stop:
            for batch in shards.scan(names, where, new):
                writer.write(batch)
            writer.close()
            sys.stdout.flush()
