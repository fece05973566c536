"""Files that are read batch by batch, with one schema."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Final, Self, TypeAlias

import pyarrow as pa

from amudai.arrow import schema_nodes
from amudai.errors import InvalidArgument, InvalidSchema, MissingColumn, MissingFile
from amudai.format import Properties
from amudai.sources.catalog import ChosenFile, chosen_files, format_named, with_format
from amudai.sources.content import Workspace
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
from amudai.sources.files import InputFile, translated
from amudai.sources.finding import Finder, PathLike, SkippedFile
from amudai.sources.partitions import Partitions, folder_values
from amudai.sources.records import BadRecords, OnError, Tell
from amudai.sources.streams import BinaryStream, spooled
from amudai.sources.taken_in import TakenIn, noted_files
from amudai.sources.type_names import type_named
from amudai.sources.unify import fitted, unified

__all__ = ["Inputs", "Source", "read_files"]

Inputs: TypeAlias = PathLike | BinaryStream | Sequence[PathLike | BinaryStream]

_CHOICES: Final = {
    "on_error": ("raise", "skip", "keep"),
    "duplicates": ("raise", "rename"),
    "mixed_zones": ("raise", "text"),
    "multiline": ("join", "inherit", "separate"),
}
# The columns of a bad record that is kept.
_KEPT: Final = ("bad_record", "bad_record_place")


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
    not_in: str | os.PathLike[str] | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
) -> Source:
    """Read files as one table, batch by batch: Parquet, CSV, JSON, Arrow IPC, and logs.

    Only the beginning of each file is read here, to find the schema. `batches` and `to_reader` read the rest. They
    hold a few megabytes at a time, or a row group of Parquet. Files in gzip, Zstandard, bzip2, xz or LZ4 are
    decompressed on the way. `docs/ingest.md` has all rules.

    Logs (`.log`, `.txt`) have the columns `line`, `file` and `line_number`. If the beginning of a file has lines of a
    well-known shape, there are also `timestamp` and `level`. `docs/logs.md` lists the shapes.

    Parameters
    ----------
    paths
        Files, folders, patterns such as `logs/**/*.json`, URLs of files and folders in stores (`s3://bucket/logs/`),
        and binary streams such as `sys.stdin.buffer`. A zip or tar archive is read as a folder, and
        `logs.zip/2024/app.log` is one of its members. A stream is copied to a temporary file, which `close` removes.
        Folders such as `year=2024` become columns.
    format
        `"parquet"`, `"csv"`, `"json"`, `"arrow"` or `"log"`. None: each file has the format that its ending tells or,
        if the ending is unknown, its first bytes.
    types
        Arrow types of columns, or the names of types, instead of the inferred ones: `{"id": "uint64"}`. Files whose
        types differ can be read together if each can be converted to this type without loss.
    on_error
        `"raise"` makes a bad record a `CorruptedData` error with file and line. `"skip"` leaves bad records out.
        `"keep"` makes each a row with its text in the column `bad_record`, its file and line in `bad_record_place`,
        and nulls in all other columns.
    on_bad_record
        Is called with a `BadRecord` for each record that is left out or kept as text.
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
    not_in
        A folder of shards. Files that one of these shards was made from are left out if their size and time of
        modification are still the same. If no file is left, the source has no files and no columns.
    temp_dir
        The folder for copies of streams, and of Parquet and Arrow files in archives; None for the system's.

    Examples
    --------
    >>> import io
    >>> lines = b"2024-05-01 10:00:00,250 INFO started, 2024-05-01 10:00:01,000 WARN slow".split(b", ")
    >>> with amudai.read_files(io.BytesIO(bytes([10]).join(lines))) as source:
    ...     source.to_reader().read_all().select(["line_number", "level"]).to_pydict()
    {'line_number': [1, 2], 'level': ['INFO', 'WARN']}
    """
    _check_choices(on_error=on_error, duplicates=duplicates, mixed_zones=mixed_zones, multiline=multiline)
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
    leave_out = None if not_in is None else TakenIn(os.fsdecode(not_in))
    with ExitStack() as stack:
        workspace = Workspace(temp_dir, stack)
        finder = Finder(workspace, stack)
        found = finder.find(_paths(paths, workspace))
        skipped = finder.skipped
        if leave_out is not None:
            found = [each for each in found if not _is_left_out(each.file, leave_out, skipped)]
            if not found:
                return Source([], pa.schema([]), on_error, skipped=skipped)
        files = chosen_files(found, skipped) if format is None else with_format(found, format_named(format))
        if not files:
            reasons = "; ".join(f"{each.path}: {each.reason}" for each in skipped[:3])
            raise MissingFile(f"paths: expected files of a known format, found none ({reasons})")
        readers = _opened(files, options)
        schema, partitions = _schema(readers, options, open_ended=any(each.format.open_ended for each in files))
        schema_nodes(schema)  # refuses names and types that no shard can have
        return Source(readers, schema, on_error, on_bad_record, partitions, skipped, stack.pop_all())


class Source:
    """Files that are read batch by batch, as one table. Made by `amudai.read_files`.

    Attributes
    ----------
    schema
        The schema of all batches.
    skipped
        Files of folders and archives that are not read: the path of each, and why.
    bad_records
        The records that the latest call of `batches` or `to_reader` left out, or kept as text.

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
        partitions: Partitions | None = None,
        skipped: Sequence[SkippedFile] = (),
        opened: ExitStack | None = None,
    ) -> None:
        self._readers = readers
        self._on_error: OnError = on_error
        self._on_bad_record = on_bad_record
        self._partitions = Partitions({}, {}) if partitions is None else partitions
        self._read_schema = schema
        added = [*schema, *self._partitions.fields.values()]
        self.schema = pa.schema(added if on_error != "keep" else _with_bad_records(added), metadata=schema.metadata)
        self.skipped = list(skipped)
        self.bad_records = BadRecords(on_error)
        self._opened = ExitStack() if opened is None else opened

    @property
    def files(self) -> list[str]:
        """The files, in the order in which they are read."""
        return [reader.file.path for reader in self._readers]

    @property
    def size(self) -> int:
        """The bytes of all files, as they are stored. Those of the members of an archive are not compressed."""
        return sum(reader.file.size() for reader in self._readers)

    @property
    def decisions(self) -> dict[str, tuple[Decision, ...]]:
        """What was decided about each file from its content."""
        return {reader.file.path: reader.decisions for reader in self._readers}

    @property
    def notes(self) -> dict[str, tuple[str, ...]]:
        """What there is to say about each file after it was read. Files without notes are left out."""
        found = {reader.file.path: reader.notes() for reader in self._readers}
        return {path: texts for path, texts in found.items() if texts}

    def noted_at(self, location: str | os.PathLike[str]) -> Properties:
        """The property by which a shard at `location` says which files it was made from."""
        return noted_files([reader.file for reader in self._readers], location)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The batches of all files, one at a time. Each call reads the files again."""
        self.bad_records = bad = BadRecords(self._on_error, self._on_bad_record)
        for reader in self._readers:
            with translated(reader.file):
                for batch in reader.batches(self._read_schema, bad):
                    if batch.num_rows:
                        yield fitted(self._partitions.added(batch, reader.file), self.schema, reader.file)
                    yield from self._kept(bad, reader.file)
                yield from self._kept(bad, reader.file)

    def _kept(self, bad: BadRecords, file: InputFile) -> Iterator[pa.RecordBatch]:
        """The bad records since the last call as rows."""
        kept = bad.take_kept()
        if kept:
            texts, places = zip(*kept, strict=True)
            arrays = [pa.array(texts, pa.string()), pa.array(places, pa.string())]
            batch = pa.RecordBatch.from_arrays(arrays, names=list(_KEPT))
            yield fitted(self._partitions.added(batch, file), self.schema, file)

    def to_reader(self) -> pa.RecordBatchReader:
        """The rows of all files as a reader, which `amudai.write` takes. Each call reads the files anew."""
        return pa.RecordBatchReader.from_batches(self.schema, self.batches())

    def close(self) -> None:
        """Close archives, and remove the copies of streams."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Source({len(self._readers)} files, {len(self.schema)} columns)"


