"""What do indexes over Parquet files bring?  python -m benchmarks.attached [--rows N] [--group N]

The log dataset is one Parquet file (zstd). The same three questions are asked of the shard that is attached to it, of a
shard of its own, and of the file alone through pyarrow, DuckDB and Polars: a rare word in the message, all rows of one
trace, and ten seconds of time. Each run opens the shard anew; files are in the cache of the system. The systems take
turns, five times. Printed are the median of the processor time of all threads, which other work on the machine disturbs
little, and the shortest time that passed. Then the bytes of the Parquet file, of the attached shard, and of the shard of
its own.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import amudai
from amudai import col
from benchmarks.datasets import load

COLUMNS = ["timestamp", "message"]


@dataclass
class Measured:
    """The runs of one system: seconds of processor time, seconds that passed, and the number of rows found."""

    processor: list[float] = field(default_factory=list)
    passed: list[float] = field(default_factory=list)
    rows: set[int] = field(default_factory=set)

    def run(self, work: Callable[[], int]) -> None:
        """Measure one more run."""
        begin = time.process_time(), time.perf_counter()
        self.rows.add(work())
        self.processor.append(time.process_time() - begin[0])
        self.passed.append(time.perf_counter() - begin[1])

    def __str__(self) -> str:
        return f"{1000 * median(self.processor):.1f} ms ({1000 * min(self.passed):.1f} passed)"


def by_turns(systems: dict[str, Callable[[], int]], rounds: int = 5) -> dict[str, Measured]:
    """Ask all systems, one after the other, several times."""
    found = {system: Measured() for system in systems}
    for _ in range(rounds):
        for system, work in systems.items():
            found[system].run(work)
    return found


def questions(table: pa.Table) -> dict[str, dict[str, Any]]:
    """The questions, as each system takes them."""
    words = Counter(word for text in table["message"].slice(0, 20_000).to_pylist() for word in set(text.split()))
    word = min((word for word in words if word.isalnum() and len(word) > 3), key=lambda word: (words[word], word))
    trace = table["trace_id"][len(table) // 2].as_py()
    low = table["timestamp"][len(table) // 2]
    high = pc.add(low, pa.scalar(10_000_000, pa.duration("us")).cast(pa.duration(low.type.unit)))
    return {
        f"word {word!r}": {
            "shard": col("message").has_cs(word),
            "arrow": pc.match_substring_regex(ds.field("message"), rf"\b{word}\b"),
            "sql": f"regexp_matches(message, '\\b{word}\\b')",
            "polars": lambda frame: frame["message"].str.contains(rf"\b{word}\b"),
        },
        "trace": {
            "shard": col("trace_id") == trace,
            "arrow": ds.field("trace_id") == trace,
            "sql": f"trace_id = '{trace}'",
            "polars": lambda frame: frame["trace_id"] == trace,
        },
        "ten seconds": {
            "shard": (col("timestamp") >= low) & (col("timestamp") < high),
            "arrow": (ds.field("timestamp") >= low) & (ds.field("timestamp") < high),
            "sql": f"timestamp >= '{low.as_py()}' and timestamp < '{high.as_py()}'",
            "polars": None,
        },
    }


def main() -> None:
    """Measure and print."""
    import duckdb
    import polars

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--group", type=int, default=100_000)
    options = parser.parse_args()
    table = load("logs", options.rows)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "logs.parquet"
        pq.write_table(table, file, compression="zstd", row_group_size=options.group)
        indexes = [amudai.TermIndex("message"), amudai.HashIndex("trace_id")]
        begin = time.perf_counter()
        lake = amudai.attach(file, folder / "lake.amudai.shard", indexes=indexes, ranges=["timestamp"])
        print(f"attached in {time.perf_counter() - begin:.1f} s")
        own = amudai.write(table, folder / "own.amudai.shard", indexes=indexes)
        for question, asked in questions(table).items():
            low = asked["polars"]
            systems: dict[str, Callable[[], int]] = {
                "attached": lambda asked=asked: amudai.open(lake.url).read(COLUMNS, where=asked["shard"]).num_rows,
                "own shard": lambda asked=asked: amudai.open(own.url).read(COLUMNS, where=asked["shard"]).num_rows,
                "pyarrow": lambda asked=asked: ds.dataset(file).to_table(COLUMNS, filter=asked["arrow"]).num_rows,
                "DuckDB": lambda asked=asked: len(
                    duckdb.sql(f"select timestamp, message from '{file}' where {asked['sql']}").fetchall()
                ),
            }
            if low is not None:
                systems["Polars"] = lambda low=low: _polars(polars, file, low)
            found = by_turns(systems)
            counts = set().union(*(measured.rows for measured in found.values()))
            times = ", ".join(f"{system} {measured}" for system, measured in found.items())
            print(f"{question}: {times}; rows {sorted(counts)}")
        sizes = {"Parquet": file, "attached": folder / "lake.amudai.shard", "own shard": folder / "own.amudai.shard"}
        print(", ".join(f"{system} {path.stat().st_size / 1e6:.1f} MB" for system, path in sizes.items()))


def _polars(polars: Any, file: Path, condition: Callable[[Any], Any]) -> int:
    columns = {each: polars.col(each) for each in ("message", "trace_id", "timestamp")}
    return int(polars.scan_parquet(file).filter(condition(columns)).select("timestamp", "message").collect().height)


if __name__ == "__main__":
    main()
