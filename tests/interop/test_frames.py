"""Polars and pandas over shards."""

from __future__ import annotations

import datetime as dt
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai
from tests.effort import scaled
from tests.interop import tables

TABLE = tables.logs()


OLDER = "older polars"  # without readers of other packages


@pytest.fixture(scope="module", params=["shard", "dataset", OLDER])
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("frames")
    return tables.lake_of(TABLE, folder) if request.param == "dataset" else tables.shard_of(TABLE, folder)


@pytest.fixture(autouse=True)
def _interface(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if OLDER in request.node.name:
        monkeypatch.setattr("amudai.interop.polars_reader.fits", lambda: False)


# ---- pandas ----


def test_pandas_reads_and_writes(source: Any, tmp_path: Path) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = amudai.read_pandas(source, ["id", "message"], "status = 503")
    assert frame["id"].tolist() == source.read(["id"], "status = 503")["id"].to_pylist()
    shard = frame.amudai.write(tmp_path / "f.amudai.shard", indexes=[amudai.TermIndex("message")])
    assert shard.read(["id"])["id"].to_pylist() == frame["id"].tolist()
    assert amudai.read_pandas(tmp_path / "f.amudai.shard").shape == frame.shape
    assert amudai.read_pandas(str(tmp_path) + "/").shape == frame.shape
    named = frame.set_index("id")
    assert named.amudai.write(tmp_path / "n.amudai.shard").schema.names == ["message", "id"]


# ---- polars ----

pl = pytest.importorskip("polars", reason="polars is not installed: pip install 'amudai[polars]'")


def same(left: Any, right: Any) -> bool:
    return bool(left.equals(right, null_equal=True))


def predicates() -> dict[str, Any]:
    c = pl.col
    amudai.scan_polars  # noqa: B018 - the namespace is installed by the first scan
    return {
        "equal": c("status") == 503,
        "turned": pl.lit(500) <= c("status"),
        "not": ~(c("status") > 404),
        "nan": c("ms") > 1,
        "nan2": ~(c("ms") <= 1),
        "floats": c("ms") == 0.0,
        "null": c("message").is_null() | (c("level") == "warn"),
        "bool": c("ok") & ~(c("level") == "info"),
        "in": c("status").is_in([500, 503]) | c("level").is_in(["warn"]),
        "not in": ~c("status").is_in([500, 503]),
        "times": c("ts").is_in([dt.datetime(2026, 1, 1, 1), dt.datetime(2026, 1, 1, 2)]),
        "between": c("ts").is_between(dt.datetime(2026, 1, 1, 1), dt.datetime(2026, 1, 1, 2), closed="right"),
        "contains": c("message").str.contains("timeout", literal=True) & c("message").str.contains("re.ry"),
        "starts": c("message").str.starts_with("timeout") | c("message").str.ends_with("retry"),
        "any": c("message").str.contains_any(["retry", "50%"]),
        "struct": c("http").struct.field("code") == 3,
        "unknown": (c("message").str.len_chars() > 12) & (c("status") == 200),
        "or unknown": (c("message").str.len_chars() > 12) | (c("status") == 200),
        "arithmetic": c("id") + 1 < 20,
    }


@pytest.mark.parametrize("name", predicates())
def test_polars_finds_what_it_finds_in_memory(source: Any, name: str) -> None:
    predicate, frame = predicates()[name], pl.from_arrow(TABLE)
    lazy = amudai.scan_polars(source)
    assert same(lazy.filter(predicate).collect(), frame.filter(predicate))
    assert same(lazy.filter(predicate).select("id").head(3).collect(), frame.filter(predicate).select("id").head(3))
    assert same(lazy.head(90).filter(predicate).select("id").collect(), frame.head(90).filter(predicate).select("id"))
    assert lazy.filter(predicate).select(pl.len()).collect().item() == frame.filter(predicate).height


def test_polars_knows_our_operators(source: Any) -> None:
    lazy, frame = amudai.scan_polars(source), pl.from_arrow(TABLE)
    for name, words in [("has", "timeout"), ("hasprefix_cs", "Tim"), ("has_any", ["kelvin", "retry"])]:
        expected = source.read(["id"], getattr(amudai.col("message"), name)(words))["id"].to_pylist()
        asked = getattr(pl.col("message").amudai, name)(words)
        assert expected
        assert lazy.filter(asked).select("id").collect()["id"].to_list() == expected
        assert frame.filter(asked)["id"].to_list() == expected
        assert lazy.filter(~asked).select(pl.len()).collect().item() == frame.filter(~asked).height
    assert frame.select(pl.col("message").amudai.has("timeout"))["message"].null_count() == TABLE["message"].null_count
    with pytest.raises(amudai.InvalidArgument):
        pl.col("message").amudai.has(5)


def test_polars_slices_and_projects(source: Any) -> None:
    lazy, frame = amudai.scan_polars(source), pl.from_arrow(TABLE)
    assert lazy.collect_schema() == frame.schema
    assert same(lazy.collect(), frame)
    assert same(lazy.slice(100, 50).collect(), frame.slice(100, 50))
    assert same(lazy.tail(5).select("id").collect(), frame.tail(5).select("id"))
    assert lazy.select(pl.len()).collect().item() == 300
    assert same(
        lazy.filter(pl.col("status") == 200).select("id", "level").collect(engine="streaming").sort("id"),
        frame.filter(pl.col("status") == 200).select("id", "level"),
    )


def test_polars_of_a_shard_with_deleted_rows(tmp_path: Path) -> None:
    shard = tables.shard_of(TABLE, tmp_path)
    left = amudai.delete(shard, where="id < 10", to=tmp_path / "left.amudai.shard")
    lazy = amudai.scan_polars(left)
    frame = pl.from_arrow(TABLE.slice(10))
    found = lazy.head(20).filter(pl.col("id") > 15).select("id").collect()
    assert same(found, frame.head(20).filter(pl.col("id") > 15).select("id"))


@pytest.mark.slow
def test_generated_predicates_of_polars(source: Any) -> None:
    chance = random.Random(5)
    leaves = list(predicates().values())
    lazy, frame = amudai.scan_polars(source), pl.from_arrow(TABLE)
    for _ in range(scaled(20)):
        one, other = chance.sample(leaves, 2)
        both = chance.choice([one & other, one | other, ~(one & other), ~(one | other), ~one | other])
        assert same(lazy.filter(both).select("id").collect(), frame.filter(both).select("id")), str(both)


def test_predicates_are_pushed_down(source: Any) -> None:
    from amudai.interop.polars_reader import pushed

    asked = {name: pushed(predicate, source) for name, predicate in predicates().items()}
    assert {name for name, found in asked.items() if found is None} == {"nan", "or unknown", "arithmetic"}
    assert str(asked["unknown"]) == 'col("status") == 200'


# A query, and what the reader is asked for: columns, the predicate, the first row and the number of rows.
QUERIES: dict[str, tuple[Callable[[Any], Any], tuple[list[str], str, Any]]] = {
    "conjuncts": (
        lambda lazy: lazy.filter(pl.col("status") == 500, pl.col("message").str.contains("re.ry")).select("id"),
        (["id", "status", "message"], 'col("message").matches("re.ry") & (col("status") == 500)', None),
    ),
    "one of two": (
        lambda lazy: lazy.filter((pl.col("status") == 500) & (pl.col("id") % 2 == 0)).select("id"),
        (["id", "status"], 'col("status") == 500', None),
    ),
    "slice": (lambda lazy: lazy.slice(100, 50).select("id"), (["id"], "None", (100, 50))),
    "last rows": (lambda lazy: lazy.tail(7).select("id"), (["id"], "None", (-7, 7))),
    "before all rows": (lambda lazy: lazy.slice(-400, 150).select("id"), (["id"], "None", (-400, 150))),
    "filter of a slice": (
        lambda lazy: lazy.head(90).filter(pl.col("status") == 500).select("id"),
        (["id", "status"], 'col("status") == 500', (0, 90)),
    ),
    "count": (lambda lazy: lazy.select(pl.len()), ([], "None", None)),
}


@pytest.mark.parametrize("name", QUERIES)
def test_what_reaches_the_reader_of_polars(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from amudai.interop import polars_reader

    query, (columns, where, part) = QUERIES[name]
    asked: list[Any] = []
    read = polars_reader.frames_of
    monkeypatch.setattr(polars_reader, "frames_of", lambda *each: asked.append(each) or read(*each))
    lazy = amudai.scan_polars(tables.shard_of(TABLE, tmp_path))
    assert same(query(lazy).collect(), query(pl.from_arrow(TABLE).lazy()).collect())
    [(_, found, predicate, rows)] = asked
    assert (set(found), str(predicate), rows) == (set(columns), where, part)


def test_lazy_frames_travel_and_keep_our_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shard = tables.shard_of(TABLE, tmp_path)
    lazy = amudai.scan_polars(shard).filter(pl.col("status") == 500)
    assert "amudai" in lazy.explain()
    again = pl.LazyFrame.deserialize(io.BytesIO(lazy.serialize()))
    assert same(again.collect(), lazy.collect())

    def refuse(*_: object, **__: object) -> None:
        raise amudai.CorruptedData("block 7")

    monkeypatch.setattr(amudai.Shard, "scan", refuse)
    with pytest.raises(amudai.CorruptedData, match="block 7"):
        amudai.scan_polars(shard).collect()


def test_another_interface_of_polars_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from amudai.interop import polars_reader

    assert polars_reader.fits()

    def collect_batches(self: object, *, columns: object, predicate: object) -> None: ...

    monkeypatch.setattr(polars_reader.FileReader, "collect_batches", collect_batches)
    assert not polars_reader.fits()
    lazy = amudai.scan_polars(tables.shard_of(TABLE, tmp_path))
    assert same(lazy.tail(3).collect(), pl.from_arrow(TABLE).tail(3))
    monkeypatch.setattr(polars_reader, "FileReader", object)
    assert not polars_reader.fits()


def test_digits_of_times_are_kept(tmp_path: Path) -> None:
    times = pa.table({"t": pa.array([1_000, 1_001, 1_999, None], pa.timestamp("ns"))})
    lazy = amudai.scan_polars(amudai.write(times, tmp_path / "t.amudai.shard"))
    some = pl.from_arrow(times)[1:3]
    assert same(lazy.filter(pl.col("t").is_in(pl.lit(some["t"].implode()))).collect(), some)