def _paths(paths: Inputs, workspace: Workspace) -> list[PathLike | InputFile]:
    """The paths, with a copy in place of each stream."""
    each = [paths] if isinstance(paths, (str, os.PathLike, BinaryStream)) else list(paths)
    return [spooled(path, workspace) if isinstance(path, BinaryStream) else path for path in each]


def _is_left_out(file: InputFile, leave_out: TakenIn, skipped: list[SkippedFile]) -> bool:
    reason = leave_out(file)
    if reason is not None:
        skipped.append(SkippedFile(file.path, reason))
    return reason is not None


def _opened(files: Sequence[ChosenFile], options: SourceOptions) -> list[FileReader]:
    readers = []
    for each in files:
        with translated(each.file):
            reader = each.format.open(each.file, options)
        if each.recognised:
            reader.decisions = (Decision("format", each.format.name, "by its content"), *reader.decisions)
        readers.append(reader)
    return readers


def _schema(readers: Sequence[FileReader], options: SourceOptions, *, open_ended: bool) -> tuple[pa.Schema, Partitions]:
    """The schema of what the readers give, and the columns that folders add."""
    found = [(reader.file, reader.schema) for reader in readers]
    files, schemas = [file for file, _ in found], [schema for _, schema in found]
    folders = {name for file in files for name in folder_values(file.path)}
    own = {name for schema in schemas for name in schema.names}
    for name in options.types:
        if not open_ended and name not in own | folders:
            raise MissingColumn(f"types: expected columns of the files, found {name!r}")
    # The type of a column that only folders have is no business of the files.
    of_files = {name: kind for name, kind in options.types.items() if name in own or name not in folders}
    schema = unified(found, replace(options, types=of_files)).with_metadata(_common_metadata(schemas))
    return schema, Partitions.of(files, schema, options.types)


def _common_metadata(schemas: Sequence[pa.Schema]) -> dict[bytes, bytes] | None:
    """The metadata on which all files agree."""
    first, *others = [schema.metadata or {} for schema in schemas]
    common = {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}
    return common or None


def _with_bad_records(fields: list[pa.Field]) -> list[pa.Field]:
    """The fields, which can all be null, and those of a bad record."""
    names = {field.name for field in fields}
    for name in _KEPT:
        if name in names:
            raise InvalidSchema(f'column {name!r}: expected another name, because on_error="keep" adds a column of it')
    return [*(field.with_nullable(True) for field in fields), *(pa.field(name, pa.string()) for name in _KEPT)]


def _check_choices(**told: str) -> None:
    for name, value in told.items():
        choices = _CHOICES[name]
        if value not in choices:
            raise InvalidArgument(f"{name}: expected {' or '.join(map(repr, choices))}, found {value!r}")


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
