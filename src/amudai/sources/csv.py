"""Reading CSV files.

This module splits a file into records, because pyarrow gives no line numbers and a quoted value may contain line ends.
pyarrow parses the records. The types of columns come from the first block; a later record that does not fit is bad.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from amudai.errors import CorruptedData, InvalidSchema
from amudai.sources.contract import FileReader, SourceFormat, SourceOptions
from amudai.sources.exact import FIRST_ROUNDED, check_integers
from amudai.sources.files import InputFile
from amudai.sources.records import BLOCK, ENOUGH, BadRecords, LineReader, Lines, Records, accepted, parsed

__all__ = ["CSV", "records_of"]

_DELIMITERS: Final = {".tsv": "\t", ".tab": "\t"}
_QUOTE: Final = ord('"')
_PLACE: Final = re.compile(r"(?:In CSV column #(\d+): )?(?:CSV parse error: )?(?:Row #\d+: )?")


def records_of(file: InputFile, bad: BadRecords, size: int = BLOCK) -> Iterator[Records]:
    """The records of a file, the header first."""
    reader = LineReader(file, size)
    for lines in reader:
        first = 0
        while first < len(lines.ends):
            joined, opened = _quoted(lines, first, _delimiter(file))
            end = len(lines.ends) if opened is None else opened
            yield _between(file, lines, first, end, joined)
            if opened is None:
                break
            if not lines.final:
                reader.keep_from(opened)
                break
            reason = "expected a quote that closes the last value, found none"
            bad.add(file, lines.first + opened, reason, lines.text(opened))
            first = opened + 1


def _quoted(lines: Lines, first: int, delimiter: str) -> tuple[list[tuple[int, int]], int | None]:
    """Which lines belong to one record because of a quoted value, and the line of a quote that is not closed."""
    quotes = np.flatnonzero(np.frombuffer(lines.data, np.uint8) == _QUOTE)
    counts = np.diff(np.searchsorted(quotes, lines.ends), prepend=0)
    joined: list[tuple[int, int]] = []
    opened: int | None = None
    # Only lines with an odd number of quotes begin or end a value of several lines.
    for line in np.flatnonzero(counts & 1).tolist():
        if line < first:
            continue
        if opened is not None:
            joined.append((opened, line))
            opened = None
        elif _goes_on(lines.text(line), delimiter):
            opened = line
    return joined, opened


def _goes_on(line: bytes, delimiter: str) -> bool:
    """Whether a line that starts outside of quotes ends inside them. Only a quote at the start of a value counts."""
    mark = re.escape(delimiter.encode())
    rest = re.sub(rb'(^|%b)"(?:[^"]|"")*"' % mark, rb"\1", line)
    return re.search(rb'(^|%b)"' % mark, rest) is not None


def _between(file: InputFile, lines: Lines, first: int, end: int, joined: list[tuple[int, int]]) -> Records:
    begins = np.ones(end - first, np.bool_)
    for opened, closed in joined:
        begins[opened + 1 - first : closed + 1 - first] = False
    numbers = np.flatnonzero(begins) + first
    edges = np.concatenate([[0], lines.ends + 1])
    starts, ends = edges[numbers], edges[np.append(numbers[1:], end)]
    data = np.frombuffer(lines.data, np.uint8)
    # Empty lines are not records.
    filled = (ends - starts > 2) | ((data[starts] != ord("\n")) & (data[starts] != ord("\r")))
    return Records(file, lines.data, starts[filled], ends[filled], (numbers + lines.first)[filled])


def _delimiter(file: InputFile) -> str:
    return _DELIMITERS.get(file.ending, ",")


def _header(records: Records) -> list[str]:
    table = _read(records[:1], [], {}, header=True)
    if table.num_rows:
        raise CorruptedData("header: expected one line, found carriage returns inside", file=records.file.path)
    names: list[str] = table.column_names
    return names


def _read(
    records: Records,
    names: list[str],
    types: dict[str, pa.DataType],
    *,
    header: bool = False,
    only: str | None = None,
    skip: Callable[[pa.csv.InvalidRow], str] | None = None,
) -> pa.Table:
    content = records.content()
    parse = pa.csv.ParseOptions(delimiter=_delimiter(records.file), invalid_row_handler=skip)
    # One block, because the records are complete. pyarrow knows the numbers of rows only without threads.
    read = pa.csv.ReadOptions(
        column_names=None if header else names, block_size=len(content) + 1, use_threads=skip is None
    )
    convert = pa.csv.ConvertOptions(column_types=types, include_columns=[only] if only is not None else None)
    return pa.csv.read_csv(pa.BufferReader(content), read, parse, convert)


def _schema(file: InputFile, options: SourceOptions) -> pa.Schema:
    for records in records_of(file, BadRecords("skip")):
        if not len(records):
            continue
        names, body = _header(records), records[1:]
        told_here = {name: kind for name, kind in options.types.items() if name in names}
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidSchema(f"header: expected unique names, found {twice!r} twice", file=file.path)
        tables = list(accepted(body, partial(_read, names=names, types=told_here), [], limit=ENOUGH))
        if not tables:
            return pa.schema([(name, told_here.get(name, pa.null())) for name in names])
        # pyarrow infers binary if some record is not UTF-8. The column is text, and that record is bad.
        fields = [pa.field(name, _inferred(name, tables, body, names)) for name in names]
        return pa.schema([field.with_type(told_here.get(field.name, field.type)) for field in fields])
    return pa.schema([])


def _inferred(name: str, tables: list[pa.Table], records: Records, names: list[str]) -> pa.DataType:
    kinds = {table.schema.field(name).type for table in tables} - {pa.null()}
    if not kinds:
        return pa.null()
    if len(kinds) > 1 or pa.types.is_binary(next(iter(kinds))):
        # Some records were left out, and the others were parsed in parts, which may have different types.
        numbers = all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds)
        return pa.float64() if numbers else pa.string()
    (kind,) = kinds
    if pa.types.is_floating(kind) and any(_has_large(table[name]) for table in tables):
        # Records that cannot be read are left out here as they were before.
        as_text = partial(_read, names=names, types={name: pa.string()}, only=name)
        if all(_fits_unsigned(table[name]) for table in accepted(records, as_text, [], limit=ENOUGH)):
            return pa.uint64()
    return kind


def _has_large(column: pa.ChunkedArray) -> bool:
    largest = pc.max(pc.abs(column)).as_py()
    return largest is not None and largest >= FIRST_ROUNDED


def _fits_unsigned(texts: pa.ChunkedArray) -> bool:
    try:
        pc.if_else(pc.equal(texts, ""), None, texts).cast(pa.uint64())
    except pa.ArrowInvalid:
        return False
    return True


class CsvReader(FileReader):
    """A CSV file."""

    def __init__(self, file: InputFile, schema: pa.Schema, options: SourceOptions) -> None:
        super().__init__(file, schema)
        self._options = options

    def batches(self, schema: pa.Schema, bad: BadRecords) -> Iterator[pa.RecordBatch]:
        """The records of the file."""
        names: list[str] | None = None
        for records in records_of(self.file, bad):
            if names is None:
                if not len(records):
                    continue
                names, records = _header(records), records[1:]
                for name in names:
                    if name not in schema.names:
                        raise CorruptedData(f"header: expected it as it was, found {name!r}", file=self.file.path)
            types = {name: schema.field(name).type for name in names}
            parse = partial(_parsed, names=names, types=types, options=self._options)
            for table in parsed(records, parse, bad, partial(_suspects, names=names, types=types)):
                yield from table.to_batches()


def _reader(file: InputFile, options: SourceOptions) -> CsvReader:
    return CsvReader(file, _schema(file, options), options)


def _parsed(records: Records, names: list[str], types: dict[str, pa.DataType], options: SourceOptions) -> pa.Table:
    try:
        table = _read(records, names, types)
    except pa.ArrowInvalid as error:
        raise pa.ArrowInvalid(_explained(str(error), names)) from error
    for name, kind in types.items():
        if kind == pa.float64() and name not in options.types and _has_large(table[name]):
            texts = _read(records, names, {name: pa.string()}, only=name)[name].to_pylist()
            check_integers(records, name, texts)
    return table


def _suspects(records: Records, names: list[str], types: dict[str, pa.DataType]) -> npt.NDArray[np.bool_]:
    """Records with the wrong number of values, or with a value that does not look like its column's type."""
    refused = np.zeros(len(records), np.bool_)

    def skip(row: pa.csv.InvalidRow) -> str:
        if row.number is not None and row.number <= len(refused):
            refused[row.number - 1] = True
        return "skip"

    table = _read(records, names, dict.fromkeys(names, pa.binary()), skip=skip)
    kept = np.flatnonzero(~refused)
    if table.num_rows != len(kept):
        return refused
    for name, kind in types.items():
        cells = table[name].combine_chunks().dictionary_encode()
        odd = np.zeros(len(cells.dictionary), np.bool_)
        odd[_misfits(cells.dictionary, kind)] = True
        refused[kept[odd[cells.indices.to_numpy()]]] = True
    return refused


def _misfits(cells: pa.Array, kind: pa.DataType, first: int = 0) -> list[int]:
    """The cells that a cast rejects. The CSV reader is more lenient, and decides in the end."""
    try:
        texts = cells.cast(pa.string())
        if kind not in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
            trimmed = pc.utf8_trim_whitespace(texts)
            pc.if_else(pc.is_in(trimmed, pa.array(pa.csv.ConvertOptions().null_values)), None, trimmed).cast(kind)
    except pa.ArrowInvalid:
        if len(cells) == 1:
            return [first]
        middle = len(cells) // 2
        return _misfits(cells[:middle], kind, first) + _misfits(cells[middle:], kind, first + middle)
    except pa.ArrowNotImplementedError:
        pass
    return []


def _explained(message: str, names: list[str]) -> str:
    """The message of pyarrow with the name of the column, and without its numbers of rows and columns."""
    place = _PLACE.match(message)
    rest = message[place.end() :] if place is not None else message
    if place is None or place[1] is None or int(place[1]) >= len(names):
        return rest
    return f"{rest} in column {names[int(place[1])]!r}; types= can say what it holds"


CSV: Final = SourceFormat(name="csv", endings=(".csv", ".tsv", ".tab"), open=_reader)
