"""Appending to a shard: the new rows are stored as the old ones are."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import obstore.store
import pyarrow as pa
import pytest

import amudai

ROWS = pa.table(
    {
        "t": pa.array([1, 2], pa.int64()).cast(pa.timestamp("ns")),
        "d": pa.array([Decimal("1.20"), None], pa.decimal128(10, 2)),
        "x": [1, 2],
    }
)


def test_times_decimals_and_extension_types(tmp_path: Path) -> None:
    path = tmp_path / "a.amudai.shard"
    options = {"extensions": {"x": "Thing"}, "aliases": {"x": ["ecks"]}}
    amudai.write(ROWS, path, timestamps="int64", decimals="int64", **options)  # type: ignore[arg-type]
    amudai.append(path, ROWS)
    amudai.append(path, {"t": ROWS["t"], "more": ["a", "b"]})
    found = amudai.append(path, iter(ROWS.to_batches()))
    assert isinstance(found, amudai.Shard)
    assert found.read(["t", "d", "x"]) == pa.concat_tables(
        [ROWS, ROWS, ROWS.select(["t"]), ROWS], promote_options="default"
    )
    extension = found["x"].extension
    assert extension is not None
    assert (extension.label, found["x"].aliases, found["t"].stored_type) == ("Thing", ("ecks",), "int64")


def test_times_in_an_object_store() -> None:
    store = obstore.store.MemoryStore()
    amudai.write(ROWS, "x/a.amudai.shard", store=store, timestamps="int64")
    assert amudai.append("x/a.amudai.shard", ROWS, store=store).read() == pa.concat_tables([ROWS, ROWS])


def test_an_iterator_that_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.amudai.shard"
    amudai.write(ROWS, path)

    def batches() -> Iterator[pa.RecordBatch]:
        yield ROWS.to_batches()[0]
        raise ZeroDivisionError("of the caller")

    with pytest.raises(ZeroDivisionError, match="of the caller"):
        amudai.append(path, batches())
    assert amudai.open(path).read() == ROWS
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
