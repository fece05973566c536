"""Range indexes of fields with so many positions that stretches are longer than 256 positions."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import amudai
from amudai import col
from amudai.encoding import range_index_builder

ROWS = 5000
TABLE = pa.table(
    {
        "n": pa.array([None if 700 <= at < 1400 else at * 3 - 4000 for at in range(ROWS)], pa.int32()),
        "f": pa.array([math.nan if at % 5 == 0 or 600 <= at < 2000 else -at / 4 for at in range(ROWS)]),
        "d": pa.array([None if at < 300 else Decimal(at - 2500) / 8 for at in range(ROWS)], pa.decimal128(12, 3)),
        "u": pa.array([(at * 7919) % 2**40 for at in range(ROWS)], pa.uint64()),
    }
)


@pytest.mark.parametrize("most", [100, 64, 20])
def test_answers_are_those_of_the_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    plain = amudai.write(TABLE, tmp_path / "plain.amudai.shard", profile="plain")
    monkeypatch.setattr(range_index_builder, "_MOST_PAYLOAD", most)
    shard = amudai.write(TABLE, tmp_path / "long.amudai.shard")
    asked = [
        col("n") > 9000, col("n") < -3990, (col("n") >= 500) & (col("n") < 550),
        col("f") < -1200.0, col("f") > -10.0, col("f") == -500.25,
        col("d") > Decimal("300"), col("d") == Decimal("-1.5"), col("d") < Decimal("-270"),
        col("u") == 7919 * 77, col("u") > 39_000_000,
    ]  # fmt: skip
    for ask in asked:
        expected = plain.scan(where=ask).positions().tolist()
        assert shard.scan(where=ask).positions().tolist() == expected
        assert expected
    found = shard._reader.stripes[0].column(shard._reader.schema.fields()[3]).range_index()
    assert found is not None
    assert found.size > 256
    assert found.least.nbytes <= most
    (leaf,) = shard.scan(where=col("u") > 39_000_000).explain().leaves
    assert most == 20 or any(note.evidence == "range index" and note.ruled_out for note in leaf.notes)
    assert shard.verify(deep=True).ok
