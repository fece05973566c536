"""Each scan counts its own requests, bytes and blocks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import amudai
from amudai import col

ROWS = 60_000


@pytest.fixture
def shard(tmp_path: Path) -> amudai.Shard:
    data = {"n": list(range(ROWS)), "text": [f"word{n % 977} {n}" for n in range(ROWS)]}
    amudai.write(data, tmp_path / "x.amudai.shard", stripe_rows=20_000)
    return amudai.open(tmp_path / "x.amudai.shard")


def spent(scan: amudai.Scan) -> tuple[int, int, int]:
    receipt = scan.explain()
    return receipt.requests, receipt.bytes, receipt.blocks_decoded


def test_a_scan_that_runs_beside_another_counts_only_its_own(shard: amudai.Shard) -> None:
    shard.read(rows=slice(0, 1))  # what all scans share is read by now
    alone = shard.scan(["n"], where=col("text").contains("977"))
    alone.to_table()
    first, second = shard.scan(["n"], where=col("text").contains("977")), shard.scan(["text"])
    batches = iter(first)
    next(batches)
    second.to_table()  # in the middle of the first
    list(batches)
    assert spent(first)[2] == spent(alone)[2] > 0
    assert spent(second)[2] > 0
    assert spent(first)[1] <= spent(alone)[1]


def test_receipts_of_threads_add_up_to_what_storage_was_asked(shard: amudai.Shard) -> None:
    shard.read(rows=slice(0, 1))
    before = (shard.requests.requests, shard.requests.bytes)
    scans = [shard.scan(["text"]) for _ in range(6)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda scan: scan.to_table(), scans))
    receipts = [spent(scan) for scan in scans]
    asked = shard.requests.requests - before[0], shard.requests.bytes - before[1]
    assert sum(requests for requests, _, _ in receipts) == asked[0]
    assert sum(size for _, size, _ in receipts) == asked[1]
    assert len({blocks for _, _, blocks in receipts}) == 1, "each decodes the same blocks"


def test_a_scan_that_has_not_run_has_read_nothing_of_its_columns(shard: amudai.Shard) -> None:
    scan = shard.scan(["text"])
    assert spent(scan)[2] == 0
