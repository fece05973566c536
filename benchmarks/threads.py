"""What do more threads gain?  python -m benchmarks.threads [--dataset logs] [--rows N] [--threads 2] [--out FILE]

Each work runs with one thread and with several, by turns in one process, with the files in the page cache. The ratio is
that of the least wall times; processor time says what the threads cost on top. The machine must have nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

import amudai
from benchmarks import report
from benchmarks.datasets import GENERATORS, load


def indexes(names: list[str]) -> list[amudai.IndexSpec]:
    """A term index of the longest text and a hash index of the identifiers, as far as the data has them."""
    return [
        *(amudai.TermIndex(name) for name in ("message", "l_comment") if name in names),
        *(amudai.HashIndex(name) for name in ("trace_id", "l_orderkey") if name in names),
    ]


def works(table: pa.Table, folder: Path) -> dict[str, Callable[[], object]]:
    """The works on a table, and on the shards that were made of it in `folder`."""
    plain, indexed, new = (folder / f"{name}.amudai.shard" for name in ("plain", "indexed", "new"))
    amudai.write(table, plain).close()
    specs = indexes(table.column_names)
    if specs:
        amudai.add_indexes(plain, specs, indexed).close()

    def verify() -> None:
        with amudai.open(indexed if specs else plain) as shard:
            assert shard.verify().ok

    def scan(where: amudai.Predicate) -> Callable[[], object]:
        return lambda: sum(batch.num_rows for batch in amudai.open(plain).scan(where=where))

    found: dict[str, Callable[[], object]] = {
        "full read": lambda: amudai.open(plain).read(),
        "full scan": lambda: sum(batch.num_rows for batch in amudai.open(plain).scan()),
        "write": lambda: amudai.write(table, new, overwrite=True).close(),
        "verify": verify,
        "compact": lambda: amudai.compact(plain, new, overwrite=True).close(),
    }
    if "message" in table.column_names:
        found["scan with a condition on text"] = scan(amudai.col("message").contains("eadloc"))
        found["scan with a condition on numbers"] = scan(amudai.col("status") >= 500)
    if "l_quantity" in table.column_names:
        found["scan with a condition on numbers"] = scan(amudai.col("l_quantity") < 24)
    if specs:
        found["build indexes"] = lambda: amudai.add_indexes(plain, specs, new, overwrite=True).close()
    return found


def least(work: Callable[[], object], counts: tuple[int, ...], rounds: int) -> dict[int, tuple[float, float]]:
    """The least wall time, and the processor time of that run, for each number of threads."""
    found: dict[int, tuple[float, float]] = {}
    for _ in range(rounds):
        for count in counts:
            os.environ["AMUDAI_THREADS"] = str(count)
            wall, spent = time.perf_counter(), time.process_time()
            work()
            wall, spent = time.perf_counter() - wall, time.process_time() - spent
            found[count] = min(found.get(count, (float("inf"), 0.0)), (wall, spent))
    return found


def markdown(results: dict[str, Any]) -> str:
    """The table of a run, for docs/performance.md."""
    many = results["threads"]
    said = f"{results['dataset']}, {results['rows']:,} rows; load average {results['load']:.1f} when the run began."
    head = ["work", "one thread, ms", f"{many} threads, ms", "gain", "processor time"]
    rows = [
        [what, f"{one * 1e3:,.1f}", f"{several * 1e3:,.1f}", f"{one / several:.2f}", f"{together / alone:.2f}"]
        for what, ((one, alone), (several, together)) in results["works"].items()
    ]
    return "\n".join([said, "", report.table(head, rows)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="logs", choices=sorted(GENERATORS))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, help="where the figures go, as JSON")
    options = parser.parse_args()
    table = load(options.dataset, options.rows)
    results: dict[str, Any] = {
        "dataset": options.dataset,
        "rows": table.num_rows,
        "threads": options.threads,
        "load": os.getloadavg()[0],
        "works": {},
    }
    print(f"{options.dataset}, {table.num_rows:,} rows, load {results['load']:.1f}")
    with tempfile.TemporaryDirectory() as name:
        for what, work in works(table, Path(name)).items():
            found = least(work, (1, options.threads), options.rounds)
            (one, alone), (several, together) = results["works"][what] = found[1], found[options.threads]
            print(
                f"{what:34} {one * 1e3:9.1f} ms  {several * 1e3:9.1f} ms  {one / several:5.2f}x  "
                f"processor time {together / alone:4.2f}x",
                flush=True,
            )
    if options.out:
        options.out.write_text(json.dumps(results))


if __name__ == "__main__":
    main()
