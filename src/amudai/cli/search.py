"""The command `search`: find rows by words and conditions."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import pyarrow as pa

import amudai
from amudai import InvalidArgument, Shard
from amudai.asking import Words, count_text, time_text
from amudai.cli.declared import argument, option
from amudai.cli.guard import NOTHING, OK
from amudai.cli.options import FORMATS, Allow, Columns, IncludeDeleted, Json, Where, names_of, opened_rows, shard_name
from amudai.cli.terminal import Bar, note, print_json

if TYPE_CHECKING:  # what counting the rows of one shard does not need
    from amudai import Dataset, Scan

__all__ = ["advise", "run"]


def run(
    words: Annotated[str, argument(metavar="WORDS", help="Words that a row must contain; '' for any row.")],
    locations: Annotated[
        list[str],
        argument(
            metavar="SHARDS...",
            help="Paths or URLs of shards, or of folders of shards; - for a file on standard input.",
            show_default=False,
        ),
    ],
    column: Annotated[
        list[str] | None,
        option("--column", "-c", metavar="NAME", help="Column to search. Default: all text columns. Can be repeated."),
    ] = None,
    where: Where = None,
    columns: Columns = None,
    any_of: Annotated[bool, option("--any", help="Find rows that contain any of the words, not all.")] = False,
    prefix: Annotated[bool, option("--prefix", help="Match the beginnings of words.")] = False,
    contains: Annotated[bool, option("--contains", help="Match anywhere, also inside words.")] = False,
    case_sensitive: Annotated[bool, option("--case-sensitive", "-s", help="Distinguish upper and lower case.")] = False,
    count: Annotated[bool, option("--count", help="Print only the number of rows.")] = False,
    limit: Annotated[int, option("--limit", "-n", help="Maximum number of rows; 0 for all.", min=0)] = 20,
    include_deleted: IncludeDeleted = False,
    explain: Annotated[
        bool, option("--explain", help="Explain on standard error what was ruled out and what was read.")
    ] = False,
    format: Annotated[str, option("--format", "-f", help="table, jsonl or csv.")] = "table",  # noqa: A002
    json: Json = False,
    allow: Allow = None,
) -> int:
    """Find rows that contain all of the words. The exit code is 0 if rows were found, 1 if none."""
    if prefix and contains:
        raise InvalidArgument("search: expected --prefix or --contains, found both")
    if format not in FORMATS:
        raise InvalidArgument(f"--format: expected {', '.join(FORMATS)}, found {format!r}")
    asked = Words(
        tuple(words.split()),
        "hasprefix" if prefix else "contains" if contains else "has",
        any_of,
        case_sensitive,
        include_deleted,
    )
    chosen = names_of(columns)
    begin = time.perf_counter()
    with opened_rows(locations, allow) as table:
        # The scan is made before any row is shown: a query that does not fit is an error at once.
        scan = asked.scan(table, None if count else _with_shard(table, chosen), where, column, limit or None)
        if count:
            return _count(table, asked.scan(table, None, where, column), explain, json)
        from amudai.cli.rows import row_writer

        names = _names(table, scan.schema.names)
        writer = row_writer("jsonl" if json else format, names, asked.pattern())
        found = 0
        with Bar("searching") as bar:
            for batch in scan:
                bar.close()
                found += batch.num_rows
                writer.write(batch if isinstance(table, Shard) else _labelled(batch, names))
                sys.stdout.flush()  # rows are seen as soon as they are found
        if found or json or format != "table":
            writer.close()
        seconds = time.perf_counter() - begin
        if explain:
            sys.stdout.flush()
            _explain(scan, json)
        elif sys.stderr.isatty() and sys.stdout.isatty():
            more = " (--limit 0 shows all)" if limit and found == limit else ""
            note(f"{count_text(found, 'row')} in {time_text(seconds)}{more}")
            if asked.texts and not column and isinstance(table, Shard):
                advise([table])
    return OK if found else NOTHING


def _count(table: Shard | Dataset, scan: Scan, explain: bool, json: bool) -> int:
    with Bar("counting"):
        counts = _by_shard(table, scan) if json and not isinstance(table, Shard) else None
        found = scan.count() if counts is None else sum(counts.values())
    if json:
        names = counts if counts is not None else {table.url: found} if isinstance(table, Shard) else {}
        each = [{"shard": place, "count": count} for place, count in names.items()]
        print_json({"count": found, "shards": each})
    else:
        print(found)
    if explain:
        sys.stdout.flush()
        _explain(scan, json)
    return OK if found else NOTHING


def _by_shard(table: Dataset, scan: Scan) -> dict[str, int]:
    positions: Any = scan.positions()  # a table
    found = positions["shard"].to_pylist()
    return {name: found.count(name) for name in table.shards}


def _with_shard(table: Shard | Dataset, chosen: list[str] | None) -> list[str] | None:
    """The columns to read: of a dataset, the names of the shards come first."""
    if isinstance(table, Shard):
        return chosen
    every = (f"`{name}`" if "." in name or name.startswith("`") else name for name in table.schema.names)
    return ["@shard", *(every if chosen is None else chosen)]


def _names(table: Shard | Dataset, names: list[str]) -> list[str]:
    """The columns of the output. The column with the name of the shard gets a name that no other column has."""
    if isinstance(table, Shard):
        return names
    label = "shard"
    while label in names:
        label = f"_{label}"
    return [label, *names[1:]]


def _labelled(batch: pa.RecordBatch, names: list[str]) -> pa.RecordBatch:
    """The rows of a dataset, with the last parts of the names of shards."""
    label = pa.array([shard_name(name) for name in batch.column(0).to_pylist()])
    fields = [pa.field(names[0], label.type), *list(batch.schema)[1:]]
    return pa.RecordBatch.from_arrays([label, *batch.columns[1:]], schema=pa.schema(fields))


def advise(shards: list[Shard]) -> None:
    """Suggest `--column` if some of the searched columns have a term index and others do not."""
    for shard in shards:
        indexed = {
            path for index in shard.indexes if index.type == amudai.TermIndex.index_type for path in index.fields
        }
        others = [path for path in shard.text_columns if path not in indexed]
        if indexed and others:
            only = " ".join(f"--column {path}" for path in sorted(indexed))
            named = f"{', '.join(others[:3])}{' …' if len(others) > 3 else ''}"
            note(f"columns without an index were searched too: {named} ({only} is faster)")
            return


def _explain(scan: Scan, json: bool) -> None:
    from amudai.asking import json_line

    why = scan.explain()
    print(json_line(why.to_dict()) if json else str(why), file=sys.stderr)
