"""A CSV file as a source of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Final

import pyarrow as pa

from amudai.errors import CorruptedData, located
from amudai.sources.contract import Decision, FilePiece, PieceReader, SourceFormat, SourceOptions
from amudai.sources.csv.columns import plain_columns, plain_types
from amudai.sources.csv.dialect import Dialect, decided_dialect, lines_of, told_dialect, values_of_each
from amudai.sources.csv.header import column_names, has_header
from amudai.sources.csv.parse import Parser
from amudai.sources.csv.quotes import ODD_QUOTE, odd_quotes
from amudai.sources.csv.records import Stretch, stretches_of, whole_records
from amudai.sources.csv.types import NULLS, inferred_type
from amudai.sources.files import InputFile
from amudai.sources.records import BLOCK, ENOUGH, Records, Refused, accepted
from amudai.sources.text import SAMPLE, TextStream, check_encoding, encoding_of

__all__ = ["CSV"]

# Bytes from which the dialect is decided, and records from which it is decided whether there is a header.
_SAMPLE: Final = 1 << 16
_FEW: Final = 200
# Bytes that are parsed at a time. Fewer, larger batches are written faster.
_BLOCK: Final = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """What was decided about a file."""

    dialect: Dialect
    header: bool
    names: tuple[str, ...]


class CsvReader(PieceReader):
    """A CSV file."""

    def __init__(
        self,
        file: InputFile,
        schema: pa.Schema,
        decisions: tuple[Decision, ...],
        layout: _Layout,
        options: SourceOptions,
    ) -> None:
        super().__init__(file, schema, decisions)
        self._layout = layout
        self._options = options

    def pieces(self, schema: pa.Schema, *, raises: bool) -> Iterator[Callable[[], FilePiece]]:
        """The records of the file, stretch by stretch."""
        layout, told = self._layout, self._options.csv
        types = {name: schema.field(name).type for name in layout.names}
        plain = plain_columns(layout.dialect, types, told.null, told.decimal)
        parser = Parser(
            dialect=layout.dialect,
            names=layout.names,
            types=types,
            told=frozenset(self._options.types),
            nulls=told.null,
            decimal=told.decimal,
        )

        def read(stretch: Stretch) -> FilePiece:
            refused = list(stretch.refused)
            batch = None if plain is None else plain.batch(stretch.data)
            if batch is not None:
                return FilePiece([batch] if batch.num_rows else [], sorted(refused))
            records = stretch.records()
            if raises:
                tables = accepted(records, parser.table, refused, limit=len(refused) + 1)
            else:
                tables = accepted(records, parser.table, refused, parser.suspects)
            return FilePiece([batch for table in tables for batch in table.to_batches()], sorted(refused))

        for stretch in self._body():
            yield partial(read, stretch)

    def continued(self, file: InputFile) -> CsvReader:
        """A reader of records that follow in the same file, which has its header before them."""
        layout = replace(self._layout, dialect=replace(self._layout.dialect, skip=0), header=False)
        return CsvReader(file, self.schema, self.decisions, layout, self._options)

    def whole_records(self, data: bytes) -> int:
        """How many bytes at the beginning of some text are whole records, whatever follows."""
        return whole_records(data, self._layout.dialect)

    def _body(self) -> Iterator[Stretch]:
        """The records without the header."""
        is_first = self._layout.header
        for stretch in stretches_of(self.file, self._layout.dialect, _BLOCK):
            records = stretch.records(2) if is_first else None
            if records is not None and len(records):
                yield stretch.behind(records, 1)
                is_first = False
            else:
                yield stretch


def _reader(file: InputFile, options: SourceOptions) -> CsvReader:
    dialect, decisions = _dialect(file, options)
    first = _beginning(file, dialect)
    if not first:
        layout = _Layout(dialect=dialect, header=False, names=())
        return CsvReader(file, pa.schema([]), tuple(decisions), layout, options)
    rows = _first_rows(first, dialect)
    if len(rows[0]) == 1:
        # With one column, many writers write an empty line for a null.
        dialect = replace(dialect, has_empty=True)
        first = _beginning(file, dialect)
    header = options.csv.header
    if header is None:
        # A column whose type the caller stated has its name from the header.
        header = not options.types.keys().isdisjoint(rows[0]) or has_header(rows)
        decisions.append(Decision("header", header))
    if header:
        _check_header(first[0].records(2)[:1], dialect)
    names = column_names(file, rows[0] if header else len(rows[0]), options.csv.columns, options.duplicates)
    layout = _Layout(dialect=dialect, header=header, names=tuple(names))
    if header:
        first[0] = first[0].behind(first[0].records(2), 1)
    return CsvReader(file, _schema(first, layout, options), tuple(decisions), layout, options)


def _check_header(header: Records, dialect: Dialect) -> None:
    if odd_quotes(header, dialect).any():
        message = f"header: expected quotes around whole names, found {ODD_QUOTE.format(dialect.quote)}"
        raise CorruptedData(message, file=header.file.path, line=int(header.lines[0]))


def _beginning(file: InputFile, dialect: Dialect) -> list[Stretch]:
    """The first records: about 4 MiB, or more if a record is long."""
    found: list[Stretch] = []
    size = 0
    for stretch in stretches_of(file, dialect, BLOCK):
        if len(stretch.records(1)):
            found.append(stretch)
            size += len(stretch.data)
        if size > BLOCK // 2:
            break
    return found


def _dialect(file: InputFile, options: SourceOptions) -> tuple[Dialect, list[Decision]]:
    decisions = []
    encoding = options.encoding
    if encoding is None:
        with file.open() as stream:
            encoding, reason = encoding_of(stream.read(SAMPLE))
        decisions.append(Decision("encoding", encoding, reason))
    else:
        check_encoding(encoding)
    told = told_dialect(options.csv, encoding, file.ending)
    if options.csv.delimiter is not None and options.csv.quote is not None:
        return told, decisions
    with TextStream(file, encoding) as stream:
        beginning = stream.read(_SAMPLE)
        is_whole = not stream.read(1)
    text = beginning.decode("utf-8", "replace")
    sample = "".join(lines_of(text)[told.skip :])
    dialect, more = decided_dialect(sample, told, options.csv, file.ending, is_whole=is_whole)
    return dialect, [*more, *decisions]


def _first_rows(first: list[Stretch], dialect: Dialect) -> list[list[str]]:
    texts: list[str] = []
    each = ((records, index) for records in (part.records(_FEW) for part in first) for index in range(len(records)))
    for records, index in islice(each, _FEW):
        try:
            texts.append(records.text(index).decode())
        except UnicodeDecodeError as error:
            if texts:
                continue
            message = f"header: expected text in {dialect.encoding}, found other bytes: set the encoding"
            raise CorruptedData(message, file=records.file.path, line=int(records.lines[index])) from error
    return values_of_each(texts, dialect)


def _schema(first: list[Stretch], layout: _Layout, options: SourceOptions) -> pa.Schema:
    """The columns, with the types that the caller stated or that the texts of the first records have."""
    types = {name: options.types.get(name, pa.null()) for name in layout.names}
    nulls, decimal = NULLS if options.csv.null is None else options.csv.null, options.csv.decimal
    plain = plain_types(first[0].data, layout.dialect, layout.names, nulls, decimal) if len(first) == 1 else {}
    types.update({name: kind for name, kind in plain.items() if name not in options.types})
    inferred = [name for name in layout.names if name not in options.types and name not in plain]
    if inferred:
        parser = Parser(dialect=layout.dialect, names=layout.names, types={})
        refused: list[Refused] = []
        tables = [
            table
            for stretch in first
            for table in accepted(stretch.records(), lambda part: parser.texts(part, inferred), refused, limit=ENOUGH)
        ]
        with located(file=first[0].file.path):
            for name in inferred if tables else ():
                texts = pa.chunked_array([chunk for table in tables for chunk in table[name].chunks])
                types[name] = inferred_type(name, texts, pa.array(nulls, pa.string()), decimal, options.mixed_zones)
    return pa.schema(types)


CSV: Final = SourceFormat(name="csv", endings=(".csv", ".tsv", ".tab", ".psv"), open=_reader)
