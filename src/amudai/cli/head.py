"""The command `head`: show the first rows."""

from __future__ import annotations

from typing import Annotated

import pyarrow as pa
import typer

from amudai.cli.options import Allow, Columns, Json, Rows, names_of, opened_rows
from amudai.cli.rows import row_writer

__all__ = ["Count", "Format", "print_rows", "run"]

Count = Annotated[int, typer.Option("--rows", "-n", help="Number of rows.", min=0)]
Format = Annotated[str, typer.Option("--format", "-f", help="table, jsonl or csv.")]


def run(
    location: Rows,
    rows: Count = 10,
    columns: Columns = None,
    format: Format = "table",  # noqa: A002
    json: Json = False,
    allow: Allow = None,
) -> int:
    """Show the first rows."""
    with opened_rows([location], allow) as shard:
        print_rows(shard.head(rows, names_of(columns)), "jsonl" if json else format)
    return 0


def print_rows(found: pa.Table, format: str) -> None:  # noqa: A002
    """Print all rows of a table."""
    writer = row_writer(format, found.column_names)
    for batch in found.to_batches():
        writer.write(batch)
    writer.close()
