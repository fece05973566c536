"""What do deletes cost?  python -m benchmarks.deletes [--rows N] [--share S] [--rounds N]

Rows of the log dataset are deleted at random positions, and by a predicate. Then the same scans and searches run in turn
on the shard without deletes, on a root without deletes that refers to it, and on the root with deletes that refers to it,
on one thread. Processor time, the best of all rounds. The first ratio is that to the shard, the second that to the root.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import amudai
from amudai import Shard, col
from benchmarks.datasets import load

WORKS: dict[str, Callable[[Shard], object]] = {
    "read all columns": lambda shard: shard.read(threads=1),
    "read one number": lambda shard: shard.read(["status"], threads=1),
    "read one text": lambda shard: shard.read(["message"], threads=1),
    "batches of all columns": lambda shard: sum(batch.num_rows for batch in shard.scan(threads=1)),
    "filter numbers, few rows": lambda shard: shard.scan(
        ["timestamp"], where=col("status") == 503, threads=1
    ).to_table(),
    "filter numbers, many rows": lambda shard: shard.scan(["status"], where=col("status") < 400, threads=1).to_table(),
    "filter text": lambda shard: shard.scan(
        ["timestamp"], where=col("message").contains("eadloc"), threads=1
    ).to_table(),
    "search a rare word": lambda shard: shard.scan(where=col("message").has("deadlock"), threads=1).to_table(),
    "search a common word": lambda shard: shard.scan(
        ["timestamp"], col("message").has("connection"), threads=1
    ).to_table(),
    "count a common word": lambda shard: shard.count(col("message").has("connection")),
    "count all rows": lambda shard: shard.count(),
    "take 100 rows": lambda shard: shard.take(shard.scan(limit=100).positions(), threads=1),
}


def best(work: Callable[[Shard], object], places: list[Path], rounds: int) -> list[float]:
    """The least processor time of the work on each shard, opened anew each time."""
    found = [float("inf")] * len(places)
    for _ in range(rounds):
        # Short works are repeated, by turns: what else the machine does changes from one moment to the next.
        spent = [[0.0] for _ in places]
        while max(map(sum, spent)) < 0.05 and len(spent[0]) <= 50:
            for at, place in enumerate(places):
                begin = time.process_time()
                with amudai.open(place) as shard:
                    work(shard)
                spent[at].append(time.process_time() - begin)
        found = [min(known, sum(each) / (len(each) - 1)) for known, each in zip(found, spent, strict=True)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--share", type=float, default=0.001)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    table = load("logs", options.rows)
    rows = table.num_rows
    with tempfile.TemporaryDirectory() as name:
        whole, fewer = Path(name, "whole.amudai.shard"), Path(name, "fewer.amudai.shard")
        amudai.write(table, whole, indexes=[amudai.TermIndex("message")]).close()
        del table
        gone = np.random.default_rng(1).choice(rows, int(rows * options.share), replace=False)
        begin = time.process_time()
        amudai.delete(whole, positions=gone, to=fewer).close()
        spent = time.process_time() - begin
        size = fewer.stat().st_size
        print(f"delete {len(gone):,} of {rows:,} rows by position: {spent * 1e3:.1f} ms, {size:,} bytes written")
        found = Path(name, "found.amudai.shard")
        begin = time.process_time()
        shard = amudai.delete(whole, col("message").has("deadlock"), to=found)
        spent = time.process_time() - begin
        count = shard.num_positions - shard.num_rows
        print(f"delete {count:,} rows by a word: {spent * 1e3:.1f} ms, {found.stat().st_size:,} bytes written")
        moved = Path(name, "moved.amudai.shard")
        amudai.undelete(fewer, to=moved).close()
        for what, work in WORKS.items():
            before, by_reference, after = best(work, [whole, moved, fewer], options.rounds)
            print(
                f"{what:26} {before * 1e3:9.2f} ms  by reference {by_reference * 1e3:9.2f} ms  "
                f"with deletes {after * 1e3:9.2f} ms  {after / before:6.2f} {after / by_reference:6.2f}"
            )


if __name__ == "__main__":
    main()
