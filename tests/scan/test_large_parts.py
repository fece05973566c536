"""Scans of more rows than a part has, on one thread and on several."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai import col
from amudai.scan import run

ROWS = 400_000
PART = 1 << 17


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rows = np.arange(ROWS)
    return pa.table(
        {
            "row": rows,
            "status": rows * 7919 % 1000,
            "host": pa.array([f"host{row % 19}" for row in range(ROWS)]),
            "text": pa.array([f"request {row * 31 % 9973} took {row % 701} ms" for row in range(ROWS)]),
        }
    )


@pytest.fixture(scope="module")
def location(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("large") / "large.amudai.shard"
    amudai.write(table, path, stripe_rows=350_000).close()
    return str(path)


@pytest.mark.parametrize("least", [0, 500, 990], ids=["all match", "half match", "few match"])
def test_threads_give_the_same_batches_and_count_what_they_read(table: pa.Table, location: str, least: int) -> None:
    found = []
    for threads in (1, 2, 5):
        scan = amudai.open(location).scan(where=col("status") >= least, threads=threads)
        batches = list(scan)
        why = scan.explain()
        found.append(([batch.num_rows for batch in batches], why.bytes, why.blocks_decoded))
        expected = table.filter(pa.compute.greater_equal(table["status"], least))
        assert pa.Table.from_batches(batches).equals(expected)
    (sizes, alone, blocks), *others = found
    assert max(sizes) <= PART
    for each, size, decoded in others:
        assert each == sizes
        assert size >= alone, "what helpers read counts as well"
        assert decoded >= blocks


def test_a_condition_on_numbers_is_checked_on_larger_parts(location: str) -> None:
    """Stripes end a part: the first stripe has two parts. On text there would be three."""
    assert run.LIGHT_READ == 2 * PART
    shard = amudai.open(location)
    batches = [batch["row"].to_pylist() for batch in shard.scan(["row"], where=col("status") < 10)]
    ends = [2 * PART, 350_000, ROWS]
    assert batches == [
        [row for row in range(start, end) if row * 7919 % 1000 < 10]
        for start, end in zip([0, *ends], ends, strict=False)
    ]
    on_text = shard.scan(["row"], where=col("text").contains("1 ms"))
    assert [batch["row"][0].as_py() // PART for batch in on_text] == [0, 1, 2, 2]
