"""Composite keys: the rows that have given values in several columns at once."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import amudai
from amudai import AmudaiError, HashIndex, col

ROWS = 1200
TABLE = pa.table(
    {
        "tenant": [None if at % 97 == 0 else f"t{at * 7919 % 30}" for at in range(ROWS)],
        "user": [None if at % 89 == 0 else {"id": at * 31 % 40, "name": f"u{at % 5}"} for at in range(ROWS)],
        "price": pa.array([Decimal(at * 17 % 20) / 2 for at in range(ROWS)], pa.decimal128(9, 1)),
        "ratio": pa.array([-0.0 if at % 9 == 0 else at % 9 / 4 for at in range(ROWS)], pa.float64()),
        "tags": [["a"]] * ROWS,
        "fine": pa.array([1_700_000_000_000_000_000 + 37 * (at % 50) for at in range(ROWS)], pa.timestamp("ns")),
    }
)
KEYS: Any = [("tenant", "user.id"), ("price", "ratio", "tenant"), "tenant", ("fine", "user.name")]
ROW = TABLE.slice(500, 1).to_pylist()[0]
TENANT, USER = ROW["tenant"], ROW["user"]["id"]
ASKED = [
    (col("tenant") == TENANT) & (col("user.id") == USER),
    (col("user.id") == USER) & (col("tenant") == TENANT) & (col("ratio") >= 0.0),
    col("tenant").isin(["t1", "t2", TENANT]) & col("user.id").isin([3, USER, 39]),
    (col("price") == ROW["price"]) & (col("ratio") == ROW["ratio"]) & (col("tenant") == TENANT),
    (col("tenant") == TENANT) & ~(col("user.id") == USER),
    ((col("tenant") == TENANT) & (col("user.id") == USER)) | ((col("tenant") == "t8") & (col("user.id") == 2)),
    (col("fine") == TABLE["fine"][500]) & (col("user.name") == ROW["user"]["name"]),
    (col("tenant") == "nobody") & (col("user.id") == USER),
]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard:
    return amudai.write(TABLE, tmp_path_factory.mktemp("plain") / "plain.amudai.shard")


@pytest.mark.parametrize("level", ["shard", "stripe"])
def test_answers_are_those_of_the_values(plain: amudai.Shard, tmp_path: Path, level: str) -> None:
    indexes = [HashIndex(*KEYS, level=level)]
    shard = amudai.write(TABLE, tmp_path / "a.amudai.shard", stripe_rows=500, indexes=indexes)
    assert shard.indexes[0].fields == ("tenant + user.id", "price + ratio + tenant", "tenant", "fine + user.name")
    for ask in ASKED:
        expected = plain.scan(where=ask).positions().tolist()
        assert shard.scan(where=ask).positions().tolist() == expected
        assert expected or ask is ASKED[-1]
    assert shard.verify(deep=True).ok


def test_a_conjunction_is_looked_up_at_once(tmp_path: Path) -> None:
    shard = amudai.write(TABLE, tmp_path / "a.amudai.shard", indexes=[HashIndex(("tenant", "user.id"))])
    scan = shard.scan(where=ASKED[1])
    found = scan.count()
    (note,) = (each for leaf in scan.explain().leaves for each in leaf.notes if "several" in each.evidence)
    assert note.evidence == "hash index, several columns"
    assert note.ruled_out > ROWS - 20
    assert 0 < found < 20
    (alone,) = shard.scan(where=col("tenant") == TENANT).explain().leaves
    assert all("several" not in note.evidence for note in alone.notes)


@pytest.mark.slow
def test_edits_keep_composite_keys(plain: amudai.Shard, tmp_path: Path) -> None:
    shard = amudai.write(TABLE, tmp_path / "a.amudai.shard", indexes=[HashIndex(*KEYS)])
    renamed = amudai.rename_columns(shard, {"tenant": "customer"}, tmp_path / "renamed.amudai.shard")
    ask = (col("customer") == TENANT) & (col("user.id") == USER)
    expected = plain.scan(where=ASKED[0]).positions().tolist()
    assert renamed.scan(where=ask).positions().tolist() == expected
    assert "several columns" in str(renamed.scan(where=ask).explain())
    dropped = amudai.drop_columns(shard, ["price"], tmp_path / "dropped.amudai.shard")
    assert dropped.indexes[0].fields == ("tenant + user.id", "tenant", "fine + user.name")
    assert dropped.scan(where=ASKED[0]).positions().tolist() == expected
    for how in ("merge", "keep", "rebuild"):
        merged = amudai.merge([shard, shard], tmp_path / f"{how}.amudai.shard", indexes=how)
        found = merged.scan(where=ASKED[0])
        assert found.positions().tolist() == [*expected, *(at + ROWS for at in expected)]
        assert "several columns" in str(found.explain())
        assert merged.verify(deep=True).ok
    less = amudai.delete(shard, where=col("ratio") == 0.25, to=tmp_path / "less.amudai.shard")
    compacted = amudai.compact(less, tmp_path / "compact.amudai.shard")
    for ask in ASKED:
        assert compacted.count(ask) == plain.count(ask & (col("ratio") != 0.25))
    copied = amudai.copy(compacted, tmp_path / "copied.amudai.shard")
    assert copied.indexes[0].fields == shard.indexes[0].fields
    amudai.salvage(shard, tmp_path / "salvaged.amudai.shard")
    salvaged = amudai.open(tmp_path / "salvaged.amudai.shard")
    assert salvaged.scan(where=ASKED[0]).positions().tolist() == expected


def test_attached_files_have_composite_keys(plain: amudai.Shard, tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet", row_group_size=300)
    indexes = [HashIndex(("tenant", "user.id"))]
    shard = amudai.attach(tmp_path / "t.parquet", to=tmp_path / "t.amudai.shard", indexes=indexes)
    again = amudai.refresh(shard, to=tmp_path / "again.amudai.shard")
    for made in (shard, again):
        assert made.scan(where=ASKED[0]).positions().tolist() == plain.scan(where=ASKED[0]).positions().tolist()
        assert "several columns" in str(made.scan(where=ASKED[0]).explain())
        assert made.verify(deep=True).ok


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([("tenant", "tags")], "expected one value for each row"),
        ([("tenant", "tenant")], "expected each field once"),
        ([("tenant",), "tenant"], "expected each field once"),
        ([()], "expected paths of fields"),
        ([("tenant", 3)], "expected paths of fields"),
        ([["tenant", "price"]], "expected paths of fields"),
        ([("tenant", "nobody")], "nobody"),
    ],
)
def test_keys_that_cannot_be(tmp_path: Path, keys: Any, message: str) -> None:
    with pytest.raises(AmudaiError, match=message):
        amudai.write(TABLE, tmp_path / "a.amudai.shard", indexes=[HashIndex(*keys)])
