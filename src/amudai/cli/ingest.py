"""The command `ingest`: turn files into a shard."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from typing import Annotated, Any, Final, Literal

import typer

from amudai import InvalidArgument, Shard, Source, read_files, write
from amudai.asking import count_text, rate_text, size_text, time_text
from amudai.cli.follow import followed
from amudai.cli.ingest_report import BadRecordCount, about_files, command_of, note_files, print_plan
from amudai.cli.option_words import in_option_words
from amudai.cli.options import (
    Blooms,
    Compatibility,
    Distinct,
    Granularity,
    Hashes,
    Indexes,
    Json,
    Level,
    MaxBytes,
    Overwrite,
    Packs,
    Profile,
    Timestamps,
    Tokenizer,
    bloom_filters,
    index_specs,
    names_of,
    profile_choice,
    readers,
    require_new,
    timestamps_of,
)
from amudai.cli.reading_options import (
    ColumnNames,
    Comment,
    Decimal,
    Delimiter,
    Duplicates,
    Encoding,
    Escape,
    Extract,
    Header,
    MixedZones,
    Multiline,
    Nan,
    Nulls,
    Pattern,
    Quote,
    Skip,
    Timezone,
    Types,
    Year,
    flags_of,
    reading_options,
)
from amudai.cli.shares import Share, shares_of
from amudai.cli.standard_input import StandardInput
from amudai.cli.terminal import Bar, note, output, print_json, table

__all__ = ["run"]

_SHOWN: Final = 10
_ON_ERROR: Final = ("raise", "skip", "keep")
# The columns that --on-error keep adds.
_ADDED: Final = ("bad_record", "bad_record_place")


def run(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCES...",
            help="Files, folders, patterns, archives or URLs; - for standard input.",
            show_default=False,
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="SHARD", help="The shard to write.", show_default=False),
    ] = None,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option("--format", "-f", help="parquet, csv, json, arrow or log. Default: by name or content."),
    ] = None,
    types: Types = None,
    index: Indexes = None,
    hash: Hashes = None,  # noqa: A002
    tokenizer: Tokenizer = None,
    granularity: Granularity = None,
    max_bytes: MaxBytes = None,
    level: Level = "shard",
    bloom: Blooms = None,
    distinct: Distinct = None,
    pack: Packs = None,
    profile: Profile = None,
    compatibility: Compatibility = "reference",
    layout: Annotated[
        str, typer.Option("--layout", help="single (one file) or two-level (one file per stripe).")
    ] = "single",
    stripe_rows: Annotated[
        int | None, typer.Option("--stripe-rows", help="Rows per stripe. Default: a single stripe.", min=1)
    ] = None,
    timestamps: Timestamps = "ticks",
    ingestion_time: Annotated[
        bool, typer.Option("--ingestion-time", help="Note for each row when it was written, in an internal field.")
    ] = False,
    record_id: Annotated[
        bool, typer.Option("--record-id", help="Give each row an identity of 16 bytes, in an internal field.")
    ] = False,
    on_error: Annotated[
        str,
        typer.Option("--on-error", help="What to do with a bad record: raise (stop), skip, or keep its text as a row."),
    ] = "raise",
    encoding: Encoding = None,
    duplicates: Duplicates = "raise",
    mixed_zones: MixedZones = "raise",
    only_new: Annotated[
        bool, typer.Option("--only-new", help="Leave out files that are in a shard of the same folder already.")
    ] = False,
    overwrite: Overwrite = False,
    follow: Annotated[
        bool,
        typer.Option("--follow", help="Add what arrives in a file or pipe to a folder of shards, until interrupted."),
    ] = False,
    every_rows: Annotated[
        int, typer.Option("--every-rows", help="--follow: add lines once this number has arrived.", min=1)
    ] = 100_000,
    every_seconds: Annotated[
        float,
        typer.Option(
            "--every-seconds", help="--follow: add lines this number of seconds after the first arrived.", min=0
        ),
    ] = 5.0,
    rows_per_shard: Annotated[
        int, typer.Option("--rows-per-shard", help="--follow: begin another shard after this number of rows.", min=1)
    ] = 1_000_000,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing; show columns, decisions and the full command.")
    ] = False,
    json: Json = False,
    delimiter: Delimiter = None,
    quote: Quote = None,
    escape: Escape = None,
    header: Header = None,
    columns: ColumnNames = None,
    null: Nulls = None,
    skip: Skip = 0,
    comment: Comment = None,
    decimal: Decimal = ".",
    nan: Nan = False,
    year: Year = None,
    timezone: Timezone = None,
    multiline: Multiline = "join",
    pattern: Pattern = None,
    extract: Extract = False,
) -> int:
    """Turn files into a shard. Reads Parquet, CSV, JSON, Arrow and plain text logs, also compressed."""
    if on_error not in _ON_ERROR:
        raise InvalidArgument(f"--on-error: expected {' or '.join(_ON_ERROR)}, found {on_error!r}")
    if sources.count("-") > 1:
        raise InvalidArgument("sources: expected standard input (-) at most once, found it twice")
    if to is None and not dry_run:
        raise InvalidArgument("--output: expected the shard to write (-o SHARD), found none")
    if only_new and overwrite:
        raise InvalidArgument("--only-new: expected a new shard, found --overwrite, which would lose the old files")
    target = to or _default_target(sources)
    reading = reading_options(
        types,
        encoding=encoding,
        duplicates=duplicates,
        mixed_zones=mixed_zones,
        delimiter=delimiter,
        quote=quote,
        escape=escape,
        header=header,
        columns=columns,
        null=null,
        skip=skip,
        comment=comment,
        decimal=decimal,
        nan=nan,
        year=year,
        timezone=timezone,
        multiline=multiline,
        pattern=pattern,
        extract=extract,
    )
    indexes = index_specs(index, hash, level, tokenizer=tokenizer, granularity=granularity, max_bytes=max_bytes)
    writing: dict[str, Any] = {
        "profile": profile_choice(profile),
        "layout": _layout(layout),
        "stripe_rows": stripe_rows,
    }
    writing |= {"compatibility": readers(compatibility)}
    writing |= {"bloom": bloom_filters(bloom), "distinct": distinct or ()}
    writing |= {"packed_groups": [names_of([each], "--pack") or [] for each in pack or ()]}
    writing |= {"timestamps": timestamps_of(timestamps), "ingestion_time": ingestion_time, "record_id": record_id}
    if follow:
        _require_followable(
            sources,
            {"--dry-run": dry_run, "--only-new": only_new, "--overwrite": overwrite, "--record-id": record_id}
            | {"--ingestion-time": ingestion_time, "--layout": layout != "single", "--stripe-rows": bool(stripe_rows)}
            | {"--bloom": bool(bloom), "--distinct": bool(distinct), "--pack": bool(pack)}
            | {"--timestamps": timestamps != "ticks", "--compatibility": compatibility != "reference"},
        )
        every = {"every_rows": every_rows, "every_seconds": every_seconds, "rows_per_shard": rows_per_shard}
        return followed(
            sources[0],
            target,
            {**reading, "format": format},
            on_error,
            every,
            indexes,
            profile_choice(profile),
            json=json,
        )
    if not only_new and not dry_run:
        require_new(target, overwrite)
    bad = BadRecordCount(reading["types"])
    folder = None if "://" in target else os.path.dirname(os.path.abspath(target))
    begin = time.perf_counter()
    with (
        in_option_words(),
        read_files(
            [StandardInput() if each == "-" else each for each in sources],
            format=format,
            on_error="raise" if on_error == "raise" else "skip" if on_error == "skip" else "keep",
            on_bad_record=bad,
            not_in=(folder or target.rpartition("/")[0]) if only_new else None,
            temp_dir=folder,
            **reading,
        ) as source,
    ):
        if only_new and not source.files:
            _say_nothing_new(source, json=json)
            return 0
        if dry_run:
            words = _other_words(
                {"index": index, "hash": hash, "tokenizer": tokenizer, "granularity": granularity}
                | {"bloom": bloom, "distinct": distinct, "pack": pack}
                | {"max_bytes": max_bytes, "level": level if level != "shard" else None}
                | {"profile": profile if profile != ["balanced"] else None, "stripe_rows": stripe_rows}
                | {"layout": layout if layout != "single" else None, "only_new": only_new, "overwrite": overwrite}
                | {"on_error": on_error if on_error != "raise" else None, "json": json}
                | {"compatibility": compatibility if compatibility != "reference" else None}
                | {"timestamps": timestamps if timestamps != "ticks" else None}
                | {"ingestion_time": ingestion_time, "record_id": record_id}
            )
            told = {**reading, "format": format}
            print_plan(source, command_of(sources, target, source, told, words, _ADDED), json=json)
            return 0
        if only_new:
            require_new(target, overwrite)
        size_in = source.size
        with Bar("writing") as bar:
            shard = write(source, target, indexes=indexes, overwrite=overwrite, progress=bar, **writing)
        seconds = time.perf_counter() - begin
        done = {"raise": "skipped", "skip": "skipped", "keep": "kept"}[on_error]
        if json:
            print_json({**_document(shard, size_in, seconds, bad, done), **about_files(source)})
            return 0
        bad.note(done)
        note_files(source)
        _summary(target, shard, size_in, seconds, bad, done)
    return 0


def _require_followable(sources: list[str], others: dict[str, bool]) -> None:
    if len(sources) > 1:
        raise InvalidArgument(f"--follow: expected one file, or - for standard input, found {len(sources)}")
    for name, is_set in others.items():
        if is_set:
            raise InvalidArgument(f"--follow: expected no {name}, found it")


def _default_target(sources: list[str]) -> str:
    name = os.path.basename(sources[0].rstrip("/")).partition(".")[0]
    return f"{name if name.strip('-*?[]') else 'data'}.amudai.shard"


def _other_words(options: dict[str, Any]) -> list[str]:
    return list(flags_of({name: value for name, value in options.items() if value not in (None, False)}))


def _say_nothing_new(source: Source, *, json: bool) -> None:
    if json:
        print_json({"shard": None, **about_files(source)})
    else:
        note(f"nothing is new: {count_text(len(source.skipped), 'file')} taken in before; nothing was written")


def _layout(text: str) -> Literal["single", "two-level"]:
    if text not in ("single", "two-level"):
        raise InvalidArgument(f"--layout: expected single or two-level, found {text!r}")
    return "single" if text == "single" else "two-level"


def _document(shard: Shard, size_in: int, seconds: float, bad: BadRecordCount, done: str) -> dict[str, Any]:
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
        done: bad.count,
        f"{done}_examples": [asdict(record) for record in bad.first],
        f"{done}_by_type": dict(bad.by_type),
        "bytes": [asdict(share) for share in shares_of(shard)],
    }


def _summary(to: str, shard: Shard, size_in: int, seconds: float, bad: BadRecordCount, done: str) -> None:
    console = output()
    size_out = shard.size
    rows = shard.num_rows
    console.print(f"{to}: {count_text(rows, 'row')}, {count_text(len(shard.schema), 'column')}", style="bold")
    console.print(
        f"{size_text(size_in)} in, {size_text(size_out)} out: {size_in / size_out:.2f} to 1\n"
        f"{time_text(seconds)}: {rows / max(seconds, 1e-9):,.0f} rows/s, {rate_text(size_in, seconds)}"
    )
    if bad.count:
        console.print(f"{count_text(bad.count, 'bad record')} {done}", style="yellow")
    console.print(_shares_table(shares_of(shard), size_out))


def _shares_table(shares: list[Share], size: int) -> Any:
    """Where the bytes went: the largest columns, then indexes and metadata."""
    columns = [share for share in shares if share.kind == "column"]
    others = [share for share in shares if share.kind != "column"]
    rows = [(share.name, share.type, share.bytes) for share in columns[:_SHOWN]]
    if len(columns) > _SHOWN:
        rest = columns[_SHOWN:]
        rows.append((count_text(len(rest), "other column"), "", sum(share.bytes for share in rest)))
    rows += [(share.name, share.kind if share.kind != "metadata" else "", share.bytes) for share in others]
    return table(
        {"where the bytes went": "left", "type": "left", "size": "right", "share": "right"},
        [(name, kind, size_text(part), f"{100 * part / max(1, size):.1f} %") for name, kind, part in rows],
    )
