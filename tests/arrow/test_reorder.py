"""Rows at other positions, of arrays of every type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai.arrow import nulls, reordered, taken, variant_values, without_rows
from tests.effort import examples
from tests.writing.arrays import Maker, kinds, plain

VIEWS = pa.dense_union([pa.field("n", pa.int64()), pa.field("t", pa.string_view())])
RUNS = pa.struct([pa.field("r", pa.run_end_encoded(pa.int32(), pa.string()))])


def column(kind: pa.DataType) -> tuple[pa.Array, list[Any]]:
    """Values of a type that Arrow cannot take from, and the same in Python."""
    texts: list[Any] = [f"text {row // 20}, long enough for no view" if row % 5 else "short" for row in range(60)]
    if kind is VIEWS:
        codes = pa.array([row % 2 for row in range(60)], pa.int8())
        places = pa.array([row // 2 for row in range(60)], pa.int32())
        variants = [pa.array(range(30)), pa.array(texts[:30], pa.string_view())]
        values: list[Any] = [row // 2 if row % 2 == 0 else texts[row // 2] for row in range(60)]
        return pa.UnionArray.from_dense(codes, places, variants, ["n", "t"]), values
    if kind is RUNS:
        runs = pa.RunEndEncodedArray.from_arrays(pa.array([23, 35, 60], pa.int32()), pa.array(["a", None, "lost"]))
        return pa.StructArray.from_arrays([runs], ["r"]), [{"r": "a"}] * 23 + [{"r": None}] * 12 + [{"r": "lost"}] * 25
    return pa.array(texts, kind), texts


@examples(300)
@given(kind=kinds, seed=st.integers(0, 2**32), places=st.lists(st.none() | st.integers(0, 19), max_size=30))
def test_every_type(kind: pa.DataType, seed: int, places: list[int | None]) -> None:
    array = Maker(seed).array(kind, 25)[3:23]
    if pa.types.is_union(kind):
        places = [place or 0 for place in places]
    found = taken(array, pa.array(places, pa.int64()))
    found.validate()
    values = plain(array)
    assert found.type == kind
    assert plain(found) == [None if place is None else values[place] for place in places]
    again = reordered(pa.table({"x": pa.chunked_array([array[:9], array[9:]])}), pa.array(range(19, -1, -1)))
    assert [value for chunk in again["x"].chunks for value in plain(chunk)] == values[::-1]


@pytest.mark.parametrize("kind", [VIEWS, RUNS, pa.string_view(), pa.list_(pa.string_view(), 1)], ids=str)
def test_no_rows_at_all(kind: pa.DataType) -> None:
    found = without_rows(pa.schema([("x", kind)]))
    assert found.num_rows == 0
    assert found.schema.field("x").type == kind
    lost = reordered(found, pa.array([None, None], pa.int64()))
    lost.validate(full=True)
    assert str(lost["x"].to_pylist()).count("None") == 2


@pytest.mark.parametrize("kind", [VIEWS, RUNS, pa.string_view()], ids=["union", "runs", "views"])
def test_shards_of_types_that_arrow_cannot_take_from(kind: pa.DataType, tmp_path: Path) -> None:
    array, values = column(kind)
    table = pa.table({"x": array, "part": pa.array([row % 3 for row in range(60)]), "n": pa.array(range(60))})
    lake = amudai.write_dataset(table, tmp_path / "lake", partition_by=["part"])
    found = lake.read(["x", "n"])
    assert dict(zip(found["n"].to_pylist(), found["x"].to_pylist(), strict=True)) == dict(enumerate(values))
    assert lake.read(where="n < 0").schema.field("x").type == array.type
    assert lake.take([(lake.shards[0], 3), (lake.shards[1], 0)], ["x"])["x"].to_pylist() == [values[9], values[1]]
    shard = amudai.write(table, tmp_path / "all.amudai.shard", stripe_rows=20)
    backwards = amudai.compact(shard, tmp_path / "back.amudai.shard", sort_by=("n", "descending"))
    assert backwards.read()["x"].to_pylist() == values[::-1]
    assert shard.count("x is null") == 0


@pytest.mark.parametrize("kind", [RUNS, pa.string_view()], ids=["runs", "views"])
def test_salvage_puts_nulls_in_place_of_lost_values(kind: pa.DataType, tmp_path: Path) -> None:
    array, values = column(kind)
    amudai.write({"x": array, "n": np.arange(60)}, tmp_path / "a.amudai.shard", stripe_rows=20, profile="plain")
    content = bytearray((tmp_path / "a.amudai.shard").read_bytes())
    content[content.index(b"lost" if kind is RUNS else values[33].encode())] ^= 1
    (tmp_path / "b.amudai.shard").write_bytes(content)
    saved = amudai.salvage(tmp_path / "b.amudai.shard", tmp_path / "c.amudai.shard", missing="null")
    found = saved.shard.read()
    assert found["n"].to_pylist() == list(range(60))
    assert found.schema.field("x").type == array.type
    assert found["x"].to_pylist()[:20] + found["x"].to_pylist()[40:] == values[:20] + values[40:]
    assert set(map(str, found["x"].to_pylist()[20:40])) == {"None"}


@pytest.mark.parametrize("mode", ["dense", "sparse"])
def test_a_slice_of_a_union(mode: str) -> None:
    """Arrow gives the type codes and offsets of the whole array for a slice of it."""
    codes, texts, numbers = pa.array([0, 1, 0, 1], pa.int8()), ["a", "b", "c", "d"], [0, 1, 2, 3]
    if mode == "dense":
        places = pa.array([0, 0, 1, 1], pa.int32())
        union = pa.UnionArray.from_dense(codes, places, [pa.array(["a", "c"]), pa.array([1, 3])], ["t", "n"])
    else:
        union = pa.UnionArray.from_sparse(codes, [pa.array(texts), pa.array(numbers)], ["t", "n"])
    part = union[1:]
    assert taken(part, pa.array([2, 0, 1])).to_pylist() == [3, 1, "c"]
    assert variant_values(part, 0).to_pylist() == [None, "c", None]
    assert variant_values(part, 1).to_pylist() == [1, None, 3]


@examples(200)
@given(kind=kinds, count=st.integers(0, 3))
def test_nulls_of_every_type(kind: pa.DataType, count: int) -> None:
    found = nulls(kind, count)
    found.validate(full=True)
    assert (found.type, len(found)) == (kind, count)
    if not pa.types.is_union(kind) and not pa.types.is_run_end_encoded(kind):
        assert found.null_count == count


@pytest.mark.parametrize(
    "kind", [pa.list_(RUNS), pa.large_list_view(RUNS), pa.map_(pa.int8(), RUNS), RUNS.field(0).type]
)
def test_nulls_around_runs(kind: pa.DataType) -> None:
    for count in (0, 2):
        found = nulls(kind, count)
        found.validate(full=True)
        assert found.to_pylist() == [None] * count
