"""How fast are exports?  python -m benchmarks.exports [FILE.parquet] [--rows N] [--rounds N]

The rows of a Parquet file, or of the lineitem dataset, are exported as CSV and as JSON lines: from a shard by this
library, from Parquet by DuckDB. One thread, processor time, each export in a process of its own, one after the other.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

import amudai
from benchmarks.datasets import load

OURS = """
import sys, time
import amudai
shard = amudai.open(sys.argv[1])
writer_of = {"csv": amudai.CsvWriter, "json": amudai.JsonLinesWriter}[sys.argv[2]]
begin = time.process_time()
with open(sys.argv[3], "wb") as out:
    writer = writer_of(out, shard.schema.names)
    for batch in shard.scan(threads=1):
        writer.write(batch)
    writer.close()
print(time.process_time() - begin)
"""
DUCKDB = """
import sys, time
import duckdb
connection = duckdb.connect(config={"threads": 1})
begin = time.process_time()
connection.execute(f"COPY (SELECT * FROM '{sys.argv[1]}') TO '{sys.argv[3]}' (FORMAT {sys.argv[2]})")
print(time.process_time() - begin)
"""


def seconds(program: str, *arguments: str) -> float:
    """The processor time that a program prints."""
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    table = pq.read_table(options.file) if options.file else load("lineitem", options.rows)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pq.write_table(table, folder / "rows.parquet")
        amudai.write(table, folder / "rows.amudai.shard").close()
        for format in ("csv", "json"):  # noqa: A001
            ours, duckdb = [], []
            for _ in range(options.rounds):
                ours.append(seconds(OURS, str(folder / "rows.amudai.shard"), format, str(folder / "ours")))
                duckdb.append(seconds(DUCKDB, str(folder / "rows.parquet"), format, str(folder / "duckdb")))
            ratio = min(ours) / min(duckdb)
            print(f"{format:5} amudai {min(ours):.3f} s  duckdb {min(duckdb):.3f} s  {ratio:.2f} of DuckDB's time")


if __name__ == "__main__":
    main()
