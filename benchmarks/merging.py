"""What does a merge cost?  python -m benchmarks.merging [--shards N] [--rows N] [--parts N]

First, many small shards of 10 stripes and 20 columns become one: seconds, bytes of the new root, requests. Then the log
dataset, in some shards with a term index each, becomes one: the merged index beside the rebuilt one, in processor time
of one thread, bytes, and microseconds of a look-up that opens the shard anew. The best of some rounds, by turns: the
first merge of a process also imports what merges.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import pyarrow as pa

import amudai
from benchmarks.datasets import load

STRIPES, COLUMNS, STRIPE_ROWS = 10, 20, 100
WORDS = ("deadlock", "connection", "zzyzx")
ROUNDS = 4


def many(folder: Path, shards: int) -> None:
    """Merge many small shards. They are copies of one shard: a merge does not look at their values."""
    rows = STRIPES * STRIPE_ROWS
    numbers = pa.array(range(rows))
    columns = {f"c{at}": numbers if at % 2 else numbers.cast(pa.string()) for at in range(COLUMNS)}
    first = folder / "0.amudai.shard"
    amudai.write(columns, first, stripe_rows=STRIPE_ROWS)
    for number in range(1, shards):
        shutil.copy(first, folder / f"{number}.amudai.shard")
    begin, worked = time.perf_counter(), time.process_time()
    merged = amudai.merge([folder / f"{number}.amudai.shard" for number in range(shards)], to=folder / "all")
    seconds, worked = time.perf_counter() - begin, time.process_time() - worked
    size = (folder / "all").stat().st_size
    print(
        f"metadata  {shards:,} shards, {merged.num_rows:,} rows: {seconds:.2f} s ({worked:.2f} s of work), {size:,} bytes"
    )


def index(folder: Path, rows: int, parts: int) -> None:
    """Merge a term index, and build it anew."""
    messages = load("logs", rows).select(["message"])
    each = -(-len(messages) // parts)
    sources = [
        amudai.write(
            messages.slice(at * each, each),
            folder / f"part{at}.amudai.shard",
            indexes=[amudai.TermIndex("message")],
            threads=1,
        )
        for at in range(parts)
    ]
    best = dict.fromkeys(("merge", "rebuild"), float("inf"))
    sizes = dict.fromkeys(best, 0)
    for _ in range(ROUNDS):
        for how in best:
            begin = time.process_time()
            merged = amudai.merge(sources, to=folder / f"{how}.amudai.shard", indexes=how, overwrite=True)
            best[how] = min(best[how], time.process_time() - begin)
            sizes[how] = merged.indexes[0].size or 0
    for how, seconds in best.items():
        print(f"{how:<8}  {parts} indexes of {each:,} rows: {seconds:.2f} s, {sizes[how]:,} bytes")
        for word in WORDS:
            print(f"  has {word:<12}{look_up(folder / f'{how}.amudai.shard', word):>10.0f} us")
    print(f"merging is {best['rebuild'] / best['merge']:.1f} times as fast as rebuilding")


def look_up(shard: Path, word: str, rounds: int = 20) -> float:
    """Microseconds to open the shard and count the rows with a word: the best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        with amudai.open(shard, threads=1) as opened:
            opened.scan(where=amudai.col("message").has(word)).count()
        best = min(best, time.perf_counter() - begin)
    return best * 1e6


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shards", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--parts", type=int, default=8)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "many").mkdir()
        many(Path(folder) / "many", asked.shards)
        index(Path(folder), asked.rows, asked.parts)


if __name__ == "__main__":
    main()
