"""Log records of any number, batch by batch: memory does not grow with their number.

Every batch has a seed of its own. Ids are new in every batch, so the words of an index grow with the rows, as they do in
real logs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks import datasets

BATCH = 1 << 18
NEEDLE, NEEDLES = "needleinthehaystack", 10
COMMON = "connection"
STATUS = 500
STEP = 1000
"""Microseconds from row to row."""

SCHEMA = pa.schema(
    {
        "timestamp": pa.timestamp("us"),
        "level": pa.string(),
        "service": pa.string(),
        "status": pa.int32(),
        "duration_ms": pa.float64(),
        "trace_id": pa.string(),
        "message": pa.string(),
    }
)


def log_batches(rows: int, batch: int = BATCH) -> Iterator[pa.RecordBatch]:
    """`rows` records; `NEEDLES` of them, evenly spread, have the word `NEEDLE`."""
    needles = np.unique(np.linspace(0, rows - 1, NEEDLES).astype(np.int64))
    for first in range(0, rows, batch):
        yield _records(first, min(batch, rows - first), needles)


def _records(first: int, count: int, needles: np.ndarray) -> pa.RecordBatch:
    random = np.random.default_rng([20, first])
    times = datasets.EPOCH_US + (first + np.arange(count)) * STEP
    status = random.choice(
        np.array([200, 204, 304, 404, STATUS, 503], np.int32), count, p=[0.8, 0.05, 0.06, 0.06, 0.02, 0.01]
    )
    traces = datasets._uuid(random, count // 4 + 1)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(times).view(pa.timestamp("us")),
            datasets._pick(["DEBUG", "INFO", "WARN", "ERROR"], random.choice(4, count, p=[0.12, 0.79, 0.07, 0.02])),
            datasets._pick(datasets._COMPONENTS, datasets._zipf(random, count, len(datasets._COMPONENTS))),
            pa.array(status),
            pa.array(np.round(random.lognormal(3.0, 1.2, count), 2)),
            traces.take(pa.array(np.arange(count) // 4)),
            _messages(random, count, needles[(needles >= first) & (needles < first + count)] - first),
        ],
        schema=SCHEMA,
    )


def _messages(random: np.random.Generator, count: int, needles: np.ndarray) -> pa.Array:
    """Template by template, then put into the order of rows."""
    templates = datasets._SKELETONS
    chosen = random.integers(0, len(templates), count)
    parts = [
        datasets._expand(random, template, int(number))
        for template, number in zip(templates, np.bincount(chosen, minlength=len(templates)))
        if number
    ]
    place = np.empty(count, np.int64)
    place[np.argsort(chosen, kind="stable")] = np.arange(count)
    messages = pa.concat_arrays(parts).take(pa.array(place))
    if not len(needles):
        return messages
    mask = np.zeros(count, bool)
    mask[needles] = True
    marked = datasets._cat(messages.take(pa.array(needles)), f" {NEEDLE}")
    return pc.replace_with_mask(messages, pa.array(mask), marked)
