"""Turning files of other formats into a shard."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime

import pyarrow as pa

from amudai.api.compatibility import Compatibility
from amudai.api.progress import Report
from amudai.api.requested import Bloom
from amudai.api.shard import Shard
from amudai.api.sizes import temporary_folder
from amudai.api.writing import Layout, write
from amudai.arguments import path_text
from amudai.arrow import Decimals, Extension, Timestamps
from amudai.encoding import ProfileChoice
from amudai.errors import InvalidArgument, MissingFile
from amudai.index import IndexSpec
from amudai.sources import Duplicates, Inputs, MixedZones, Multiline, OnError, Tell, read_files
from amudai.storage import Size, container

__all__ = ["ingest"]


def ingest(
    paths: Inputs,
    location: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word for it
    types: Mapping[str, pa.DataType | str] | None = None,
    on_error: OnError = "raise",
    on_bad_record: Tell | None = None,
    encoding: str | None = None,
    duplicates: Duplicates = "raise",
    mixed_zones: MixedZones = "raise",
    delimiter: str | None = None,
    quote: str | None = None,
    escape: str | None = None,
    header: bool | None = None,
    columns: Sequence[str] | None = None,
    null: Sequence[str] | None = None,
    skip: int = 0,
    comment: str | None = None,
    decimal: str = ".",
    nan: bool = False,
    year: int | None = None,
    timezone: str | None = None,
    multiline: Multiline = "join",
    pattern: str | None = None,
    extract: bool = False,
    only_new: bool = False,
    profile: ProfileChoice = "balanced",
    layout: Layout = "single",
    indexes: Sequence[IndexSpec] = (),
    bloom: Bloom = (),
    distinct: Sequence[str] = (),
    properties: Mapping[str, object] | None = None,
    field_properties: Mapping[str, Mapping[str, object]] | None = None,
    extensions: Mapping[str, Extension | str] | None = None,
    aliases: Mapping[str, Sequence[str]] | None = None,
    packed_groups: Sequence[Sequence[str]] = (),
    packed: bool | Sequence[str] = False,
    timestamps: Timestamps = "ticks",
    decimals: Decimals = "decimal128",
    compatibility: Compatibility = "reference",
    created: datetime | None = None,
    ingestion_time: bool | datetime = False,
    record_id: bool | bytes = False,
    stripe_rows: int | None = None,
    stripe_bytes: Size | None = None,
    memory_limit: Size = "512MB",
    temp_dir: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    store: object | None = None,
    threads: int | None = None,
    progress: bool | Report | None = None,
) -> Shard:
    """Turn files into a shard: Parquet, CSV, JSON, Arrow, and plain text logs, compressed ones too.

    A log gives a row for each record (`line`, `file`, `line_number`), with `timestamp` and `level` where its format is
    known. The shard notes which files it was made from.

    Parameters
    ----------
    paths, format, types, on_error, on_bad_record, encoding, duplicates, mixed_zones
        As for `amudai.read_files`.
    delimiter, quote, escape, header, columns, null, skip, comment, decimal, nan
        As for `amudai.read_files`.
    year, timezone, multiline, pattern, extract
        As for `amudai.read_files`.
    only_new
        Whether to leave out files that another shard in the same folder was made from, if their size and time of
        modification are still the same. If no file is new, nothing is written and `MissingFile` is raised.
    location, profile, layout, indexes, bloom, distinct, properties, field_properties, extensions, aliases
        As for `amudai.write`.
    packed_groups, packed, timestamps, decimals, compatibility
        As for `amudai.write`.
    created, ingestion_time, record_id, stripe_rows, stripe_bytes, memory_limit, temp_dir
        As for `amudai.write`.
    overwrite, store, threads, progress
        As for `amudai.write`.

    Examples
    --------
    >>> from pathlib import Path
    >>> lines = ["2026-01-01 10:00:00 INFO started", "2026-01-01 10:00:01 WARN slow", ""]
    >>> _ = Path("app.log").write_text(chr(10).join(lines))
    >>> amudai.ingest("app.log", "app.amudai.shard").read(["line_number", "level"]).to_pydict()
    {'line_number': [1, 2], 'level': ['INFO', 'WARN']}
    """
    if only_new and (overwrite or store is not None):
        other = "overwrite=True, which would lose the files of the old shard" if overwrite else "store="
        raise InvalidArgument(f"only_new: expected a new shard at a path or URL, found {other}")
    with read_files(
        paths,
        format=format,
        types=types,
        on_error=on_error,
        on_bad_record=on_bad_record,
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
        not_in=(container(path_text(location, "location")) or ".") if only_new else None,
        temp_dir=temporary_folder(location, store) if temp_dir is None else temp_dir,
    ) as source:
        if only_new and not source.files:
            raise MissingFile(f"only_new: expected a file that is new, found {len(source.skipped)} that are not")
        return write(
            source,
            location,
            profile=profile,
            layout=layout,
            indexes=indexes,
            bloom=bloom,
            distinct=distinct,
            properties=properties,
            field_properties=field_properties,
            extensions=extensions,
            aliases=aliases,
            packed_groups=packed_groups,
            packed=packed,
            timestamps=timestamps,
            decimals=decimals,
            compatibility=compatibility,
            created=created,
            ingestion_time=ingestion_time,
            record_id=record_id,
            stripe_rows=stripe_rows,
            stripe_bytes=stripe_bytes,
            memory_limit=memory_limit,
            temp_dir=temp_dir,
            overwrite=overwrite,
            store=store,
            threads=threads,
            progress=progress,
        )
