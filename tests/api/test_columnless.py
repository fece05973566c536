"""Rows of which no column is asked for, or that have none: their number stays."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import amudai
from amudai.storage import MemoryStore


@pytest.fixture(scope="module", params=["shard", "dataset"])
def rows(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    folder: Path = tmp_path_factory.mktemp("lake")
    if request.param == "shard":
        yield amudai.write({"a": list(range(6))}, folder / "all.amudai.shard")
        return
    for low in (0, 3):
        amudai.write({"a": list(range(low, low + 3))}, folder / f"{low}.amudai.shard")
    yield amudai.dataset(folder)


def test_reading_no_columns_keeps_the_number_of_rows(rows: amudai.Shard | amudai.Dataset) -> None:
    assert rows.read([]).num_rows == 6
    assert rows.scan([]).to_table().num_rows == 6
    assert sum(batch.num_rows for batch in rows.scan([])) == 6
    assert rows.scan([]).to_reader().read_all().num_rows == 6
    assert rows.scan([], where="a >= 2").to_table().num_rows == 4
    assert rows.scan([], where="a >= 2", limit=3).to_table().num_rows == 3
    assert rows.scan([], where="a > 9").to_table().num_rows == 0
    if isinstance(rows, amudai.Shard):
        assert rows.read([], rows=slice(1, 3)).num_rows == 2
    assert (rows.head(4, []).num_rows, rows.tail(4, []).num_rows, rows.sample(4, []).num_rows) == (4, 4, 4)
    assert rows.read([]).schema.names == []


def test_taking_no_columns_keeps_the_number_of_rows(rows: amudai.Shard | amudai.Dataset) -> None:
    if isinstance(rows, amudai.Shard):
        assert rows.take([1, 5], []).num_rows == 2
        assert rows.take([5, 1, 5], []).num_rows == 3
    else:
        pairs = [("3.amudai.shard", 1), ("0.amudai.shard", 2), ("3.amudai.shard", 1)]
        assert rows.take(pairs, []).num_rows == 3


def test_a_shard_without_columns_has_rows() -> None:
    store = MemoryStore()
    empty = pa.Table.from_struct_array(pa.StructArray.from_buffers(pa.struct([]), 5, [None]))
    written = amudai.write(empty, "x.amudai.shard", store=store)
    assert written.num_rows == written.read().num_rows == written.scan().to_table().num_rows == 5
    assert written.take([4, 0, 4]).num_rows == 3
