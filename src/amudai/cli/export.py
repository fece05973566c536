"""The command `export`: write rows to a file of another format."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, BinaryIO, Final

import typer

from amudai import InvalidArgument
from amudai.asking import WRITERS, count_text, size_text, time_text
from amudai.cli.new_file import new_file
from amudai.cli.options import (
    Allow,
    Columns,
    IncludeDeleted,
    Json,
    Location,
    Overwrite,
    Where,
    names_of,
    opened,
    require_new,
)
from amudai.cli.terminal import Bar, output, print_json

__all__ = ["file_format", "run", "written_to"]

_ENDINGS: Final = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}


def run(
    location: Location,
    to: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to write; - for standard output.", show_default=False
        ),
    ],
    where: Where = None,
    columns: Columns = None,
    format: Annotated[  # noqa: A002
        str | None, typer.Option("--format", "-f", help="parquet, csv, arrow or jsonl. Default: by file name.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Maximum number of rows; 0 for all.", min=0)] = 0,
    include_deleted: IncludeDeleted = False,
    overwrite: Overwrite = False,
    json: Json = False,
    allow: Allow = None,
) -> int:
    """Write rows to a Parquet, CSV, Arrow or JSON lines file. The file appears only once it is complete."""
    kind = file_format(to, format)
    require_new(to, overwrite or to == "-")
    begin = time.perf_counter()
    rows = 0
    with opened(location, allow) as shard:
        scan = shard.scan(names_of(columns), where, limit=limit or None, include_deleted=include_deleted)
        total = None if where is not None else shard.num_positions if include_deleted else shard.num_rows
        with written_to(to, overwrite) as out, Bar("exporting", total) as bar:
            writer = WRITERS[kind](scan.schema, out)
            for batch in scan:
                writer.write(batch)
                rows += batch.num_rows
                bar.rows(rows)
            writer.close()
    seconds = time.perf_counter() - begin
    if to == "-":
        return 0
    size = os.stat(to).st_size
    if json:
        print_json({"file": to, "format": kind, "rows": rows, "bytes": size, "seconds": seconds})
    else:
        output().print(f"{to}: {count_text(rows, 'row')}, {size_text(size)} in {time_text(seconds)}", soft_wrap=True)
    return 0


def file_format(to: str, format: str | None) -> str:  # noqa: A002
    """The format of a file: the one that is told, or the one of its name."""
    if format is not None:
        if format not in WRITERS:
            raise InvalidArgument(f"--format: expected {', '.join(WRITERS)}, found {format!r}")
        return format
    found = _ENDINGS.get(os.path.splitext(to)[1].lower())
    if found is None:
        expected = f"a name that ends in {', '.join(_ENDINGS)}, or --format"
        raise InvalidArgument(f"--output: expected {expected}, found {to!r}")
    return found


@contextmanager
def written_to(to: str, overwrite: bool) -> Iterator[BinaryIO]:
    """A stream to write to: standard output, or a file that appears when the block ends without an error."""
    if to == "-":
        if sys.stdout.isatty():
            raise InvalidArgument("--output: expected a file or a pipe, found a terminal")
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with new_file(to, overwrite=overwrite) as out:
        yield out
