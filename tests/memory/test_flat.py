"""Many opens, reads, searches and abandoned scans: memory does not grow with their number."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import pytest

import amudai
from tests.effort import scaled

STATUS = Path("/proc/self/statm")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not STATUS.exists(), reason="needs /proc")]
# What an allocator may keep besides. A leak of 4 kB in each operation would be more.
MOST_GROWTH = 2_000_000


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("flat") / "t.amudai.shard"
    rows = {"n": range(500), "text": [f"line{n} of text" for n in range(500)]}
    amudai.write(rows, path, indexes=[amudai.TermIndex("text"), amudai.HashIndex("n")], stripe_rows=100).close()
    return path


def opened(path: Path) -> None:
    assert amudai.open(path).num_rows == 500


def read(path: Path) -> None:
    with amudai.open(path) as shard:
        assert shard.read(["n"]).num_rows == 500


def searched(path: Path) -> None:
    shard = amudai.open(path)
    assert shard.count(where=amudai.col("text").has("line7")) == 1


def abandoned(path: Path) -> None:
    batches = iter(amudai.open(path).scan(batch_rows=50, threads=2))
    next(batches)


def refused(path: Path) -> None:
    with pytest.raises(amudai.AmudaiError):
        amudai.open(path).read(["missing"])


def resident() -> int:
    gc.collect()
    return int(STATUS.read_text().split()[1]) * 4096


@pytest.mark.parametrize("work", [opened, read, searched, abandoned, refused], ids=lambda work: work.__name__)
def test_memory_does_not_grow(path: Path, work: Callable[[Path], None]) -> None:
    """A million times at an effort of 500."""
    count, growth = scaled(2000), MOST_GROWTH
    for _ in range(count // 4):
        work(path)
    for _ in range(3):  # a leak grows each time, what other threads of the process allocate does not
        before = resident()
        for _ in range(count):
            work(path)
        growth = min(growth, resident() - before)
        if growth < MOST_GROWTH:
            break
    assert growth < MOST_GROWTH
