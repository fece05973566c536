"""The largest shards that the format has room for:  python -m benchmarks.extremes [--rows N] [--fields N]

Writes a shard of a billion rows (a constant and a sequence) and one of 50,000 fields, and opens, scans, searches and
verifies both. Prints what each step costs, and the most memory that the process took.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

import amudai
from amudai import col

BATCH = 1 << 20


def measured(name: str, work: Callable[[], object]) -> None:
    """Run a step and print its time, and the memory of the process so far."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(f"  {name:<34} {wall:9.3f} s  {cpu:9.3f} s CPU  {memory:7.0f} MB  {found}", flush=True)


def long_batches(rows: int) -> Iterator[pa.RecordBatch]:
    """Rows of a constant and a sequence."""
    schema = pa.schema([("level", pa.string()), ("n", pa.int64())])
    level = pa.array(["INFO"]).take(pa.array(np.zeros(BATCH, np.int32)))
    for first in range(0, rows, BATCH):
        count = min(BATCH, rows - first)
        numbers = np.arange(first, first + count, dtype=np.int64)
        yield pa.RecordBatch.from_arrays([level[:count], pa.array(numbers)], schema=schema)


def many_rows(folder: Path, rows: int) -> None:
    """A shard of many rows."""
    path = folder / "rows.amudai.shard"

    def write() -> str:
        schema = pa.schema([("level", pa.string()), ("n", pa.int64())])
        with amudai.ShardWriter(path, schema) as out:
            for batch in long_batches(rows):
                out.write(batch)
        return f"{path.stat().st_size / 1e6:.1f} MB"

    print(f"{rows:,} rows")
    measured("write", write)
    measured("open", lambda: amudai.open(path).num_rows)
    measured("one row by its value", lambda: amudai.open(path).count(col("n") == rows - 7))
    measured("a range of 1,000 rows", lambda: amudai.open(path).read(where=col("n").between(5000, 5999)).num_rows)
    measured("all rows by a constant", lambda: amudai.open(path).count(col("level") == "INFO"))
    measured("no row by a constant", lambda: amudai.open(path).count(col("level").has("error")))
    measured("1,000 rows by position", lambda: amudai.open(path).take(np.arange(0, rows, rows // 1000)).num_rows)
    measured("scan all numbers", lambda: sum(batch.num_rows for batch in amudai.open(path).scan(["n"])))
    measured("verify", lambda: amudai.open(path).verify().ok)


def many_fields(folder: Path, fields: int) -> None:
    """A shard of many fields."""
    path = folder / "fields.amudai.shard"
    rows = 1000
    columns = {f"f{at}": pa.array(np.arange(at, at + rows)) for at in range(fields)}
    table = pa.table(columns)
    print(f"{fields:,} fields, {rows:,} rows")
    measured("write", lambda: f"{amudai.write(table, path).size / 1e6:.1f} MB")
    measured("open", lambda: amudai.open(path).num_rows)
    measured("one column", lambda: amudai.open(path).read([f"f{fields - 1}"]).num_columns)
    measured("one row of one column", lambda: amudai.open(path).count(col(f"f{fields // 2}") == fields // 2 + 5))
    measured("three rows, all columns", lambda: amudai.open(path).take([0, 500, 999]).num_columns)
    measured("all columns", lambda: amudai.open(path).read().num_columns)
    measured("verify", lambda: amudai.open(path).verify().ok)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000_000)
    parser.add_argument("--fields", type=int, default=50_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        many_rows(Path(folder), options.rows)
        many_fields(Path(folder), options.fields)


if __name__ == "__main__":
    main()
