"""The definition of a format, of an opened file, and of what callers may say about their data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

import pyarrow as pa

from amudai.errors import UnsupportedFeature
from amudai.sources.files import InputFile
from amudai.sources.records import BadRecords, Refused

__all__ = [
    "CsvOptions",
    "Decision",
    "Duplicates",
    "FilePiece",
    "FileReader",
    "JsonOptions",
    "LogOptions",
    "MixedZones",
    "Multiline",
    "PieceReader",
    "SequentialReader",
    "SourceFormat",
    "SourceOptions",
]

Duplicates: TypeAlias = Literal["raise", "rename"]
MixedZones: TypeAlias = Literal["raise", "text"]
Multiline: TypeAlias = Literal["join", "inherit", "separate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvOptions:
    """What the caller said about CSV files. None: decided from the beginning of each file.

    Attributes
    ----------
    delimiter, quote
        The characters between values and around them. `quote=""`: values have no quotes.
    escape
        The character before a quote that is part of a quoted value, besides doubled quotes. Empty: there is none.
    header
        Whether the first record has the names of the columns.
    columns
        The names of the columns, in place of those in the header.
    null
        Texts that mean null.
    skip
        Lines before the header that are left out.
    comment
        Lines that begin with this text are left out.
    decimal
        The character before the fraction of a number.
    """

    delimiter: str | None = None
    quote: str | None = None
    escape: str | None = None
    header: bool | None = None
    columns: tuple[str, ...] | None = None
    null: tuple[str, ...] | None = None
    skip: int = 0
    comment: str | None = None
    decimal: str = "."


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonOptions:
    """What the caller said about JSON files.

    Attributes
    ----------
    nan
        Whether `NaN`, `Infinity` and `-Infinity` are numbers.
    """

    nan: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """What the caller said about logs.

    Attributes
    ----------
    year
        The year of the first line whose time has no year. None: decided once for each file.
    timezone
        The zone of times that name none: `"UTC"`, `"Europe/Berlin"`, `"+02:00"`. None: such times have no zone.
    multiline
        What becomes of a line that continues the record before it.
    pattern
        A regular expression with named groups, or a grok pattern, in place of the well-known shapes.
    extract
        Whether the parts of a line besides its time and level become columns.
    """

    year: int | None = None
    timezone: str | None = None
    multiline: Multiline = "join"
    pattern: str | None = None
    extract: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What the caller said about the data.

    Attributes
    ----------
    types
        Types of columns by name. The types of other columns come from the files.
    encoding
        The encoding of text files. None: decided from the beginning of each file.
    duplicates
        What to do with a second column of the same name.
    mixed_zones
        What to do with a column in which some times have a zone and others have none.
    """

    types: dict[str, pa.DataType]
    encoding: str | None = None
    duplicates: Duplicates = "raise"
    mixed_zones: MixedZones = "raise"
    csv: CsvOptions = field(default_factory=CsvOptions)
    json: JsonOptions = field(default_factory=JsonOptions)
    log: LogOptions = field(default_factory=LogOptions)


@dataclass(frozen=True, slots=True)
class Decision:
    """Something that was decided about a file from its content.

    Attributes
    ----------
    option
        The option of `read_files` that would say the same: `"delimiter"`.
    value
        The value of that option.
    reason
        Why, in a few words, if that helps.
    """

    option: str
    value: object
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FilePiece:
    """What a piece of a file holds: its rows, and the records that cannot be read."""

    batches: Sequence[pa.RecordBatch]
    refused: Sequence[Refused] = ()


class FileReader:
    """One file whose beginning was read: its schema, what was decided about it, and its batches.

    Attributes
    ----------
    decisions
        What was decided from the content. Reading keeps to it.
    is_text
        Whether rows are made of text, so that their batches can be cut anywhere.
    """

    is_text: ClassVar[bool] = True

    def __init__(self, file: InputFile, schema: pa.Schema, decisions: tuple[Decision, ...] = ()) -> None:
        self.file = file
        self.schema = schema
        self.decisions = decisions

    def continued(self, file: InputFile) -> FileReader:
        """A reader of text that follows in the same file. All that was decided about the file stays."""
        raise UnsupportedFeature("follow: expected CSV, JSON lines or a log, found another format", file=file.path)

    def whole_records(self, data: bytes) -> int:
        """How many bytes at the beginning of some text are whole records, whatever follows."""
        return data.rfind(b"\n") + 1

    def notes(self) -> tuple[str, ...]:
        """What there is to say after reading: how many lines matched a shape, what became text."""
        return ()


class SequentialReader(FileReader, ABC):
    """A file that is read from its beginning to its end."""

    @abstractmethod
    def batches(self, schema: pa.Schema, bad: BadRecords, threads: int) -> Iterator[pa.RecordBatch]:
        """The batches of the file, given the schema of the whole source. Each call reads the file again.

        A column that the file lacks may be absent, and columns may come in any order. Columns of text formats have the
        source's types. At most `threads` threads parse.
        """


class PieceReader(FileReader, ABC):
    """A file that is cut into pieces, each of which can be read by itself, on any thread."""

    @abstractmethod
    def pieces(self, schema: pa.Schema, *, raises: bool) -> Iterator[Callable[[], FilePiece]]:
        """The pieces of the file in their order, as calls that read them. Each call of this cuts the file again.

        Schema and batches are as for `SequentialReader`. `raises` says whether one refused record of a piece is enough.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFormat:
    """One format: how its files are recognised and read.

    Attributes
    ----------
    endings
        Ends of file names, without those of compression.
    open
        Reads the head or the first few megabytes of a file.
    open_ended
        Whether a column can first occur after the part that `open` reads.
    """

    name: str
    endings: tuple[str, ...]
    open: Callable[[InputFile, SourceOptions], FileReader]
    open_ended: bool = False
