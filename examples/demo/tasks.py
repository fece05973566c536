"""The tasks that are measured, with their right answers.

Each task runs on the shard, on the Parquet file in the quickest way that pyarrow offers, and as a full scan of the
table in memory, without statistics or indexes. The answers must be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import amudai
from amudai import col
from examples.demo.logs import CHECKSUM, COMMON, DAY, RARE

__all__ = ["Answer", "Task", "tasks"]

Answer = pa.Table | int | bool
Mask = pa.ChunkedArray


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work.

    Attributes
    ----------
    asked
        As a user of the library writes it.
    shard, truth
        How the answer is found in the shard, and by the full scan.
    parquet
        Ways to find it in the Parquet file; the quickest counts.
    where, positions
        Where the task is a search: its predicate, and the rows that match.
    """

    name: str
    asked: str
    shard: Callable[[Path], Answer]
    parquet: Sequence[Callable[[Path], Answer]]
    truth: Callable[[], Answer]
    where: amudai.Predicate | None = None
    positions: Callable[[], npt.NDArray[np.int64]] | None = None


def tasks(table: pa.Table) -> list[Task]:
    """All tasks over a table of logs."""
    message, status = table["message"], table["status"]
    trace = table["trace_id"][table.num_rows // 2].as_py()
    part = _part_of_an_id(message)
    noon = DAY.astype(datetime) + timedelta(hours=12)
    later = noon + timedelta(minutes=5)
    rows = np.random.default_rng(7).integers(0, table.num_rows, 1000)
    text, time = ds.field("message"), ds.field("timestamp")
    search = partial(_search, table)
    return [
        search("a rare word", col("message").has(RARE), _has(text, RARE), lambda: _word(message, RARE)),
        search(
            "two words",
            col("message").has_all([CHECKSUM, "gateway"]),
            _has(text, CHECKSUM) & _has(text, "gateway"),
            lambda: pc.and_(_word(message, CHECKSUM), _word(message, "gateway")),
        ),
        search("a common word", col("message").has(COMMON), _has(text, COMMON), lambda: _word(message, COMMON)),
        _count(table, "a common word, counted", col("message").has(COMMON), _has(text, COMMON), COMMON),
        search("part of an id", col("message").contains(part), _has(text, part), lambda: _substring(message, part)),
        search(
            "a word and a status",
            col("message").has("timeout") & (col("status") >= 500),
            _has(text, "timeout") & (ds.field("status") >= 500),
            lambda: pc.and_(_word(message, "timeout"), pc.greater_equal(status, 500)),
        ),
        search(
            "five minutes",
            col("timestamp").between(noon, later),
            (time >= noon) & (time <= later),
            lambda: _between(table["timestamp"], noon, later),
        ),
        search(
            "one trace",
            col("trace_id") == trace,
            ds.field("trace_id") == trace,
            lambda: pc.equal(table["trace_id"], trace),
        ),
        Task(
            "1,000 random rows",
            "shard.take(rows)",
            lambda path: amudai.open(path).take(rows),
            [lambda path: ds.dataset(path).take(pa.array(rows)), lambda path: pq.read_table(path).take(pa.array(rows))],
            lambda: table.take(pa.array(rows)),
        ),
        Task("every row", "shard.read()", lambda path: amudai.open(path).read(), [pq.read_table], lambda: table),
        Task(
            "verify every byte",
            "shard.verify()",
            lambda path: amudai.open(path).verify().ok,
            [_readable],
            lambda: True,
        ),
    ]


def _search(table: pa.Table, name: str, where: amudai.Predicate, keep: pc.Expression, mask: Callable[[], Mask]) -> Task:
    return Task(
        name,
        f"shard.scan(where={where}).to_table()",
        lambda path: amudai.open(path).scan(where=where).to_table(),
        [lambda path: ds.dataset(path).to_table(filter=keep), lambda path: _late(path, keep)],
        lambda: table.filter(mask()),
        where,
        lambda: np.flatnonzero(mask().to_numpy()),
    )


def _count(table: pa.Table, name: str, where: amudai.Predicate, keep: pc.Expression, word: str) -> Task:
    return Task(
        name,
        f"shard.scan(where={where}).count()",
        lambda path: amudai.open(path).scan(where=where).count(),
        [lambda path: ds.dataset(path).count_rows(filter=keep)],
        lambda: pc.sum(_word(table["message"], word)).as_py(),
    )


def _late(path: Path, keep: pc.Expression) -> pa.Table:
    """First the columns of the filter, then all columns of the row groups that have a match."""
    dataset = ds.dataset(path)
    groups = [group for file in dataset.get_fragments() for group in file.split_by_row_group(keep)]
    with ThreadPoolExecutor() as pool:
        counts = pool.map(lambda group: group.count_rows(filter=keep), groups)
        matching = [group for group, count in zip(groups, counts, strict=True) if count]
        tables = list(pool.map(lambda group: group.to_table(filter=keep), matching))
    return pa.concat_tables(tables) if tables else dataset.schema.empty_table()


def _has(text: pc.Expression, word: str) -> pc.Expression:
    """The cheapest filter that finds the same rows in these logs: minding case, and parts of words too."""
    return pc.match_substring(text, word)


def _word(texts: pa.ChunkedArray, word: str) -> Mask:
    """What `has` means, as a regular expression."""
    return pc.match_substring_regex(texts, rf"(?i)(^|[^\pL\pN]){word}($|[^\pL\pN])")


def _substring(texts: pa.ChunkedArray, part: str) -> Mask:
    return pc.match_substring_regex(texts, f"(?i){part}")


def _between(times: pa.ChunkedArray, first: datetime, last: datetime) -> Mask:
    kind = times.type
    return pc.and_(pc.greater_equal(times, pa.scalar(first, kind)), pc.less_equal(times, pa.scalar(last, kind)))


def _part_of_an_id(messages: pa.ChunkedArray) -> str:
    """Eight characters from the middle of some payment's id."""
    found = messages.filter(pc.starts_with(messages, "Payment "))
    text: str = found[len(found) // 2].as_py()
    return text.split()[1][2:10]


def _readable(path: Path) -> bool:
    """Parquet compares checksums of pages only where it is told to."""
    return pq.ParquetFile(path, page_checksum_verification=True).read().num_rows >= 0
