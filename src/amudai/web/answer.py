"""The answer to a question, part by part: columns, rows, the number of rows, a histogram, the receipt."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy as np
import pyarrow as pa

import amudai
from amudai import Dataset, QueryLimits, QueryResult, Scan, Shard, TermIndex
from amudai.asking import Words
from amudai.web.conditions import kql_conditions, sql_conditions, where_conditions
from amudai.web.folder import Snapshot, quoted, time_column
from amudai.web.histogram import Histogram, bins_between, pieces_of, times_of
from amudai.web.question import PAGE_ROWS, Question
from amudai.web.receipt import AnswerReceipt
from amudai.web.workers import Job

__all__ = ["AnswerRows", "AskedScan", "Columns", "Counted", "Part", "Place", "answer", "asked_of", "marks_of"]

# The first piece of rows that is searched: small, so that the first rows come soon.
_FIRST_PIECE: Final = 1 << 16
_LARGER: Final = 4
_MOST_PIECE: Final = 1 << 20
# The times of so many rows are kept for the histogram of a query in KQL or SQL.
_MOST_TIMES: Final = 20_000_000
_BATCH_ROWS: Final = 4096
# A histogram that takes long is drawn again after so many seconds.
_REDRAWN: Final = 0.5
_QUOTED: Final = re.compile(
    r"""(?:has\w*|contains\w*|startswith\w*|endswith\w*|i?like|search|==?|=~|:|,|\(|and|or)\s*("([^"\\]+)"|'([^'\\]+)')""",
    re.IGNORECASE,
)

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of the rows that follow, and all columns that there are to choose from."""

    schema: pa.Schema
    every: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """Rows that match. `places` are the shard and the position of each; None for rows of a query."""

    table: pa.Table
    first: int
    places: tuple[Place, ...] | None


@dataclass(frozen=True, slots=True)
class Counted:
    """How many rows match so far, whether these are all, and whether there is another page."""

    rows: int
    is_final: bool
    more: bool


Part = Columns | AnswerRows | Counted | Histogram | AnswerReceipt


@dataclass(frozen=True, slots=True)
class AskedScan:
    """A question about words or conditions, bound to a table."""

    table: Shard | Dataset
    words: str
    where: str | None
    columns: tuple[str, ...] | None

    def scan(self, columns: list[str] | None, rows: range | None = None, limit: int | None = None) -> Scan:
        """The rows that match."""
        return self.table.search(self.words, columns, self.where, rows, limit=limit)

    @property
    def is_everything(self) -> bool:
        """Whether all positions are rows that match."""
        return not self.words and self.where is None and self.table.num_rows == self.table.num_positions

    def rows(self) -> Scan:
        """All columns of the rows that match, for a download."""
        return self.scan(self._paths())

    def take(self, positions: Any) -> pa.Table:
        """Rows by position."""
        return self.table.take(positions, self._paths())

    def _paths(self) -> list[str] | None:
        return None if self.columns is None else [quoted(name) for name in self.columns]


def asked_of(
    question: Question, snapshot: Snapshot, limits: QueryLimits, limit: int | None = None
) -> AskedScan | QueryResult:
    """What is asked of the rows, checked: a scan, or a query for DuckDB, which gives at most `limit` rows."""
    table = snapshot.table(question.shard)
    spoken = question.spoken
    if spoken in ("kql", "sql"):
        schema = pa.schema([])
        is_narrowed = question.filters or question.since or question.until or question.columns
        # SQL must be a query before it becomes a part of another. Steps of KQL only follow one another.
        if is_narrowed or spoken == "sql":
            schema = _query(question, table, limits, question.text).schema
        return _query(question, table, limits, _query_text(question, schema, limit=limit))
    parts = where_conditions(question, table.schema)
    if spoken == "where" and question.text:
        parts = [f"({question.text})" if parts else question.text, *parts]
    asked = AskedScan(
        table,
        question.text if spoken == "words" else "",
        " and ".join(parts) or None,
        tuple(name for name in question.columns if name in table.schema.names) or None,
    )
    asked.scan([])  # a mistake is an error here
    return asked


def _query(question: Question, table: Shard | Dataset, limits: QueryLimits, text: str) -> QueryResult:
    if question.spoken == "kql":
        return amudai.kql(text, table, limits=limits)
    return amudai.sql_result(text, limits=limits, data=table)


def _query_text(question: Question, schema: pa.Schema, **changes: Any) -> str:
    return (kql_text if question.spoken == "kql" else sql_text)(question, schema, **changes)


def kql_text(question: Question, schema: pa.Schema, *, projected: str | None = None, limit: int | None = None) -> str:
    """The query with the filters, the stretch of time and the columns of the question."""
    steps = [f"where {each}" for each in kql_conditions(question, schema)]
    columns = [projected] if projected is not None else [name for name in question.columns if name in schema.names]
    if columns:
        steps.append(f"project {', '.join(_kql_name(name) for name in columns)}")
    if limit is not None:
        steps.append(f"take {limit}")
    return "\n| ".join([question.text.rstrip("; \n"), *steps]) if steps else question.text


def sql_text(question: Question, schema: pa.Schema, *, projected: str | None = None, limit: int | None = None) -> str:
    """The query with the filters, the stretch of time and the columns of the question."""
    conditions = sql_conditions(question, schema)
    columns = [projected] if projected is not None else [name for name in question.columns if name in schema.names]
    if not conditions and not columns and limit is None:
        return question.text
    names = ", ".join(_sql_name(name) for name in columns) or "*"
    where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
    inner = question.text.rstrip("; \n")
    most = "" if limit is None else f"\nLIMIT {limit}"
    return f"SELECT {names} FROM (\n{inner}\n) AS question{where}{most}"


def _kql_name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else "['" + name.replace("\\", "\\\\").replace("'", "\\'") + "']"


def _sql_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def marks_of(question: Question) -> re.Pattern[str] | None:
    """What finds the words of a question in a text, to mark them."""
    if question.spoken == "words":
        return Words(tuple(question.text.split())).pattern()
    found = [match[2] or match[3] for match in _QUOTED.finditer(question.text)]
    return Words(tuple(dict.fromkeys(found)), "contains").pattern()


def answer(question: Question, snapshot: Snapshot, job: Job, limits: QueryLimits) -> Iterator[Part]:
    """The parts of the answer, each as soon as it is known."""
    # No more rows of a query than the page needs: its scan stops early, if the query allows it.
    asked = asked_of(question, snapshot, limits, (question.page + 1) * PAGE_ROWS + 1)
    if isinstance(asked, QueryResult):
        return _of_query(question, snapshot, asked, job, limits)
    return _of_scan(question, snapshot, asked, job)


# ---- words and conditions ----


def _of_scan(question: Question, snapshot: Snapshot, asked: AskedScan, job: Job) -> Iterator[Part]:
    receipt = AnswerReceipt()
    every = tuple(asked.table.schema.names)
    chosen = asked.columns or _telling_first(asked)
    yield Columns(pa.schema([asked.table.schema.field(name) for name in chosen]), every)
    shown, more = 0, False
    for table, places, more in _page(question, snapshot, asked, job, receipt):  # noqa: B007
        if table.num_rows:
            yield AnswerRows(table.select(list(chosen)), question.page * PAGE_ROWS + shown, places)
            shown += table.num_rows
    receipt.first_page()
    yield Counted(question.page * PAGE_ROWS + shown, False, more)
    yield from _counts(question, snapshot, asked, job, receipt, more)
    yield receipt


def _telling_first(asked: AskedScan) -> tuple[str, ...]:
    """All columns. If words are asked for, the time comes first, and then the texts that have an index of words."""
    names = tuple(asked.table.schema.names)
    if not asked.words:
        return names
    first = asked.table if isinstance(asked.table, Shard) else asked.table.shard(asked.table.shards[0])
    indexed = [field for index in first.indexes if index.type == TermIndex.index_type for field in index.fields]
    telling = [name for name in (time_column(asked.table.schema), *indexed) if name in names]
    return tuple(dict.fromkeys([*telling, *names]))


def _page(
    question: Question, snapshot: Snapshot, asked: AskedScan, job: Job, receipt: AnswerReceipt
) -> Iterator[tuple[pa.Table, tuple[Place, ...], bool]]:
    """The rows of the page, some at a time, and whether there are more behind them."""
    skip, left = question.page * PAGE_ROWS, PAGE_ROWS
    total, start, size = asked.table.num_positions, 0, _FIRST_PIECE
    if asked.is_everything:
        start, skip, size = skip, 0, PAGE_ROWS + 1
    while start < total:
        job.check()
        stop = min(total, start + size)
        scan = asked.scan([], range(start, stop), skip + left + 1)
        found = scan.positions()
        receipt.cost(scan.explain())
        wanted = _sliced(found, skip, left)
        more = len(found) > skip + len(wanted)
        skip = max(0, skip - len(found))
        if len(wanted):
            begin = time.perf_counter()
            table = asked.take(wanted)
            receipt.taken(time.perf_counter() - begin)
            left -= len(wanted)
            yield table, _places(question, snapshot, wanted), more
        if more or (left == 0 and stop == total):
            return
        start, size = stop, min(_MOST_PIECE, size * _LARGER)


def _sliced(found: Any, skip: int, most: int) -> Any:
    return found.slice(skip, most) if isinstance(found, pa.Table) else found[skip : skip + most]


def _places(question: Question, snapshot: Snapshot, found: Any) -> tuple[Place, ...]:
    if isinstance(found, pa.Table):
        names = [snapshot.shown_name(question.shard, name) for name in found["shard"].to_pylist()]
        return tuple(zip(names, found["position"].to_pylist(), strict=True))
    name = question.shard or snapshot.readable("")[0].name
    return tuple((name, int(position)) for position in found)


def _counts(
    question: Question, snapshot: Snapshot, asked: AskedScan, job: Job, receipt: AnswerReceipt, more: bool
) -> Iterator[Part]:
    """The number of rows that match, and their histogram."""
    column = time_column(asked.table.schema)
    histogram = _empty_histogram(question, snapshot, column)
    bins = None if histogram is None else histogram.bins
    rows, drawn = 0, time.monotonic()
    for piece in pieces_of(snapshot, question.shard, column, bins):
        job.check()
        within = range(piece.start, piece.stop)
        if histogram is not None and column is not None and piece.bin is None:
            scan = asked.scan([quoted(column)], within)
            found = 0
            for batch in scan:
                job.check()
                found += batch.num_rows
                histogram.add_times(batch.column(0))
        else:
            scan = asked.scan([], within)
            found = scan.count()
            if histogram is not None and piece.bin is not None:
                histogram.add_count(piece.bin, found)
        rows += found
        receipt.add(scan.explain())
        if time.monotonic() - drawn > _REDRAWN:
            yield Counted(rows, False, more)
            if histogram is not None:
                yield histogram
            drawn = time.monotonic()
    yield Counted(rows, True, more)
    if histogram is not None:
        histogram.is_partial = False
        yield histogram


def _empty_histogram(question: Question, snapshot: Snapshot, column: str | None) -> Histogram | None:
    """A histogram over the times that statistics name, within the stretch that the question names."""
    if column is None:
        return None
    known = [facts.times for facts in snapshot.readable(question.shard) if facts.time_column == column]
    bounds = [each for each in known if each is not None]
    if not bounds:
        return None
    first, last = min(each.first for each in bounds), max(each.last for each in bounds)
    if question.since:
        first = max(first, _micros(question.since))
    if question.until:
        last = min(last, _micros(question.until) - 1)
    return Histogram(column, bins_between(first, last)) if first <= last else None


def _micros(text: str) -> int:
    return int(np.datetime64(text.removesuffix("Z").replace(" ", "T"), "us").astype(np.int64))


# ---- KQL and SQL ----


def _of_query(
    question: Question, snapshot: Snapshot, asked: QueryResult, job: Job, limits: QueryLimits
) -> Iterator[Part]:
    receipt = AnswerReceipt()
    job.on_stop(asked.cancel)
    yield Columns(asked.schema, tuple(asked.schema.names))
    skip, seen = question.page * PAGE_ROWS, 0
    kept: list[pa.RecordBatch] = []
    for batch in chain.from_iterable(map(_small_batches, asked)):
        job.check()
        mine = batch.slice(max(0, skip - seen), max(0, skip + PAGE_ROWS - max(seen, skip)))
        if mine.num_rows:
            yield AnswerRows(pa.Table.from_batches([mine]), max(seen, skip), None)
        seen += batch.num_rows
        kept.append(batch)
    more = seen > skip + PAGE_ROWS
    receipt.first_page()
    receipt.query(asked.explain())
    column = time_column(asked.schema)
    if not more:
        yield Counted(seen, True, False)
        if column is not None and kept:
            table = pa.Table.from_batches(kept)
            yield from _histogram_of(column, [times_of(table.column(column))])
    else:
        yield Counted(min(seen, skip + PAGE_ROWS), False, True)
        yield from _counted_query(question, snapshot, asked.schema, column, job, limits, receipt)
    yield receipt


def _small_batches(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for start in range(0, batch.num_rows, _BATCH_ROWS):
        yield batch.slice(start, _BATCH_ROWS)


def _counted_query(
    question: Question,
    snapshot: Snapshot,
    schema: pa.Schema,
    column: str | None,
    job: Job,
    limits: QueryLimits,
    receipt: AnswerReceipt,
) -> Iterator[Part]:
    text = _query_text(question, schema, projected=column)
    times = _query(question, snapshot.table(question.shard), limits, text)
    job.on_stop(times.cancel)
    if column is None:
        yield Counted(times.count(), True, True)
        receipt.query(times.explain())
        return
    rows = 0
    found = []
    for batch in times:
        job.check()
        rows += batch.num_rows
        if rows <= _MOST_TIMES:
            found.append(times_of(batch.column(0)))
    receipt.query(times.explain())
    yield Counted(rows, True, True)
    if rows <= _MOST_TIMES:
        yield from _histogram_of(column, found)


def _histogram_of(column: str, found: list[Any]) -> Iterator[Part]:
    micros = np.concatenate([each for each, _ in found]) if found else np.zeros(0, np.int64)
    if len(micros):
        histogram = Histogram(column, bins_between(int(micros.min()), int(micros.max())))
        histogram.add_times(pa.array(micros, pa.timestamp("us")))
        histogram.outside = sum(nulls for _, nulls in found)
        histogram.is_partial = False
        yield histogram
