"""Turning files of other formats into a shard."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal

import pyarrow as pa

from amudai.api.progress import Report
from amudai.api.shard import Shard
from amudai.api.sizes import temporary_folder
from amudai.api.writing import Layout, write
from amudai.arrow import Decimals, Timestamps
from amudai.index import IndexSpec
from amudai.sources import Inputs, Tell, read_files
from amudai.storage import Size

__all__ = ["ingest"]


def ingest(
    paths: Inputs,
    location: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word for it
    types: Mapping[str, pa.DataType | str] | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    on_bad_record: Tell | None = None,
    profile: str = "balanced",
    layout: Layout = "single",
    indexes: Sequence[IndexSpec] = (),
    bloom: Sequence[str] = (),
    properties: Mapping[str, object] | None = None,
    field_properties: Mapping[str, Mapping[str, object]] | None = None,
    timestamps: Timestamps = "ticks",
    decimals: Decimals = "decimal128",
    stripe_rows: int | None = None,
    stripe_bytes: Size | None = None,
    memory_limit: Size = "512MB",
    temp_dir: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    store: object | None = None,
    threads: int | None = None,
    progress: bool | Report | None = None,
) -> Shard:
    """Turn files into a shard: Parquet, CSV, JSON lines, Arrow, and plain text logs, compressed ones too.

    A log gives a row for each line (`line`, `file`, `line_number`), with `timestamp` and `level` where its format is
    known.

    Parameters
    ----------
    paths
        A file, folder, pattern or binary stream such as `sys.stdin.buffer`, or several of them.
    format
        The format of the files: `"parquet"`, `"csv"`, `"json"`, `"arrow"` or `"log"`. None if their names or, for
        streams, their first bytes tell it.
    types
        Arrow types of columns, or the names of types, instead of the inferred ones.
    on_error
        `"raise"` stops at the first bad record. `"skip"` leaves bad records out.
    on_bad_record
        Is called with a `BadRecord` for each record that is left out.
    location, profile, layout, indexes, bloom, properties, field_properties, timestamps, decimals
        As for `amudai.write`.
    stripe_rows, stripe_bytes, memory_limit, temp_dir, overwrite, store, threads, progress
        As for `amudai.write`.

    Examples
    --------
    >>> from pathlib import Path
    >>> lines = ["2026-01-01 10:00:00 INFO started", "2026-01-01 10:00:01 WARN slow", ""]
    >>> _ = Path("app.log").write_text(chr(10).join(lines))
    >>> amudai.ingest("app.log", "app.amudai.shard").read(["line_number", "level"]).to_pydict()
    {'line_number': [1, 2], 'level': ['INFO', 'WARN']}
    """
    with read_files(
        paths,
        format=format,
        types=types,
        on_error=on_error,
        on_bad_record=on_bad_record,
        temp_dir=temporary_folder(location, store) if temp_dir is None else temp_dir,
    ) as source:
        return write(
            source.to_reader(),
            location,
            profile=profile,
            layout=layout,
            indexes=indexes,
            bloom=bloom,
            properties=properties,
            field_properties=field_properties,
            timestamps=timestamps,
            decimals=decimals,
            stripe_rows=stripe_rows,
            stripe_bytes=stripe_bytes,
            memory_limit=memory_limit,
            temp_dir=temp_dir,
            overwrite=overwrite,
            store=store,
            threads=threads,
            progress=progress,
        )
