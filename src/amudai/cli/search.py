"""The command `search`: find rows by words and conditions."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Annotated

import pyarrow as pa
import typer

from amudai import InvalidArgument, Scan, Shard, TermIndex
from amudai.cli.guard import NOTHING, OK
from amudai.cli.options import Allow, Columns, IncludeDeleted, Json, Where, names_of, opened, shard_name
from amudai.cli.rows import FORMATS, row_writer
from amudai.cli.terminal import Bar, count_text, note, print_json, time_text
from amudai.cli.values import json_line
from amudai.cli.words import Words

__all__ = ["advise", "run"]


def run(
    words: Annotated[str, typer.Argument(metavar="WORDS", help="Words that a row must contain; '' for any row.")],
    locations: Annotated[
        list[str], typer.Argument(metavar="SHARDS...", help="Paths or URLs of shards.", show_default=False)
    ],
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", "-c", metavar="NAME", help="Column to search. Default: all text columns. Can be repeated."
        ),
    ] = None,
    where: Where = None,
    columns: Columns = None,
    any_of: Annotated[bool, typer.Option("--any", help="Find rows that contain any of the words, not all.")] = False,
    prefix: Annotated[bool, typer.Option("--prefix", help="Match the beginnings of words.")] = False,
    contains: Annotated[bool, typer.Option("--contains", help="Match anywhere, also inside words.")] = False,
    case_sensitive: Annotated[
        bool, typer.Option("--case-sensitive", "-s", help="Distinguish upper and lower case.")
    ] = False,
    count: Annotated[bool, typer.Option("--count", help="Print only the number of rows.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Maximum number of rows; 0 for all.", min=0)] = 20,
    include_deleted: IncludeDeleted = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain on standard error what was ruled out and what was read.")
    ] = False,
    format: Annotated[str, typer.Option("--format", "-f", help="table, jsonl or csv.")] = "table",  # noqa: A002
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
    with ExitStack() as stack:
        shards = [stack.enter_context(opened(location, allow)) for location in locations]
        # All scans are made before any row is shown: a query that does not fit one of the shards is an error at once,
        # not after half of the answer.
        every = [asked.scan(shard, None if count else chosen, where, column) for shard in shards]
        if count:
            return _count(locations, every, explain, json)
        scans: list[Scan] = []
        names = _names(every)
        writer = row_writer("jsonl" if json else format, names, asked.pattern())
        found = 0
        with Bar("searching") as bar:
            scan_of = partial(asked.scan, columns=chosen, where=where, within=column)
            for batch in _found(locations, shards, scan_of, limit, names, scans):
                bar.close()
                found += batch.num_rows
                writer.write(batch)
                sys.stdout.flush()  # rows are seen as soon as they are found
        if found or json or format != "table":
            writer.close()
        seconds = time.perf_counter() - begin
        if explain:
            sys.stdout.flush()
            _explain(locations, scans, json)
        elif sys.stderr.isatty() and sys.stdout.isatty():
            more = " (--limit 0 shows all)" if limit and found == limit else ""
            note(f"{count_text(found, 'row')} in {time_text(seconds)}{more}")
            if asked.texts and not column:
                advise(shards)
    return OK if found else NOTHING


def _count(locations: list[str], scans: list[Scan], explain: bool, json: bool) -> int:
    with Bar("counting"):
        counts = [scan.count() for scan in scans]
    if json:
        each = [{"shard": place, "count": found} for place, found in zip(locations, counts, strict=True)]
        print_json({"count": sum(counts), "shards": each})
    else:
        print(sum(counts))
    if explain:
        sys.stdout.flush()
        _explain(locations, scans, json)
    return OK if any(counts) else NOTHING


def _names(scans: list[Scan]) -> list[str]:
    """The columns of the output: those of all shards. If there are several shards, the shard's name comes first."""
    names: dict[str, None] = {}
    for scan in scans:
        names |= dict.fromkeys(scan.schema.names)
    if len(scans) == 1:
        return list(names)
    label = "shard"
    while label in names:
        label = f"_{label}"
    return [label, *names]


def _found(
    locations: list[str],
    shards: list[Shard],
    scan_of: Callable[..., Scan],
    limit: int,
    names: list[str],
    scans: list[Scan],
) -> Iterator[pa.RecordBatch]:
    """The rows of one shard after the other. The scans that find them are added to `scans`."""
    left = limit or None
    for location, shard in zip(locations, shards, strict=True):
        scan = scan_of(shard, limit=left)
        scans.append(scan)
        for batch in scan:
            if not batch.num_rows:
                continue
            if left is not None:
                left -= batch.num_rows
            if len(shards) > 1:
                label = pa.array([shard_name(location)] * batch.num_rows)
                fields = [pa.field(names[0], label.type), *batch.schema]
                batch = pa.RecordBatch.from_arrays([label, *batch.columns], schema=pa.schema(fields))
            yield batch
        if left == 0:
            return


def advise(shards: list[Shard]) -> None:
    """Suggest `--column` if some of the searched columns have a term index and others do not."""
    for shard in shards:
        indexed = {path for index in shard.indexes if index.type == TermIndex.index_type for path in index.fields}
        others = [path for path in shard.text_columns if path not in indexed]
        if indexed and others:
            only = " ".join(f"--column {path}" for path in sorted(indexed))
            named = f"{', '.join(others[:3])}{' …' if len(others) > 3 else ''}"
            note(f"columns without an index were searched too: {named} ({only} is faster)")
            return


def _explain(locations: list[str], scans: list[Scan], json: bool) -> None:
    for location, scan in zip(locations, scans, strict=False):
        why = scan.explain()
        if json:
            print(json_line({"shard": location, **why.to_dict()}), file=sys.stderr)
        else:
            print(f"{location}: {why}" if len(scans) > 1 else str(why), file=sys.stderr)
