"""What does compaction cost?  python -m benchmarks.compaction [--rows N] [--parts N] [--share S] [--memory SIZE]

The log dataset, in some shards with deleted rows, becomes one shard: as it is, sorted by a column, and with a term
index. MB/s are Arrow bytes of the rows that are left by seconds of processor time. Memory is the peak of what the process
has of its own above what it had before.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import amudai
from benchmarks.datasets import load
from benchmarks.memory import watched


def sources(folder: Path, rows: int, parts: int, share: float) -> tuple[list[Path], int]:
    """Shards with deleted rows, and the Arrow bytes of the rows that are left."""
    table = load("logs", rows)
    each = -(-len(table) // parts)
    found = []
    for at in range(parts):
        part = table.slice(at * each, each)
        whole, fewer = folder / f"whole{at}.amudai.shard", folder / f"fewer{at}.amudai.shard"
        amudai.write(part, whole).close()
        gone = np.random.default_rng(at).choice(len(part), int(len(part) * share), replace=False)
        amudai.delete(whole, positions=gone, to=fewer).close()
        found.append(fewer)
    return found, int(table.nbytes * (1 - share))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--memory", default="256MB")
    options = parser.parse_args()
    works: dict[str, dict[str, object]] = {
        "as it is": {},
        "sorted": {"sort_by": ["service", "timestamp"]},
        "indexed": {"indexes": [amudai.TermIndex("message")]},
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shards, size = sources(folder, options.rows, options.parts, options.share)
        before = sum(shard.stat().st_size for shard in folder.iterdir())
        print(f"{options.parts} shards, {size / 1e6:,.0f} MB of Arrow, {before / 1e6:,.1f} MB of files")
        for what, asked in works.items():
            to = folder / f"{what}.amudai.shard"
            with watched() as peak:
                begin, worked = time.perf_counter(), time.process_time()
                amudai.compact(shards, to, memory_limit=options.memory, threads=1, **asked).close()  # type: ignore[arg-type]
                seconds, worked = time.perf_counter() - begin, time.process_time() - worked
            print(
                f"{what:<9} {worked:6.2f} s of work ({seconds:.2f} s)  {size / worked / 1e6:6.1f} MB/s  "
                f"peak {peak[0] / 1e6:5,.0f} MB  {to.stat().st_size / 1e6:6.1f} MB written"
            )


if __name__ == "__main__":
    main()
