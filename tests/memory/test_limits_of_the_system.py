"""A process with little address space: an error of ours, or the right rows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS")]

# Tells what happened: the rows, or the name of the error. MemoryError and a crash are failures.
WORK = """
import resource, sys, numpy as np, pyarrow as pa, amudai
path, megabytes, work = sys.argv[1], int(sys.argv[2]), sys.argv[3]
shard = amudai.open(path, threads=1)
shard.head(1)
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 1_000_000,) * 2)
try:
    if work == "read":
        print(shard.read().num_rows)
    elif work == "batches":
        print(sum(batch.num_rows for batch in shard.scan(batch_rows=10_000, threads=1)))
    else:
        print(shard.verify().ok)
except amudai.AmudaiError as error:
    print(type(error).__name__)
"""
MAKE = """
import sys, numpy as np, pyarrow as pa, amudai
rng = np.random.default_rng(1)
count = 800_000
texts = pa.array(["x" * 50] * count)
table = pa.table({"n": np.arange(count), "noise": rng.integers(0, 1 << 60, count), "same": texts})
amudai.write(table, sys.argv[1], stripe_rows=200_000)
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("limits") / "t.amudai.shard"
    subprocess.run([sys.executable, "-c", MAKE, str(path)], check=True)
    return path


@pytest.mark.parametrize(
    ("megabytes", "work", "expected"),
    [(2000, "read", "800000"), (30, "read", "LimitExceeded"), (100, "batches", "800000"), (100, "verify", "True")],
)
def test_little_address_space(path: Path, megabytes: int, work: str, expected: str) -> None:
    arguments = [str(path), str(megabytes), work]
    # Arrow's own allocator reserves address space before it is needed.
    plain = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}
    command = [sys.executable, "-c", WORK, *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=plain)
    assert found.stdout.strip() == expected, found.stderr[-2000:]
