"""Many keys at once: every key gets the positions of its value, with a hash index and without."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai import HashIndex, InvalidArgument, col

ROWS = 1000
START = datetime(2026, 1, 1, tzinfo=UTC)
NUMBERS = [at * 7919 % 300 for at in range(ROWS)]
TABLE = pa.table(
    {
        "name": [None if at % 50 == 0 else f"n{at}" for at in NUMBERS],
        "id": pa.array(NUMBERS, pa.int32()),
        "ratio": pa.array([-0.0 if at == 0 else math.nan if at == 7 else at / 2 for at in NUMBERS], pa.float64()),
        "small": pa.array([at / 2 for at in NUMBERS], pa.float16()),
        "flag": [at % 3 == 0 for at in NUMBERS],
        "price": pa.array([Decimal(at) / 4 for at in NUMBERS], pa.decimal128(10, 2)),
        "long": pa.array([Decimal(at) / 4 for at in NUMBERS], pa.decimal128(38, 2)),
        "at": pa.array([START + timedelta(seconds=at) for at in NUMBERS], pa.timestamp("us", "UTC")),
        "fine": pa.array([1_700_000_000_000_000_000 + 37 * at for at in NUMBERS], pa.timestamp("ns")),
        "guid": pa.array([bytes([at % 256] * 16) for at in NUMBERS], pa.uuid()),
        "coded": pa.array([f"c{at % 9}" for at in NUMBERS]).dictionary_encode(),
        "user": [None if at % 11 == 0 else {"id": at} for at in NUMBERS],
    }
)
COLUMNS = ["name", "id", "ratio", "small", "flag", "price", "long", "at", "fine", "guid", "coded", "user.id"]


@pytest.fixture(scope="module", params=["none", "shard", "stripe", "mixed"])
def shard(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard:
    folder = tmp_path_factory.mktemp(request.param)
    level = {"none": None, "shard": "shard", "stripe": "stripe", "mixed": "shard"}[request.param]
    indexes = [] if level is None else [HashIndex(*COLUMNS, level=level)]
    made = amudai.write(TABLE, folder / "a.amudai.shard", stripe_rows=400, indexes=indexes)
    if request.param == "mixed":
        other = amudai.write(TABLE[:0], folder / "b.amudai.shard")
        made = amudai.merge([made, other], folder / "c.amudai.shard", indexes="keep")
    return amudai.delete(made, where=col("id") == 13, to=folder / "d.amudai.shard")


def values_of(path: str) -> list[Any]:
    top, *rest = path.split(".")
    found = TABLE.column(top).to_pylist()
    return [None if each is None else each[rest[0]] for each in found] if rest else found


@pytest.mark.parametrize("path", COLUMNS)
@pytest.mark.parametrize("count", [3, 400])
def test_every_key_gets_its_positions(shard: amudai.Shard, path: str, count: int) -> None:
    values = values_of(path)
    kind = TABLE.schema.field(path.split(".")[0]).type
    kind = pa.int64() if path == "user.id" else kind.value_type if pa.types.is_dictionary(kind) else kind
    keys = [None, values[13], *(values[at * 37 % ROWS] for at in range(count - 2))]
    given = TABLE.column(path).combine_chunks() if path == "fine" else pa.array(keys, kind)
    if path == "fine":
        given = given.take(pa.array([None, 13, *(at * 37 % ROWS for at in range(count - 2))]))
        keys, values = given.cast(pa.int64()).to_pylist(), TABLE.column(path).cast(pa.int64()).to_pylist()
    expected: dict[Any, list[int]] = {}
    for at, value in enumerate(values):
        if value is not None and value == value and NUMBERS[at] != 13:
            expected.setdefault(value, []).append(at)
    found = shard.lookup(path, given)
    assert found.to_pylist() == [expected.get(key, []) if key is not None else [] for key in keys]
    again = shard.lookup(path, pa.chunked_array([given[:1], given[1:]]))
    assert again.equals(found)
    assert pa.types.is_uint64(found.type.value_type)


def test_keys_of_any_kind_of_sequence(shard: amudai.Shard) -> None:
    expected = [[at for at in range(ROWS) if NUMBERS[at] == 5], [], []]
    assert shard.lookup("id", [5, 5000, None]).to_pylist() == expected
    assert shard.lookup("id", np.array([5, 5000])).to_pylist() == expected[:2]
    assert shard.lookup("id", ()).to_pylist() == []
    zeros = [at for at in range(ROWS) if NUMBERS[at] == 0]
    assert shard.lookup("ratio", [0.0, -0.0, math.nan]).to_pylist() == [zeros, zeros, []]


@pytest.mark.parametrize(
    ("column", "keys", "message"),
    [
        ("id", ["x"], "keys: expected values of int32"),
        ("id", [2**40], "keys: expected values of int32"),
        ("id", "x", "keys: expected a list of values of 'id'"),
        ("user", [1], "expected one value for each row"),
    ],
)
def test_what_cannot_be_looked_up(shard: amudai.Shard, column: str, keys: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        shard.lookup(column, keys)


def test_keys_that_no_row_has(shard: amudai.Shard) -> None:
    assert shard.lookup("id", [1000, -1, None]).to_pylist() == [[], [], []]
    assert shard.lookup("name", []).to_pylist() == []
    assert shard.lookup("id", [13]).to_pylist() == [[]], "deleted rows"


def test_hash_indexes_cover_keys_and_values_of_maps(tmp_path: Path) -> None:
    labels = [None if at % 9 == 0 else [(f"k{at % 7}", at % 40), ("all", at % 3)] for at in range(ROWS)]
    table = pa.table({"labels": pa.array(labels, pa.map_(pa.string(), pa.int64()))})
    indexes = [HashIndex("labels.key", "labels.value")]
    plain = amudai.write(table, tmp_path / "plain.amudai.shard")
    shard = amudai.write(table, tmp_path / "m.amudai.shard", indexes=indexes, stripe_rows=300)
    assert shard.indexes[0].fields == ("labels.key", "labels.value")
    both = amudai.merge([shard, shard], tmp_path / "both.amudai.shard")
    compacted = amudai.compact(both, tmp_path / "compact.amudai.shard")
    for ask in (col("labels.key") == "k3", col("labels.value") == 39, col("labels.value") == 99):
        expected = plain.scan(where=ask).positions().tolist()
        assert shard.scan(where=ask).positions().tolist() == expected
        for made in (both, compacted):
            assert made.scan(where=ask).count() == 2 * len(expected)
        (leaf,) = shard.scan(where=ask).explain().leaves
        assert "hash index" in {note.evidence for note in leaf.notes} or not expected
    assert all(made.verify(deep=True).ok for made in (shard, both, compacted))


def test_keys_that_a_hash_index_does_not_have(tmp_path: Path) -> None:
    indexes = [amudai.HashIndex("n")]
    shard = amudai.write({"n": [1, 2, 4]}, tmp_path / "n.amudai.shard", indexes=indexes)
    assert shard.lookup("n", [3]).to_pylist() == [[]]
    assert shard.lookup("n", [3, 9, None]).to_pylist() == [[], [], []]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_both_zeros_are_one_key(tmp_path: Path, kind: pa.DataType) -> None:
    values = pa.array(np.array([0.0, -0.0, 1.0, 2.0], kind.to_pandas_dtype()))
    shard = amudai.write(pa.table({"x": values}), tmp_path / "x.amudai.shard", indexes=[amudai.HashIndex("x")])
    assert shard.lookup("x", values[:3]).to_pylist() == [[0, 1], [0, 1], [2]]
    assert shard.lookup("x", values[1:2]).to_pylist() == [[0, 1]]
