"""What do the files hold, as batches of one schema?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from amudai.arrow import schema_nodes
from amudai.errors import InvalidArgument, MissingColumn
from amudai.sources.catalog import FORMATS, format_named, format_of
from amudai.sources.contract import Format, Told
from amudai.sources.files import File, Paths, find_files, translated
from amudai.sources.records import BadRecords, OnError, Tell
from amudai.sources.type_names import type_named
from amudai.sources.unify import fitted, unified

__all__ = ["Source", "read_files"]


def read_files(
    paths: Paths,
    *,
    format: str | None = None,  # noqa: A002
    types: Mapping[str, pa.DataType | str] | None = None,
    on_error: OnError = "raise",
    on_bad_record: Tell | None = None,
    year: int | None = None,
) -> Source:
    """Files as one table that is read batch by batch: Parquet, CSV, JSON lines, Arrow IPC, and logs.

    Only heads and first blocks are read here; `batches` reads the rest and holds a few megabytes at a time, of Parquet
    a row group. Files in gzip, Zstandard or bzip2 (`logs.csv.gz`) are decompressed on the way.

    Logs (`.log`, `.txt`) have a row for each line: `line`, `file`, `line_number` and, where the first 200 lines of
    some file have a well-known shape, `timestamp` and `level`, null for lines of another shape. A time with a zone is
    given in UTC, one without as it stands.

    Parameters
    ----------
    paths
        Files, folders (everything of a known format below them) and patterns such as `logs/**/*.json`.
    format
        "parquet", "csv", "json", "arrow" or "log"; without it the ends of the file names decide.
    types
        Types of columns that are not to be guessed, as Arrow types or their names: `{"id": "uint64"}`. Files whose
        types differ can be read together where they can be converted to it without loss.
    on_error
        What happens to a record that cannot be read: "raise" `CorruptedData` with file and line, or "skip" it and
        count it in `bad_records`.
    on_bad_record
        Called with every record that is skipped.
    year
        The year of log lines that name none. Without it, the last one in which a line is not newer than its file.

    Examples
    --------
    >>> import os, pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "app.log")
    >>> lines = ["2024-05-01 10:00:00,250 INFO started", "  by hand", "2024-05-01 10:00:01,000 WARN slow"]
    >>> _ = path.write_text(os.linesep.join(lines))
    >>> source = read_files(path)
    >>> source.schema.names
    ['line', 'file', 'line_number', 'timestamp', 'level']
    >>> [batch["level"].to_pylist() for batch in source.batches()]
    [['INFO', None, 'WARN']]
    >>> folder.cleanup()
    """
    if on_error not in ("raise", "skip"):
        raise InvalidArgument(f"on_error: expected 'raise' or 'skip', found {on_error!r}")
    told = Told(types=_types(types or {}), year=year)
    chosen = None if format is None else format_named(format)
    endings = None if chosen is not None else [ending for known in FORMATS for ending in known.endings]
    files = [(file, chosen or format_of(file)) for file in find_files(paths, endings)]
    found = []
    for file, kind in files:
        with translated(file):
            found.append((file, kind.schema(file, told)))
    _check_told(told, [schema for _, schema in found], any(kind.open_ended for _, kind in files))
    schema = unified(found, told)
    schema_nodes(schema)  # refuses names and types that no shard can have
    return Source(files, schema, told, on_error, on_bad_record)


class Source:
    """Files that are read batch by batch.

    Attributes
    ----------
    schema
        That of every batch.
    bad_records
        What was skipped by the latest `batches`.
    """

    def __init__(
        self,
        files: list[tuple[File, Format]],
        schema: pa.Schema,
        told: Told,
        on_error: OnError,
        on_bad_record: Tell | None = None,
    ) -> None:
        self._files = files
        self._told = told
        self._on_error: OnError = on_error
        self._on_bad_record = on_bad_record
        self.schema = schema
        self.bad_records = BadRecords(on_error)

    @property
    def files(self) -> list[str]:
        """The files, in the order in which they are read."""
        return [file.path for file, _ in self._files]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The batches of all files, one by one. Each call reads the files anew."""
        self.bad_records = bad = BadRecords(self._on_error, self._on_bad_record)
        for file, kind in self._files:
            with translated(file):
                for batch in kind.batches(file, self.schema, self._told, bad):
                    if batch.num_rows:
                        yield fitted(batch, self.schema, file)

    def __repr__(self) -> str:
        return f"Source({len(self._files)} files, {len(self.schema)} columns)"


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


def _check_told(told: Told, schemas: list[pa.Schema], open_ended: bool) -> None:
    for name in told.types:
        if not open_ended and not any(name in schema.names for schema in schemas):
            raise MissingColumn(f"types: expected columns of the files, found {name!r}")
