"""Is memory set by the limit, and not by what comes in?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import amudai

# Peak of private memory while a generator is written, in megabytes, over what there was before.
MEASURED = """
import sys, threading, time
import pyarrow as pa
import amudai

def private():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))

columns, rows, batches, limit, target = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
text = pa.array([f"request {i * 7919 % 99991} of user {i * 31 % 977} took {i % 613} ms" for i in range(rows)])
codes = pa.array([f"{i * 7919 % 9973:x}" for i in range(rows)])
batch = pa.record_batch({f"c{i}": text if i % 2 else codes for i in range(columns)})
amudai.write(batch.slice(0, 100), target, overwrite=True, threads=1)
start, peak, done = private(), [0], []

def watch():
    while not done:
        peak[0] = max(peak[0], private())
        time.sleep(0.002)

watcher = threading.Thread(target=watch)
watcher.start()
reader = pa.RecordBatchReader.from_batches(batch.schema, (batch for _ in range(batches)))
shard = amudai.write(reader, target, overwrite=True, threads=1, memory_limit=limit)
done.append(True)
watcher.join()
assert shard.num_rows == rows * batches
print((peak[0] - start) // 1000)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say how much memory is private")
@pytest.mark.parametrize(("columns", "limit", "most"), [(40, "16MB", 48), (4, "64MB", 64)])
def test_memory_stays_near_the_limit(tmp_path: Path, columns: int, limit: str, most: int) -> None:
    arguments = [str(columns), "20000", "10", limit, str(tmp_path / "t.amudai.shard")]
    found = subprocess.run([sys.executable, "-c", MEASURED, *arguments], capture_output=True, text=True, check=True)
    assert int(found.stdout) <= most
    assert [path.name for path in tmp_path.iterdir()] == ["t.amudai.shard"]


ONE_VALUE = """
import random, resource, sys, amudai, pyarrow as pa
size, target = int(sys.argv[1]), sys.argv[2]
amudai.write({"v": ["x"]}, target, overwrite=True, threads=1)
value = pa.array([random.Random(1).randbytes(size)], pa.large_binary())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
amudai.write(pa.table({"n": [1], "v": value}), target, overwrite=True, threads=1)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1000)
assert amudai.open(target).read(["v"]).column(0).combine_chunks().equals(value)
"""


@pytest.mark.slow
def test_one_large_value_takes_twice_its_size(tmp_path: Path) -> None:
    size = 160_000_000
    arguments = [str(size), str(tmp_path / "t.amudai.shard")]
    found = subprocess.run([sys.executable, "-c", ONE_VALUE, *arguments], capture_output=True, text=True, check=True)
    assert int(found.stdout) <= 2 * size // 1_000_000 + 32


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["1MB", "16MB"])
def test_little_memory_keeps_every_value(tmp_path: Path, limit: str) -> None:
    rng = np.random.default_rng(5)
    count = 30_000
    table = pa.table(
        {
            "n": rng.integers(0, 1 << 40, count),
            "few": [f"kind {n}" for n in rng.integers(0, 9, count)],
            "many": [f"user {n} did {n * 7 % 1009}" for n in rng.integers(0, 10**9, count)],
            "long": pa.array([None if n % 7 == 0 else "x" * n for n in rng.integers(0, 400, count)]),
            "flag": pa.array(rng.integers(0, 2, count).astype(bool), mask=rng.random(count) < 0.1),
        }
    )
    shard = amudai.write(table, tmp_path / "t.amudai.shard", memory_limit=limit)
    assert shard.read().equals(table)
    assert shard.verify().ok


@pytest.mark.slow
def test_a_thousand_columns(tmp_path: Path) -> None:
    table = pa.table(
        {f"c{i}": [f"{i}-{row % 5}" for row in range(60)] if i % 2 else range(i, i + 60) for i in range(1000)}
    )
    amudai.write(table, tmp_path / "t.amudai.shard")
    shard = amudai.open(tmp_path / "t.amudai.shard")
    assert shard.read(["c7", "c998"]).equals(table.select(["c7", "c998"]))
    assert shard.read().equals(table)
