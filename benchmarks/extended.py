"""What `compatibility="extended"` saves: `python -m benchmarks.extended [--rows 1000000] [dataset ...]`.

Prints the size of each dataset in Parquet with Zstandard, and the sizes of shards in proportion to that, with the time
that it takes to write and to read them on one thread. Datasets are made with another seed than those of the benchmark.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time

import pyarrow as pa
import pyarrow.parquet as pq

import amudai
from benchmarks import datasets

SEED = 77


def measure(table: pa.Table, folder: str, profile: str, compatibility: str) -> tuple[int, float, float]:
    """Bytes, seconds of writing, seconds of reading."""
    path = os.path.join(folder, "t.amudai.shard")
    start = time.process_time()
    amudai.write(table, path, profile=profile, compatibility=compatibility, overwrite=True, threads=1).close()
    written = time.process_time() - start
    best = float("inf")
    with amudai.open(path, threads=1) as shard:
        for _ in range(3):
            start = time.process_time()
            found = shard.read()
            best = min(best, time.process_time() - start)
    assert found.equals(table)
    return os.path.getsize(path), written, best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=["logs", "lineitem", "metrics", "taxi"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    print("| dataset | profile | parquet-zstd | reference: ratio, write s, read ms | extended |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.datasets:
            table = getattr(datasets, name)(arguments.rows, seed=SEED).combine_chunks()
            parquet = os.path.join(folder, "t.parquet")
            pq.write_table(table, parquet, compression="zstd")
            whole = os.path.getsize(parquet)
            for profile in ("balanced", "high_compression"):
                cells = []
                for compatibility in ("reference", "extended"):
                    size, written, read = measure(table, folder, profile, compatibility)
                    cells.append(f"{size / whole:.3f}, {written:.1f}, {1000 * read:.0f}")
                print(f"| {name} | {profile} | {whole / 1e6:.1f} MB | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
