"""Every way from a shard to its rows."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pyarrow as pa

import amudai

Way = Callable[[amudai.Shard], list[Any]]


def _by_tasks(shard: amudai.Shard) -> list[Any]:
    tasks = pickle.loads(pickle.dumps(shard.scan(["n"]).tasks(3)))
    return [value for task in tasks for value in task.to_table()["n"].to_pylist()]


def _by_stream(source: Any) -> list[Any]:
    found: list[Any] = pa.RecordBatchReader.from_stream(source).read_all()["n"].to_pylist()
    return found


# Each returns the values of the column "n" of all rows that are not deleted. All n are >= 0.
WAYS: dict[str, Way] = {
    "read": lambda shard: shard.read(["n"])["n"].to_pylist(),
    "to_table": lambda shard: shard.to_table()["n"].to_pylist(),
    "to_reader": lambda shard: shard.to_reader(["n"], batch_rows=3).read_all()["n"].to_pylist(),
    "iterate": lambda shard: [n for batch in shard for n in batch["n"].to_pylist()],
    "scan": lambda shard: shard.scan(["n"], where="n >= 0").to_table()["n"].to_pylist(),
    "scan iterated": lambda shard: [n for batch in shard.scan(["n"], where="n >= 0") for n in batch["n"].to_pylist()],
    "head": lambda shard: shard.head(shard.num_rows, ["n"])["n"].to_pylist(),
    "sample": lambda shard: shard.sample(shard.num_positions, ["n"])["n"].to_pylist(),
    "sample where": lambda shard: shard.sample(shard.num_positions, ["n"], "n >= 0")["n"].to_pylist(),
    "take positions": lambda shard: shard.take(shard.scan().positions(), ["n"])["n"].to_pylist(),
    "rows": lambda shard: shard.read(["n"], rows=slice(0, None))["n"].to_pylist(),
    "field": lambda shard: shard["n"].read().to_pylist(),
    "field reader": lambda shard: shard["n"].to_reader(batch_rows=3).read_all()["n"].to_pylist(),
    "field stream": lambda shard: pa.chunked_array(shard["n"]).to_pylist(),
    "tasks": _by_tasks,
    "stream": _by_stream,
    "scan stream": lambda shard: _by_stream(shard.scan(["n"])),
    "pandas": lambda shard: shard.to_pandas(["n"])["n"].tolist(),
    "polars": lambda shard: shard.to_polars(["n"])["n"].to_list(),
}
# Ways that tell only how many rows there are.
COUNTS: dict[str, Callable[[amudai.Shard], int]] = {
    "count": lambda shard: shard.count(),
    "count where": lambda shard: shard.count("n >= 0"),
    "count in doubt": lambda shard: shard.count(~(amudai.col("n") < 0)),
    "num_rows": lambda shard: shard.num_rows,
    "explain": lambda shard: (found := shard.scan(where="n >= 0").explain()).sure + found.doubtful,
    "positions": lambda shard: len(shard.scan().positions()),
    "search": lambda shard: shard.search("").count(),
}
