"""The command `ingest`: turn files into a shard."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from typing import Annotated, Any, Literal

import typer

from amudai import BadRecord, InvalidArgument, Shard, read_files, write
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
from amudai.cli.standard_input import StandardInput
from amudai.cli.terminal import Bar, count_text, note, output, print_json, rate_text, size_text, table, time_text

__all__ = ["run"]

_SHOWN = 10


class _Skipped:
    """Counts the records that were skipped, and keeps the first ones."""

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
            metavar="SOURCES...", help="Files, folders or patterns; - for standard input.", show_default=False
        ),
    ],
    to: Annotated[str, typer.Option("--output", "-o", metavar="SHARD", help="The shard to write.", show_default=False)],
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option("--format", "-f", help="parquet, csv, json, arrow or log. Default: by file name."),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type", "-t", metavar="COLUMN=TYPE", help="Set the type of a column, as in status=int32. Can be repeated."
        ),
    ] = None,
    index: Indexes = None,
    hash: Hashes = None,  # noqa: A002
    tokenizer: Tokenizer = None,
    granularity: Granularity = None,
    max_bytes: MaxBytes = None,
    level: Level = "shard",
    profile: Profile = "balanced",
    layout: Annotated[
        str, typer.Option("--layout", help="single (one file) or two-level (one file per stripe).")
    ] = "single",
    stripe_rows: Annotated[
        int | None, typer.Option("--stripe-rows", help="Rows per stripe. Default: a single stripe.", min=1)
    ] = None,
    timestamps: Annotated[
        str, typer.Option("--timestamps", help="How times are stored: ticks (of 100 ns, exact) or int64 (as they are).")
    ] = "ticks",
    on_error: Annotated[
        str, typer.Option("--on-error", help="What to do with a bad record: raise (stop) or skip.")
    ] = "raise",
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """Turn files into a shard. Reads Parquet, CSV, JSON lines, Arrow and plain text logs, also compressed."""
    if on_error not in ("raise", "skip"):
        raise InvalidArgument(f"--on-error: expected raise or skip, found {on_error!r}")
    if sources.count("-") > 1:
        raise InvalidArgument("sources: expected standard input (-) at most once, found it twice")
    require_new(to, overwrite)
    indexes = index_specs(index, hash, level, tokenizer=tokenizer, granularity=granularity, max_bytes=max_bytes)
    skipped = _Skipped()
    begin = time.perf_counter()
    with (
        read_files(
            [StandardInput() if each == "-" else each for each in sources],
            format=format,
            types=dict(_type(each) for each in types or ()),
            on_error="skip" if on_error == "skip" else "raise",
            on_bad_record=skipped,
            temp_dir=None if "://" in to else os.path.dirname(os.path.abspath(to)),
        ) as source,
        Bar("writing") as bar,
    ):
        size_in = source.size
        shard = write(
            source.to_reader(),
            to,
            indexes=indexes,
            profile=profile,
            layout=_layout(layout),
            stripe_rows=stripe_rows,
            timestamps=_timestamps(timestamps),
            overwrite=overwrite,
            progress=bar,
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


def _timestamps(text: str) -> Literal["ticks", "int64"]:
    if text not in ("ticks", "int64"):
        raise InvalidArgument(f"--timestamps: expected ticks or int64, found {text!r}")
    return "ticks" if text == "ticks" else "int64"


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
    console.print(_shares_table(shares_of(shard), size_out))


def _shares_table(shares: list[Share], size: int) -> Any:
    """Where the bytes went: the largest columns, then indexes and metadata."""
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
