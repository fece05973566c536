"""Scans of an open shard share the readers of its indexes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pyarrow as pa
import pytest

import amudai
from amudai import col

pytestmark = pytest.mark.slow

ROWS = 60_000  # the index does not lie in the end of the file that opening reads
WORDS = [f"word{at % 700:03d} and {at * 2654435761 % (1 << 32):08x}" for at in range(ROWS)]
IDS = [f"{at * 7919 % 30_000:05d}" for at in range(ROWS)]
INDEXES = [amudai.TermIndex("text"), amudai.HashIndex("id")]


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("shared") / "t.amudai.shard"
    amudai.write(pa.table({"text": WORDS, "id": IDS}), target, indexes=INDEXES)
    return target


@pytest.mark.parametrize("where", [col("text").has("word123"), col("id") == "00042"], ids=["term", "hash"])
def test_the_next_scan_needs_fewer_requests(location: Path, where: amudai.Predicate) -> None:
    shard = amudai.open(location)
    asked = []
    for _ in range(2):
        scan = shard.scan(where=where)
        found = scan.positions().tolist()
        assert found == amudai.open(location).scan(where=where).positions().tolist() != []
        asked.append(scan.explain().requests)
    # The block maps of the index are known by then, and the pages of a term index.
    assert asked[1] <= asked[0] - 2


def test_threads_share_the_readers_and_find_the_same(location: Path) -> None:
    shard = amudai.open(location)
    begin = Barrier(8)

    def ask(number: int) -> list[list[int]]:
        begin.wait()
        scans = [shard.scan(where=col("text").has(f"word{at:03d}")) for at in range(number, 700, 40)]
        scans += [shard.scan(where=col("id") == f"{at:05d}") for at in range(number, 30_000, 1600)]
        return [scan.positions().tolist() for scan in scans]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(8)))
    for number, lists in enumerate(found):
        texts = [[row for row in range(ROWS) if row % 700 == at] for at in range(number, 700, 40)]
        ids = [[row for row in range(ROWS) if IDS[row] == f"{at:05d}"] for at in range(number, 30_000, 1600)]
        assert lists == texts + ids
