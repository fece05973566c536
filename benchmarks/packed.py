"""What do packed groups cost and save?  python -m benchmarks.packed [--rows N] [--latency MS] [--rounds N]

The same table is written with each column alone and as one packed group. Then whole rows are taken at random positions,
one column is read, and all columns are read: from local files, and from a store in which each request takes some
milliseconds. Processor time of one thread for local files, wall time for the store, the best of all rounds; requests
and bytes of the store for one run.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

import amudai
from amudai import Shard
from amudai.storage import MemoryStore

COLUMNS = 12


class SlowStore(MemoryStore):
    """A store in memory in which each request takes `latency` seconds. Requests of one call run side by side."""

    capabilities = replace(MemoryStore.capabilities, merge_gap=1 << 20)  # as in object stores
    latency = 0.0

    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[memoryview]:
        time.sleep(self.latency)
        return super()._fetch(url, ranges)


def table(rows: int) -> pa.Table:
    """Measurements: a time, a name, and numbers that hardly compress."""
    rng = np.random.default_rng(1)
    columns: dict[str, pa.Array] = {
        "time": pa.array(np.arange(rows) * 1_000_000 + rng.integers(0, 1000, rows), pa.timestamp("us")),
        "sensor": pa.array([f"sensor-{n:04d}" for n in rng.integers(0, 2000, rows)]),
    }
    columns |= {f"m{at}": pa.array(rng.normal(size=rows).round(3)) for at in range(COLUMNS - 2)}
    return pa.table(columns)


def works(rows: int) -> dict[str, Callable[[Shard], object]]:
    places = np.sort(np.random.default_rng(2).integers(0, rows, 100)).tolist()
    return {
        "open and take 1 row": lambda shard: shard.take(places[:1]),
        "open and take 10 rows": lambda shard: shard.take(places[:10]),
        "open and take 100 rows": lambda shard: shard.take(places),
        "take 1 more row": lambda shard: shard.take(places[50:51]),
        "read one column": lambda shard: shard.read(["m3"]),
        "read all columns": lambda shard: shard.read(),
    }


def timed(
    work: Callable[[Shard], object], opened: Callable[[], Shard], clock: Callable[[], float], *, more: bool, rounds: int
) -> float:
    """The least time of the work on a shard that is opened anew each time, or was asked for a row before."""
    best = float("inf")
    for _ in range(rounds):
        begin = clock()
        with opened() as shard:
            if more:
                shard.take([0])
                begin = clock()
            work(shard)
            best = min(best, clock() - begin)
    return best


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--latency", type=float, default=5.0, help="milliseconds of a request")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    data = table(options.rows)
    with tempfile.TemporaryDirectory() as folder:
        paths = {"ordinary": Path(folder, "ordinary.amudai.shard"), "packed": Path(folder, "packed.amudai.shard")}
        amudai.write(data, paths["ordinary"]).close()
        amudai.write(data, paths["packed"], packed_groups=[data.column_names]).close()
        store = SlowStore({path.name: path.read_bytes() for path in paths.values()})
        store.latency = options.latency / 1000
        sizes = " ".join(f"{name} {path.stat().st_size / 1e6:.1f} MB" for name, path in paths.items())
        print(f"{options.rows:,} rows, {COLUMNS} columns: {sizes}")
        print(f"{'':24}{'local, CPU ms':>24}{f'{options.latency:g} ms a request, ms':>28}{'requests':>16}{'MB':>16}")
        for name, work in works(options.rows).items():
            more = "more" in name
            local = [
                timed(
                    work,
                    lambda path=path: amudai.open(path, threads=1),
                    time.process_time,
                    more=more,
                    rounds=options.rounds,
                )
                for path in paths.values()
            ]
            remote, requests, sent = [], [], []
            for path in paths.values():
                opened = lambda path=path: amudai.open(path.name, store=store)  # noqa: E731
                remote.append(timed(work, opened, time.perf_counter, more=more, rounds=max(1, options.rounds // 2)))
                with opened() as shard:
                    if more:
                        shard.take([0])
                    before = store.counters.requests, store.counters.bytes
                    work(shard)
                    requests.append(store.counters.requests - before[0])
                    sent.append((store.counters.bytes - before[1]) / 1e6)
            cells = [f"{a * 1000:.1f} → {b * 1000:.1f}" for a, b in (local, remote)]
            print(
                f"{name:24}{cells[0]:>24}{cells[1]:>28}{'{} → {}'.format(*requests):>16}{'{:.2f} → {:.2f}'.format(*sent):>16}"
            )


if __name__ == "__main__":
    main()
