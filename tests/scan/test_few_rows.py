"""Batches of scans in which few rows of a part match."""

from __future__ import annotations

import pytest

import amudai
from amudai import col
from amudai.scan import run

PART = 8192
ROWS = 20 * PART
STRIPE = 15 * PART


def matches(row: int) -> bool:
    """Two rows of each part, but most of part 7 and none of parts 10 to 12."""
    part = row // PART
    if part == 7:
        return row % 10 != 0
    return part not in (10, 11, 12) and row % PART in (3, 700)


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard:
    table = {
        "row": list(range(ROWS)),
        "text": [f"request {row} {'failed' if matches(row) else 'done'}" for row in range(ROWS)],
    }
    return amudai.write(table, tmp_path_factory.mktemp("few") / "few.amudai.shard", stripe_rows=STRIPE)


@pytest.mark.parametrize("threads", [1, 2])
def test_few_rows_of_neighbouring_parts_come_together(
    shard: amudai.Shard, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setattr(run, "PART_ROWS", PART)
    monkeypatch.setattr(run, "FEW_ROWS", 100)
    batches = [batch["row"].to_pylist() for batch in shard.scan(["row"], where=_failed(), threads=threads)]
    assert [row for rows in batches for row in rows] == [row for row in range(ROWS) if matches(row)]
    # What was found first does not wait. Stripes and parts with many rows end a batch.
    parts = [sorted({row // PART for row in rows}) for rows in batches]
    assert parts == [[0], [1, 2], [3, 4, 5, 6], [7], [8, 9, 13, 14], [15, 16, 17, 18, 19]]


def test_batches_of_few_rows_have_at_most_the_rows_asked_for(
    shard: amudai.Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "PART_ROWS", PART)
    batches = list(shard.scan(["row"], where=_failed(), batch_rows=3))
    assert max(batch.num_rows for batch in batches) == 3
    assert sum(batch.num_rows for batch in batches) == sum(map(matches, range(ROWS)))


def test_a_limit_is_reached_with_the_first_part(shard: amudai.Shard) -> None:
    scan = shard.scan(["row"], where=_failed(), limit=1, threads=1)
    assert [batch["row"].to_pylist() for batch in scan] == [[3]]
    (leaf,) = scan.explain().leaves
    assert leaf.checked < STRIPE / 2


def _failed() -> amudai.Predicate:
    return col("text").contains("failed")
