"""The command `query`: ask in KQL or SQL."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

import amudai
from amudai import InvalidArgument, QueryResult
from amudai.asking import WRITERS, count_text, json_line, time_text
from amudai.cli.export import file_format, written_to
from amudai.cli.options import FORMATS, Allow, Json, Overwrite, opened_rows, require_new
from amudai.cli.rows import row_writer
from amudai.cli.terminal import Bar, note

__all__ = ["run"]


def run(
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY", help="KQL, as in 'where status >= 500 | count'; - for standard input.", show_default=False
        ),
    ],
    locations: Annotated[
        list[str],
        typer.Argument(
            metavar="SHARDS...",
            help="Paths or URLs of shards, or of folders of shards; - for a file on standard input.",
            show_default=False,
        ),
    ],
    sql: Annotated[bool, typer.Option("--sql", help="QUERY is SQL; the rows are the table data.")] = False,
    to: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="File to write, in place of printing.")
    ] = None,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option("--format", "-f", help="table, jsonl, csv; of a file also parquet or arrow. Default: by name."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain on standard error who ran what, and what was read.")
    ] = False,
    overwrite: Overwrite = False,
    json: Json = False,
    allow: Allow = None,
) -> int:
    """Ask in KQL, the language of Kusto, or in SQL. Indexes answer the first conditions, DuckDB does the rest."""
    asked = sys.stdin.read() if query == "-" else query
    if to is None and format is not None and format not in FORMATS:
        raise InvalidArgument(f"--format: expected {', '.join(FORMATS)}, or --output as well, found {format!r}")
    kind = None if to is None else file_format(to, "jsonl" if json else format)
    if to is not None:
        require_new(to, overwrite or to == "-")
    begin = time.perf_counter()
    with opened_rows(locations, allow) as table:
        found = amudai.sql_result(asked, data=table) if sql else amudai.kql(asked, table)
        if to is None or kind is None:
            rows = _print(found, "jsonl" if json else format or "table")
        else:
            rows = _write(found, to, kind, overwrite)
        if explain:
            sys.stdout.flush()
            why = found.explain()
            print(json_line(why.to_dict()) if json else str(why), file=sys.stderr)
        elif sys.stderr.isatty():
            note(f"{count_text(rows, 'row')} in {time_text(time.perf_counter() - begin)}")
    return 0


def _print(found: QueryResult, format: str) -> int:  # noqa: A002
    writer = row_writer(format, found.schema.names)
    rows = 0
    with Bar("asking") as bar:
        for batch in found:
            bar.close()
            rows += batch.num_rows
            writer.write(batch)
            sys.stdout.flush()
    if rows or format != "table":
        writer.close()
    return rows


def _write(found: QueryResult, to: str, kind: str, overwrite: bool) -> int:
    rows = 0
    with written_to(to, overwrite) as out, Bar("asking") as bar:
        writer = WRITERS[kind](found.schema, out)
        for batch in found:
            writer.write(batch)
            rows += batch.num_rows
            bar.rows(rows)
        writer.close()
    return rows
