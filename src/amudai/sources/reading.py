"""Opening files of any known format as one source."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Final, TypeAlias

import pyarrow as pa

from amudai.arguments import flag, is_one_of, mapping, names, path_text, sequence, shown, text_or_none
from amudai.arrow import schema_nodes
from amudai.errors import InvalidArgument, MissingColumn, MissingFile
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
from amudai.sources.records import OnError, Tell
from amudai.sources.source import Source
from amudai.sources.streams import BinaryStream, spooled
from amudai.sources.taken_in import TakenIn
from amudai.sources.type_names import type_named
from amudai.sources.unify import unified

__all__ = ["Inputs", "read_files"]

Inputs: TypeAlias = PathLike | BinaryStream | InputFile | Sequence[PathLike | BinaryStream | InputFile]

_CHOICES: Final = {
    "on_error": ("raise", "skip", "keep"),
    "duplicates": ("raise", "rename"),
    "mixed_zones": ("raise", "text"),
    "multiline": ("join", "inherit", "separate"),
}
# The columns of a bad record that is kept.


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
    escape
        CSV: the character before a quote that is part of a quoted value, besides doubled quotes; `""` for none. None:
        a backslash if the quotes at the beginning of the file need it.
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
        types=_types({} if types is None else mapping(types, "types")),
        encoding=text_or_none(encoding, "encoding"),
        duplicates=duplicates,
        mixed_zones=mixed_zones,
        csv=CsvOptions(
            delimiter=text_or_none(delimiter, "delimiter"),
            quote=text_or_none(quote, "quote"),
            escape=text_or_none(escape, "escape"),
            header=None if header is None else flag(header, "header"),
            columns=None if columns is None else names(columns, "columns"),
            null=None if null is None else names(null, "null"),
            skip=skip,
            comment=text_or_none(comment, "comment"),
            decimal=text_or_none(decimal, "decimal") or "",
        ),
        json=JsonOptions(nan=flag(nan, "nan")),
        log=LogOptions(
            year=year,
            timezone=text_or_none(timezone, "timezone"),
            multiline=multiline,
            pattern=text_or_none(pattern, "pattern"),
            extract=flag(extract, "extract"),
        ),
    )
    leave_out = None if not_in is None else TakenIn(path_text(not_in, "not_in"))
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
            why = f" ({reasons})" if reasons else ""
            raise MissingFile(f"paths: expected files of a known format, found none{why}")
        readers = _opened(files, options)
        schema, partitions = _schema(readers, options, open_ended=any(each.format.open_ended for each in files))
        schema_nodes(schema)  # refuses names and types that no shard can have
        return Source(readers, schema, on_error, on_bad_record, partitions, skipped, stack.pop_all())


def _paths(paths: Inputs, workspace: Workspace) -> list[PathLike | InputFile]:
    """The paths, with a copy in place of each stream."""
    each = [paths] if isinstance(paths, (str, os.PathLike, BinaryStream, InputFile)) else sequence(paths, "paths")
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


def _check_choices(**told: str) -> None:
    for name, value in told.items():
        choices = _CHOICES[name]
        if not is_one_of(value, choices):
            raise InvalidArgument(f"{name}: expected {' or '.join(map(repr, choices))}, found {shown(value)}")


def _types(types: Mapping[str, Any]) -> dict[str, pa.DataType]:
    found = {}
    for name, kind in types.items():
        try:
            found[name] = type_named(kind) if isinstance(kind, str) else kind
        except ValueError as error:
            raise InvalidArgument(f"types: expected an Arrow type for {name!r}, found {shown(kind)}") from error
        if not isinstance(found[name], pa.DataType):
            raise InvalidArgument(f"types: expected an Arrow type for {name!r}, found {type(kind).__name__}")
    return found
