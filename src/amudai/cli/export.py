"""The command `export`: write rows to a file of another format."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, BinaryIO, Final, Protocol

import pyarrow as pa
import typer

from amudai import CsvWriter, InvalidArgument, JsonLinesWriter
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
from amudai.cli.terminal import Bar, count_text, output, print_json, size_text, time_text

__all__ = ["WRITERS", "BatchWriter", "ParquetWriter", "file_format", "run", "written_to"]

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
# A Parquet row group ends at this many rows or bytes, whichever comes first.
_GROUP_ROWS: Final = 1 << 20
_GROUP_BYTES: Final = 128 << 20


class BatchWriter(Protocol):
    """Writes batches to a file."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch."""

    def close(self) -> None:
        """Write the end of the file; the stream stays open."""


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


# ---- one writer for each format ----


class _Arrow:
    def __init__(self, schema: pa.Schema, out: BinaryIO) -> None:
        # The file format begins to be read at its end, which a pipe does not allow. The stream format does not.
        make = pa.ipc.new_stream if out is sys.stdout.buffer else pa.ipc.new_file
        self._writer = make(pa.PythonFile(out, "w"), schema)

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)

    def close(self) -> None:
        self._writer.close()


class ParquetWriter:
    """Writes row groups of about a million rows, however many rows the batches have."""

    def __init__(self, schema: pa.Schema, out: BinaryIO) -> None:
        import pyarrow.parquet

        self._writer = pyarrow.parquet.ParquetWriter(out, schema, compression="zstd", write_page_index=True)
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch, or keep them until there are enough."""
        self._waiting.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._rows >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        """Write what was kept, and the end."""
        if self._waiting:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(pa.Table.from_batches(self._waiting), row_group_size=self._rows)
        self._waiting = []
        self._rows = self._bytes = 0


WRITERS: Final[dict[str, Callable[[pa.Schema, BinaryIO], BatchWriter]]] = {
    "parquet": ParquetWriter,
    "csv": lambda schema, out: CsvWriter(out, schema.names),
    "arrow": _Arrow,
    "jsonl": lambda schema, out: JsonLinesWriter(out, schema.names),
}
