"""The values of a column, and of what lies below it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai
from tests.fixtures.make_sample import SAMPLE, rows

TABLE = pa.table(
    {
        "n": pa.array([1, None, 3, 4], pa.int32()),
        "s": pa.array([{"a": 1, "b": {"c": "x"}}, None, {"a": None, "b": None}, {"a": 4, "b": {"c": None}}]),
        "l": pa.array([[1, 2], None, [], [None, 5]], pa.list_(pa.int64())),
        "large": pa.array([["a"], None, [], ["b", None]], pa.large_list(pa.string())),
        "view": pa.array([[1, 2], None, [], [3]], pa.list_view(pa.int64())),
        "fixed": pa.array([[1, 2], [3, None], [5, 6], [7, 8]], pa.list_(pa.int64(), 2)),
        "m": pa.array([[("k", 1)], None, [], [("l", None), ("m", 3)]], pa.map_(pa.string(), pa.int64())),
        "deep": pa.array([[{"x": [1, 2]}, {"x": None}], None, [None], [{"x": [3]}]]),
    }
)
BELOW: dict[str, list[Any]] = {
    "n": [1, None, 3, 4],
    "s.a": [1, None, None, 4],
    "s.b": [{"c": "x"}, None, None, {"c": None}],
    "s.b.c": ["x", None, None, None],
    "l": [[1, 2], None, [], [None, 5]],
    "l.item": [1, 2, None, 5],
    "large.item": ["a", "b", None],
    "view.item": [1, 2, 3],
    "fixed.item": [1, 2, 3, None, 5, 6, 7, 8],
    "m.key": ["k", "l", "m"],
    "m.value": [1, None, 3],
    "deep.x": [[1, 2], None, None, [3]],
    "deep.x.item": [1, 2, 3],
}


@pytest.fixture(scope="module", params=[None, 1, 3])
def shard(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard:
    return amudai.write(TABLE, tmp_path_factory.mktemp("field") / "t.amudai.shard", stripe_rows=request.param)


@pytest.mark.parametrize("path", BELOW)
def test_a_field_gives_its_values(shard: amudai.Shard, path: str) -> None:
    field = shard[path]
    found = field.read()
    assert found.type == field.type
    assert found.to_pylist() == BELOW[path]
    assert field.stats.count == len(found)
    table = field.to_table()
    assert (table.column_names, table.column(0)) == ([field.path], found)
    for size in (None, 1, 3):
        reader = field.to_reader(batch_rows=size)
        assert reader.schema == table.schema
        assert reader.read_all()[0].to_pylist() == BELOW[path]


def test_rows_are_those_of_the_shard(shard: amudai.Shard) -> None:
    assert shard["n"].read(slice(1, 3)).to_pylist() == [None, 3]
    assert shard["s.a"].read(range(3, 4)).to_pylist() == [4]
    assert shard["l.item"].read(slice(1, None)).to_pylist() == [None, 5]
    assert shard["m.key"].read(slice(3, None)).to_pylist() == ["l", "m"]
    assert shard["fixed.item"].read(slice(1, 2)).to_pylist() == [3, None]
    assert shard["l.item"].to_reader(slice(0, 1)).read_all()[0].to_pylist() == [1, 2]
    nothing = shard["deep.x"].read(slice(0, 0))
    assert (nothing.to_pylist(), nothing.type) == ([], pa.list_(pa.int64()))
    with pytest.raises(amudai.InvalidArgument, match="rows: expected"):
        shard["n"].read(slice(0, 4, 2))
    with pytest.raises(amudai.InvalidArgument, match="batch_rows: expected at least 1"):
        shard["n"].to_reader(batch_rows=0)


def test_children_have_their_own_fields(shard: amudai.Shard) -> None:
    assert [field.path for field in shard.columns] == TABLE.column_names
    assert [field.path for field in shard["s"].children] == ["s.a", "s.b"]
    assert [field.path for field in shard["m"].children] == ["m.key", "m.value"]
    assert shard["n"].children == ()
    assert shard["s"].children[1].children[0].read().to_pylist() == BELOW["s.b.c"]
    with pytest.raises(TypeError):
        iter(shard["s"])  # type: ignore[call-overload]


def test_arrow_takes_the_values(shard: amudai.Shard) -> None:
    assert pa.chunked_array(shard["s.a"]).to_pylist() == BELOW["s.a"]
    assert shard["n"].to_polars().to_list() == BELOW["n"]
    assert shard["n"].to_pandas(integer_object_nulls=True).tolist() == BELOW["n"]


def test_a_member_below_a_struct_that_was_read_before() -> None:
    with amudai.open(SAMPLE) as shard:
        assert shard["http"].read().to_pylist() == [row["http"] for row in rows()]
        assert shard["http.path"].read().to_pylist() == [row["http"] and row["http"]["path"] for row in rows()]


def test_variants_of_unions(tmp_path: Path) -> None:
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])], ["i", "t"])
    shard = amudai.write(pa.table({"u": union}), tmp_path / "u.amudai.shard")
    assert shard["u"].read().to_pylist() == [1, "b"]
    assert [child.read().to_pylist() for child in shard["u"].children] == [[1, None], [None, "b"]]


@pytest.mark.slow
def test_only_the_members_on_the_way_are_read(tmp_path: Path) -> None:
    wide = {"s": [{f"m{at}": "x" * 1000 * (at + 1) for at in range(20)} for _ in range(200)]}
    amudai.write(wide, tmp_path / "w.amudai.shard", profile="plain")
    shard = amudai.open(tmp_path / "w.amudai.shard")
    before = shard.requests.bytes
    assert shard["s.m3"].read().to_pylist() == ["xxxx" * 1000] * 200
    assert shard.requests.bytes - before < shard.size / 2
