"""How do files become a shard on the command line?"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import asdict
from typing import Annotated, Any, Literal

import typer

from amudai.api import BadRecord, Shard, ingest
from amudai.api.sizes import temporary_folder
from amudai.cli.options import (
    Granularity,
    Hashes,
    Indexes,
    Json,
    Level,
    MaxBytes,
    Overwrite,
    Profile,
    Tokenizer,
    index_specs,
    require_new,
)
from amudai.cli.shares import Share, shares_of
from amudai.cli.standard_input import spooled
from amudai.cli.terminal import Bar, count_text, note, output, print_json, rate_text, size_text, table, time_text
from amudai.errors import InvalidArgument
from amudai.sources import FORMATS, File
from amudai.sources.files import find_files

__all__ = ["run"]

_SHOWN = 10


class _Skipped:
    """Records that were skipped: how many, and the first of them."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[BadRecord] = []

    def __call__(self, record: BadRecord) -> None:
        self.count += 1
        if len(self.first) < _SHOWN:
            self.first.append(record)


def run(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCES...", help="Files, folders and patterns; - for standard input.", show_default=False
        ),
    ],
    to: Annotated[str, typer.Option("--output", "-o", metavar="SHARD", help="The shard to write.", show_default=False)],
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option("--format", "-f", help="parquet, csv, json, arrow or log; else the files' names say it."),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type", "-t", metavar="COLUMN=TYPE", help="The type of a column: status=int32. May be repeated."
        ),
    ] = None,
    index: Indexes = None,
    hash: Hashes = None,  # noqa: A002
    tokenizer: Tokenizer = None,
    granularity: Granularity = None,
    max_bytes: MaxBytes = None,
    level: Level = "shard",
    profile: Profile = "balanced",
    layout: Annotated[str, typer.Option("--layout", help="single, or two-level: a file for each stripe.")] = "single",
    stripe_rows: Annotated[
        int | None, typer.Option("--stripe-rows", help="Rows of a stripe; else one stripe holds all.", min=1)
    ] = None,
    on_error: Annotated[
        str, typer.Option("--on-error", help="What a bad record is: raise (the end of it all) or skip.")
    ] = "raise",
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """Turn files into a shard: Parquet, CSV, JSON lines, Arrow, plain logs, compressed ones too."""
    if on_error not in ("raise", "skip"):
        raise InvalidArgument(f"--on-error: expected raise or skip, found {on_error!r}")
    if sources.count("-") > 1:
        raise InvalidArgument("sources: expected standard input once, found it twice")
    require_new(to, overwrite)
    indexes = index_specs(index, hash, level, tokenizer=tokenizer, granularity=granularity, max_bytes=max_bytes)
    told = dict(_type(each) for each in types or ())
    skipped = _Skipped()
    begin = time.perf_counter()
    with ExitStack() as stack:
        folder = temporary_folder(to, None)
        paths = [each if each != "-" else stack.enter_context(spooled(folder)) for each in sources]
        size_in = _size(paths, format)
        bar = stack.enter_context(Bar("writing"))
        shard = ingest(
            paths,
            to,
            format=format,
            types=told,
            on_error="skip" if on_error == "skip" else "raise",
            on_bad_record=skipped,
            progress=bar,
            indexes=indexes,
            profile=profile,
            layout=_layout(layout),
            stripe_rows=stripe_rows,
            overwrite=overwrite,
        )
    seconds = time.perf_counter() - begin
    if json:
        print_json(_document(shard, size_in, seconds, skipped))
        return 0
    for record in skipped.first:
        note(f"skipped {record.file}:{record.line}: {record.reason}: {record.text[:80]}")
    if skipped.count > len(skipped.first):
        note(f"skipped {skipped.count - len(skipped.first):,} more")
    _summary(to, shard, size_in, seconds, skipped)
    return 0


def _type(text: str) -> tuple[str, str]:
    name, equals, kind = text.rpartition("=")
    if not equals or not name or not kind:
        raise InvalidArgument(f"--type: expected COLUMN=TYPE such as status=int32, found {text!r}")
    return name, kind


def _layout(text: str) -> Literal["single", "two-level"]:
    if text not in ("single", "two-level"):
        raise InvalidArgument(f"--layout: expected single or two-level, found {text!r}")
    return "single" if text == "single" else "two-level"


def _size(paths: list[str | File], format: str | None) -> int:  # noqa: A002
    """Bytes of the sources."""
    endings = None if format is not None else [ending for known in FORMATS for ending in known.endings]
    return sum(file.size() for file in find_files(paths, endings))


def _document(shard: Shard, size_in: int, seconds: float, skipped: _Skipped) -> dict[str, Any]:
    size_out = shard.size
    return {
        "shard": shard.url,
        "rows": shard.num_rows,
        "columns": len(shard.schema),
        "stripes": len(shard.stripes),
        "bytes_in": size_in,
        "bytes_out": size_out,
        "ratio": size_in / size_out,
        "seconds": seconds,
        "skipped": skipped.count,
        "skipped_examples": [asdict(record) for record in skipped.first],
        "bytes": [asdict(share) for share in shares_of(shard)],
    }


def _summary(to: str, shard: Shard, size_in: int, seconds: float, skipped: _Skipped) -> None:
    console = output()
    size_out = shard.size
    rows = shard.num_rows
    console.print(f"{to}: {count_text(rows, 'row')}, {count_text(len(shard.schema), 'column')}", style="bold")
    console.print(
        f"{size_text(size_in)} in, {size_text(size_out)} out: {size_in / size_out:.2f} to 1\n"
        f"{time_text(seconds)}: {rows / max(seconds, 1e-9):,.0f} rows/s, {rate_text(size_in, seconds)}"
    )
    if skipped.count:
        console.print(f"{count_text(skipped.count, 'bad record')} skipped", style="yellow")
    console.print(shares_table(shares_of(shard), size_out))


def shares_table(shares: list[Share], size: int) -> Any:
    """Where the bytes went, the largest first."""
    columns = [share for share in shares if share.kind == "column"]
    others = [share for share in shares if share.kind != "column"]
    rows = [(share.name, share.type, share.bytes) for share in columns[:_SHOWN]]
    if len(columns) > _SHOWN:
        rest = columns[_SHOWN:]
        rows.append((f"{len(rest)} other columns", "", sum(share.bytes for share in rest)))
    rows += [(share.name, share.kind if share.kind != "metadata" else "", share.bytes) for share in others]
    return table(
        {"where the bytes went": "left", "type": "left", "size": "right", "share": "right"},
        [(name, kind, size_text(part), f"{100 * part / max(1, size):.1f} %") for name, kind, part in rows],
    )
