"""Reading plain logs: rows of lines, with their times, levels and fields if the file has a known shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amudai.arrow import number_array, text_array
from amudai.sources.contract import Decision, Multiline, SequentialReader, SourceFormat, SourceOptions
from amudai.sources.files import InputFile
from amudai.sources.logs.block import I64, Block, Flags, block_of, matches_in
from amudai.sources.logs.extract import Extractor, PatternExtractor, ShapeExtractor
from amudai.sources.logs.journal import escaped
from amudai.sources.logs.multiline import LineGroups, joined, single
from amudai.sources.logs.pattern import line_pattern
from amudai.sources.logs.recognise import recognised
from amudai.sources.logs.timestamps import TimeColumn, check_timezone
from amudai.sources.logs.years import FirstYear, check_year, first_year
from amudai.sources.records import BLOCK, BadRecords, LineReader, Lines
from amudai.sources.text import SAMPLE, SINGLE_BYTE, check_encoding, encoding_of
from amudai.threads import in_order

__all__ = ["LOGS", "LogReader"]

_SAMPLE: Final = 1 << 18
# Times alone are read from smaller blocks, which fit into the cache of a processor.
_TIMES_BLOCK: Final = 1 << 20
# Fewer, larger batches are written faster.
_BLOCK: Final = 4 << 20
# A longer record goes on in another row.
_LONGEST: Final = 8 << 20
_LINES: Final = [pa.field("line", pa.string()), pa.field("file", pa.string()), pa.field("line_number", pa.int64())]
# Columns that a line which continues a record has from it.
_INHERITED: Final = ("timestamp", "level")


@dataclass(slots=True)
class _Counts:
    """What the summary says after reading."""

    matched: int = 0
    continued: int = 0
    others: int = 0
    cut: int = 0


class LogReader(SequentialReader):
    """A log whose shape is known, or None if it has none."""

    def __init__(
        self, file: InputFile, encoding: Decision, extractor: Extractor | None, options: SourceOptions
    ) -> None:
        decisions = [] if encoding.value == "utf-8" else [encoding]
        if extractor is not None:
            decisions.append(Decision("shape", extractor.name))
        super().__init__(file, pa.schema(_LINES + ([] if extractor is None else extractor.fields)), tuple(decisions))
        self._encoding = str(encoding.value)
        self._extractor = extractor
        self._options = options
        self._counts = _Counts()
        self._before: dict[str, pa.Scalar] = {}  # time and level of the last record before the first line
        self._carried: dict[str, pa.Scalar] = {}
        self._repeated = pa.nulls(0, pa.string())

    def batches(self, schema: pa.Schema, bad: BadRecords, threads: int) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        """The rows of the file."""
        self._counts, self._carried = _Counts(), dict(self._before)
        if isinstance(self._extractor, ShapeExtractor):
            self._extractor.times = self._times(self._extractor, threads)
        # Nothing can be written before the first block is read.
        reader = LineReader(self.file, _BLOCK, first=_BLOCK // 2, bad=bad, encoding=self._encoding)
        goes_on = False
        for lines in reader:
            block = block_of(lines)
            begins, rows = self._rows(block, goes_on)
            if block.has_returns and len(rows) < len(block) and not self._keeps_returns(block):
                block = block.without_returns()
                begins, rows = self._rows(block, goes_on)
            if self._joins and not lines.final and len(rows) and begins[rows.first[-1]]:
                size = int(block.ends[-1] - block.starts[rows.first[-1]])
                if size <= _LONGEST:
                    # More lines may follow that belong to the last record.
                    reader.keep_from(int(rows.first[-1]))
                    rows = rows[:-1]
                else:
                    self._counts.cut += 1
            goes_on = self._joins and len(rows) > 0 and rows.last[-1] == len(block) - 1 and not lines.final
            if len(rows):
                yield self._batch(block, rows, begins, bad)

    def continued(self, file: InputFile) -> LogReader:
        """A reader of lines that follow in the same file. They have the shape of the lines before."""
        found = LogReader(file, Decision("encoding", self._encoding), self._extractor, self._options)
        found._before = dict(self._carried)
        return found

    def whole_records(self, data: bytes) -> int:
        """How many bytes at the beginning of some text are whole records: lines may follow that join the last one."""
        lines = Lines.of(data, 1, final=False)
        if not self._joins or self._extractor is None or not len(lines):
            return int(lines.starts[-1])
        begins = np.flatnonzero(self._extractor.begins(block_of(lines)))
        return int(lines.starts[begins[-1] if len(begins) else -1])

    def notes(self) -> tuple[str, ...]:
        """How many lines matched the shape, and what became of the others."""
        if self._extractor is None:
            return ()
        counts, verb = self._counts, {"join": "joined", "inherit": "inherited from", "separate": "followed"}
        texts = []
        if counts.matched or counts.continued or counts.others:
            texts.append(
                f"{self._extractor.name}: {counts.matched:,} lines matched, {counts.continued:,} "
                f"{verb[self._multiline]} a line before them, {counts.others:,} did not match"
            )
        if counts.cut:
            texts.append(f"{counts.cut:,} records of more than {_LONGEST >> 20} MiB go on in another row")
        if isinstance(self._extractor, ShapeExtractor):
            times = self._extractor.times
            if times.first_year is not None:
                which = "the first line is" if times.first_year.in_order else "lines are not in order: all are"
                texts.append(f"{which} of the year {times.first_year.year}; year= can say another")
            if times.other_zones and times.allows_mixed:
                kind = "without" if times.recognised.zoned else "with"
                texts.append(f"{times.other_zones:,} times {kind} a zone were left out; timezone= makes moments of all")
            if times.cut:
                texts.append(f"{times.cut:,} times were cut to microseconds")
        return tuple(texts)

    @property
    def _multiline(self) -> Multiline:
        assert self._extractor is not None
        if self._extractor.always_joins:
            return "join"
        return self._options.log.multiline if self._extractor.goes_on else "separate"

    @property
    def _joins(self) -> bool:
        return self._extractor is not None and self._multiline == "join"

    def _times(self, extractor: ShapeExtractor, threads: int) -> TimeColumn:
        known = extractor.times
        first: FirstYear | None = None
        if not known.recognised.shape.has_year:
            times, told = self._clock_times(extractor, threads), self._options.log.year
            first = first_year(times, known.per_second, self.file.modified(), told)
        return TimeColumn(known.recognised, known.timezone, known.allows_mixed, first)

    def _clock_times(self, extractor: ShapeExtractor, threads: int) -> Iterator[I64]:
        """The times of all lines."""
        program, per_second = extractor.time_program, extractor.times.per_second

        def times(lines: Lines) -> I64:
            block = block_of(lines)
            found = matches_in(block.data, block.starts, block.ends, program, per_second)
            return found.moments if found.timed.all() else found.moments[found.timed]

        # Until they are known, no row can be made: all threads share this.
        reader = LineReader(self.file, _TIMES_BLOCK, bad=BadRecords("skip"), encoding=self._encoding)
        yield from in_order(times, reader, threads)

    def _rows(self, block: Block, goes_on: bool) -> tuple[Flags, LineGroups]:
        if self._extractor is None:
            return np.zeros(len(block), np.bool_), single(len(block))
        begins = self._extractor.begins(block)
        return begins, joined(begins, goes_on=goes_on) if self._joins else single(len(block))

    def _keeps_returns(self, block: Block) -> bool:
        """Whether carriage returns may be bytes of a value: lines do not end with them."""
        return self._extractor is not None and self._extractor.has_bytes and block.data[block.ends[0]] != ord("\r")

    def _batch(self, block: Block, rows: LineGroups, begins: Flags, bad: BadRecords) -> pa.RecordBatch:
        texts = block.texts(rows.firsts, rows.lasts)
        sound = np.ones(len(rows), np.bool_)

        def refuse(row: int, reason: str) -> None:
            if sound[row]:
                sound[row] = False
                bad.add(self.file, block.first + int(rows.first[row]), reason, texts[row].cast(pa.binary()).as_py())

        if self._extractor is not None and self._extractor.has_bytes:
            texts = escaped(texts)
        elif not block.is_ascii:
            _check_text(texts, refuse)
        columns = [texts, self._paths(len(rows)), number_array(rows.first + block.first)]
        if self._extractor is not None:
            columns += self._extractor.columns(block, rows, begins, refuse)
            self._count(rows, begins)
            if self._multiline != "separate":
                columns = self._inherited(columns, begins[rows.firsts])
        batch = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        return batch if sound.all() else batch.filter(pa.array(sound))

    def _paths(self, count: int) -> pa.Array:
        """The column `file`."""
        if len(self._repeated) < count:
            self._repeated = pa.repeat(text_array([self.file.path])[0], count + count // 8)
        return self._repeated[:count]

    def _count(self, rows: LineGroups, begins: Flags) -> None:
        covered = int(rows.last[-1] - rows.first[0]) + 1 if len(rows) else 0
        matched = int(begins[rows.firsts].sum())
        self._counts.matched += matched
        if self._multiline == "separate":
            self._counts.others += covered - matched
            return
        alone = int(np.argmax(begins[rows.firsts])) if matched else len(rows)
        if self._carried:
            alone = 0
        self._counts.others += alone
        self._counts.continued += covered - matched - alone

    def _inherited(self, columns: list[pa.Array], record: Flags) -> list[pa.Array]:
        """The columns, with time and level of the record before in rows that begin none."""
        if not record.all():
            latest = np.maximum.accumulate(np.where(record, np.arange(len(record)), -1))
            for place, name in enumerate(self.schema.names):
                if name in _INHERITED:
                    taken = columns[place].take(pa.array(latest, mask=latest < 0))
                    before = self._carried.get(name)
                    if before is not None:
                        taken = pc.if_else(pa.array(latest < 0), before, taken)
                    columns[place] = taken
        for place, name in enumerate(self.schema.names):
            if name in _INHERITED and (record.any() or self._carried):
                self._carried[name] = columns[place][-1]
        return columns


def _check_text(texts: pa.Array, refuse: object) -> None:
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        assert callable(refuse)
        for row, text in enumerate(texts.cast(pa.binary()).to_pylist()):
            try:
                text.decode()
            except UnicodeDecodeError:
                refuse(row, "expected UTF-8, found other bytes: set the encoding (encoding= or --encoding)")


def _opened(file: InputFile, options: SourceOptions) -> LogReader:
    if options.log.timezone is not None:
        check_timezone(options.log.timezone)
    if options.log.year is not None:
        check_year(options.log.year)
    known = set(options.types)
    encoding = _encoding(file, options)
    if options.log.pattern is not None:
        pattern = line_pattern(options.log.pattern)
        sample = next(_samples(file, str(encoding.value)), None)
        return LogReader(file, encoding, PatternExtractor(pattern, options.log.pattern, sample, known), options)
    for sample in _samples(file, str(encoding.value)):
        found = recognised(sample)
        if found is not None:
            times = TimeColumn(found, options.log.timezone, options.mixed_zones == "text")
            extractor = ShapeExtractor(found, times, sample, known, all_fields=options.log.extract)
            return LogReader(file, encoding, extractor, options)
    return LogReader(file, encoding, None, options)


def _encoding(file: InputFile, options: SourceOptions) -> Decision:
    """UTF-8 unless the caller, a byte order mark or zeros say another. A few other bytes in a log are damage."""
    if options.encoding is not None:
        check_encoding(options.encoding)
        return Decision("encoding", options.encoding)
    with file.open() as stream:
        encoding, reason = encoding_of(stream.read(SAMPLE))
    is_damage = encoding in SINGLE_BYTE
    return Decision("encoding", "utf-8") if is_damage else Decision("encoding", encoding, reason)


def _samples(file: InputFile, encoding: str) -> Iterator[Block]:
    """The first lines of a file, then more of them."""
    for size in (_SAMPLE, BLOCK):
        for lines in LineReader(file, size, bad=BadRecords("skip"), encoding=encoding):
            yield block_of(lines)
            if lines.final:
                return
            break


LOGS: Final = SourceFormat(name="log", endings=(".log", ".txt"), open=_opened)
