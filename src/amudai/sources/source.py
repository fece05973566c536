"""Files that are read batch by batch, with one schema."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Self, TypeAlias

import pyarrow as pa

from amudai.arrow import schema_nodes
from amudai.errors import InvalidArgument, MissingColumn
from amudai.sources.catalog import FORMATS, format_named, format_of
from amudai.sources.contract import (
    CsvOptions,
    Decision,
    Duplicates,
    FileReader,
    JsonOptions,
    LogOptions,
    MixedZones,
    Multiline,
    SourceOptions,
)
from amudai.sources.files import InputFile, Path, Paths, find_files, translated
from amudai.sources.records import BadRecords, OnError, Tell
from amudai.sources.streams import BinaryStream, spooled
from amudai.sources.type_names import type_named
from amudai.sources.unify import fitted, unified

__all__ = ["Inputs", "Source", "read_files"]

Inputs: TypeAlias = Path | BinaryStream | Sequence[Path | BinaryStream]


def read_files(
    paths: Inputs,
    *,
    format: str | None = None,  # noqa: A002
    types: Mapping[str, pa.DataType | str] | None = None,
    on_error: OnError = "raise",
    on_bad_record: Tell | None = None,
    encoding: str | None = None,
    duplicates: Duplicates = "raise",
    mixed_zones: MixedZones = "raise",
    delimiter: str | None = None,
    quote: str | None = None,
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
    temp_dir: str | os.PathLike[str] | None = None,
) -> Source:
    """Read files as one table, batch by batch: Parquet, CSV, JSON lines, Arrow IPC, and logs.

    Only the beginning of each file is read here, to find the schema. `batches` and `to_reader` read the rest. They
    hold a few megabytes at a time, or a row group of Parquet. Files in gzip, Zstandard or bzip2 (`logs.csv.gz`) are
    decompressed on the way.

    Logs (`.log`, `.txt`) have a row for each line: `line`, `file`, `line_number`. If the first 200 lines of a file have
    a well-known format, there are also `timestamp` and `level`, which are null for lines of another format. A time with
    a zone is converted to UTC; a time without a zone is kept.

    Parameters
    ----------
    paths
        Files, folders (all files of a known format below them), patterns such as `logs/**/*.json`, and binary streams
        such as `sys.stdin.buffer`. A stream is copied to a temporary file, which `close` removes.
    format
        `"parquet"`, `"csv"`, `"json"`, `"arrow"` or `"log"`; None if the endings of the file names tell it. The format
        of a stream is recognised by its first bytes, except for CSV.
    types
        Arrow types of columns, or the names of types, instead of the inferred ones: `{"id": "uint64"}`. Files whose
        types differ can be read together if each can be converted to this type without loss.
    on_error
        `"raise"` makes a bad record a `CorruptedData` error with file and line. `"skip"` leaves bad records out.
    on_bad_record
        Is called with a `BadRecord` for each record that is left out.
    encoding
        The encoding of text files, such as `"latin-1"`. None: decided from the beginning of each file.
    duplicates
        What to do with two columns of the same name: `"raise"` an error, or `"rename"` the second `a` to `a_1`.
    mixed_zones
        What to do with a column in which some times name a zone and others do not: `"raise"` an error, or keep the
        column as `"text"`.
    delimiter, quote, header
        CSV: the character between values, the character around them (`""` for none), and whether the first record has
        the names of the columns. None: decided from the beginning of each file.
    columns
        CSV: the names of the columns, in place of those in the header.
    null
        CSV: the texts that mean null. None: the empty text and the usual ones (`NA`, `null`, `NaN`, ...).
    skip, comment
        CSV: how many lines to leave out at the beginning, and the text with which lines to leave out begin.
    decimal
        CSV: the character before the fraction of a number.
    nan
        JSON: whether `NaN`, `Infinity` and `-Infinity` are numbers rather than errors.
    year
        Logs: the year of the first line, if times have no year. None: the latest year in which the last line is not
        newer than its file.
    timezone
        Logs: the zone of times that name none. None: such times have no zone.
    multiline
        Logs: what becomes of lines that continue a record, such as those of a stack trace. `"join"`: they belong to
        the record. `"inherit"`: each is a row with the time and level of the record. `"separate"`: each is a row
        without time and level.
    pattern
        Logs: a regular expression with named groups, or a grok pattern. Its groups become columns.
    extract
        Logs: whether all parts of a line of a well-known shape become columns, not only its time and level.
    temp_dir
        The folder for copies of streams; None for the system's.

    Examples
    --------
    >>> import io
    >>> lines = b"2024-05-01 10:00:00,250 INFO started, 2024-05-01 10:00:01,000 WARN slow".split(b", ")
    >>> with amudai.read_files(io.BytesIO(bytes([10]).join(lines))) as source:
    ...     source.to_reader().read_all().select(["line_number", "level"]).to_pydict()
    {'line_number': [1, 2], 'level': ['INFO', 'WARN']}
    """
    if on_error not in ("raise", "skip"):
        raise InvalidArgument(f"on_error: expected 'raise' or 'skip', found {on_error!r}")
    options = SourceOptions(
        types=_types(types or {}),
        encoding=encoding,
        duplicates=duplicates,
        mixed_zones=mixed_zones,
        csv=CsvOptions(
            delimiter=delimiter,
            quote=quote,
            header=header,
            columns=None if columns is None else tuple(columns),
            null=None if null is None else tuple(null),
            skip=skip,
            comment=comment,
            decimal=decimal,
        ),
        json=JsonOptions(nan=nan),
        log=LogOptions(year=year, timezone=timezone, multiline=multiline, pattern=pattern, extract=extract),
    )
    chosen = None if format is None else format_named(format)
    endings = None if chosen is not None else [ending for known in FORMATS for ending in known.endings]
    with ExitStack() as stack:
        files = [(file, chosen or format_of(file)) for file in find_files(_paths(paths, temp_dir, stack), endings)]
        readers = []
        for file, kind in files:
            with translated(file):
                readers.append(kind.open(file, options))
        found = [(reader.file, reader.schema) for reader in readers]
        _check_types(options, [schema for _, schema in found], any(kind.open_ended for _, kind in files))
        schema = unified(found, options)
        schema_nodes(schema)  # refuses names and types that no shard can have
        return Source(readers, schema, on_error, on_bad_record, stack.pop_all())


class Source:
    """Files that are read batch by batch, as one table. Made by `amudai.read_files`.

    Attributes
    ----------
    schema
        The schema of all batches.
    bad_records
        The records that the latest call of `batches` or `to_reader` left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("a.csv").write_text("id,name" + chr(10) + "1,x" + chr(10))
    >>> with amudai.read_files("a.csv") as source:
    ...     source.files, source.size, source.schema.names
    (['a.csv'], 12, ['id', 'name'])
    """

    def __init__(
        self,
        readers: list[FileReader],
        schema: pa.Schema,
        on_error: OnError,
        on_bad_record: Tell | None = None,
        copies: ExitStack | None = None,
    ) -> None:
        self._readers = readers
        self._on_error: OnError = on_error
        self._on_bad_record = on_bad_record
        self.schema = schema
        self.bad_records = BadRecords(on_error)
        self._copies = ExitStack() if copies is None else copies

    @property
    def files(self) -> list[str]:
        """The files, in the order in which they are read."""
        return [reader.file.path for reader in self._readers]

    @property
    def size(self) -> int:
        """The bytes of all files, as they are stored."""
        return sum(reader.file.size() for reader in self._readers)

    @property
    def decisions(self) -> dict[str, tuple[Decision, ...]]:
        """What was decided about each file from its content."""
        return {reader.file.path: reader.decisions for reader in self._readers}

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The batches of all files, one at a time. Each call reads the files again."""
        self.bad_records = bad = BadRecords(self._on_error, self._on_bad_record)
        for reader in self._readers:
            with translated(reader.file):
                for batch in reader.batches(self.schema, bad):
                    if batch.num_rows:
                        yield fitted(batch, self.schema, reader.file)

    def to_reader(self) -> pa.RecordBatchReader:
        """The rows of all files as a reader, which `amudai.write` takes. Each call reads the files anew."""
        return pa.RecordBatchReader.from_batches(self.schema, self.batches())

    def close(self) -> None:
        """Remove the copies of streams."""
        self._copies.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Source({len(self._readers)} files, {len(self.schema)} columns)"


def _paths(paths: Inputs, temp_dir: str | os.PathLike[str] | None, stack: ExitStack) -> Paths:
    """The paths, with a copy in place of each stream."""
    if isinstance(paths, BinaryStream):
        return spooled(paths, temp_dir, stack)
    if isinstance(paths, (str, os.PathLike, InputFile)):
        return paths
    return [spooled(each, temp_dir, stack) if isinstance(each, BinaryStream) else each for each in paths]


def _types(types: Mapping[str, Any]) -> dict[str, pa.DataType]:
    found = {}
    for name, kind in types.items():
        try:
            found[name] = type_named(kind) if isinstance(kind, str) else kind
        except ValueError as error:
            raise InvalidArgument(f"types: expected an Arrow type for {name!r}, found {kind!r}") from error
        if not isinstance(found[name], pa.DataType):
            raise InvalidArgument(f"types: expected an Arrow type for {name!r}, found {type(kind).__name__}")
    return found


def _check_types(options: SourceOptions, schemas: list[pa.Schema], open_ended: bool) -> None:
    for name in options.types:
        if not open_ended and not any(name in schema.names for schema in schemas):
            raise MissingColumn(f"types: expected columns of the files, found {name!r}")
