"""The answer to a question, part by part: columns, rows, the number of rows, a histogram, the receipt."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

import numpy as np
import pyarrow as pa

from amudai import QueryLimits, QueryResult, Shard, TermIndex
from amudai.web.asked import AskedScan, asked_of, query_of, query_text
from amudai.web.folder import Snapshot, time_column
from amudai.web.histogram import Histogram, bins_between, times_of
from amudai.web.matches import MatchingRows
from amudai.web.parts import AnswerRows, Columns, Counted, Part
from amudai.web.question import PAGE_ROWS, Question
from amudai.web.receipt import AnswerReceipt
from amudai.web.workers import Job

__all__ = ["answer"]

# The most rows whose times are kept for the histogram of a query in KQL or SQL.
_MOST_TIMES: Final = 20_000_000
_BATCH_ROWS: Final = 4096


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
    matches = MatchingRows(question, snapshot, asked, job, receipt)
    shown, more = 0, False
    for table, places, more in matches.page():  # noqa: B007
        if table.num_rows:
            yield AnswerRows(table.select(list(chosen)), question.page * PAGE_ROWS + shown, places)
            shown += table.num_rows
    receipt.first_page()
    yield Counted(question.page * PAGE_ROWS + shown, False, more)
    yield from matches.counted(more)
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
    text = query_text(question, schema, projected=column)
    times = query_of(question, snapshot.table(question.shard), limits, text)
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
        # Times that a query has rounded are as far from each other as it says: narrower bars would leave gaps.
        apart = int(np.gcd.reduce(micros - micros[0]))
        histogram = Histogram(column, bins_between(int(micros.min()), int(micros.max()), least=apart))
        histogram.add_times(pa.array(micros, pa.timestamp("us")))
        histogram.outside = sum(nulls for _, nulls in found)
        histogram.is_partial = False
        yield histogram
