"""Shards and datasets as datasets of pyarrow: exact filters, and every inherited method."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

import amudai
from amudai.api import ArrowDataset
from tests.interop import tables

TABLE = tables.logs()
PLAIN = ds.dataset(TABLE)
F = pc.field
FILTERS = [
    F("status") >= 500,
    F("status") + 1 == 504,
    (F("status") + 1 == 504) & (F("level") == "warn"),
    (F("status") + 1 == 504) | (F("level") == "warn"),
    ~(F("status") == 500),
    F("status") < 500.5,
    F("ms") > 0,
    F("ms") == 0.0,
    ~(F("ms") > 1),
    F("ms").is_nan(),
    F("ok"),
    ~F("ok"),
    F("status").isin([500, 503]),
    F("status").isin([500, None]),
    pc.if_else(F("status").is_valid(), F("status").isin([500, 503]), pa.scalar(None, pa.bool_())),
    ~pc.if_else(F("status").is_valid(), F("status").isin([500, 503]), pa.scalar(None, pa.bool_())),
    pc.if_else(F("level").is_valid(), F("status").isin([500, 503]), pa.scalar(None, pa.bool_())),
    F("message").is_null(),
    F("http", "code") == 3,
    F("ts") >= pa.scalar(tables.dt.datetime(2026, 1, 1, 3)),
    F("ts") > pa.scalar(tables.dt.datetime(2026, 1, 1, 3), pa.timestamp("ns")),
    pc.starts_with(F("message"), "timeout"),
    pc.match_substring(F("message"), "timeout", ignore_case=True),
    pc.match_substring_regex(F("message"), "t.meout"),
    pc.utf8_length(F("message")) > 10,
    pc.if_else(F("ok"), F("status") == 200, F("status") == 500),
    pc.scalar(True),
    pc.scalar(pa.scalar(None, pa.bool_())),
]


@pytest.fixture(scope="module", params=["shard", "dataset"])
def rows(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ArrowDataset:
    folder = tmp_path_factory.mktemp("rows")
    source = tables.shard_of(TABLE, folder) if request.param == "shard" else tables.lake_of(TABLE, folder)
    return source.to_pyarrow_dataset()


@pytest.mark.parametrize("expression", FILTERS, ids=str)
def test_a_filter_is_exact(rows: ArrowDataset, expression: pc.Expression) -> None:
    expected = PLAIN.to_table(columns=["id"], filter=expression)
    assert rows.to_table(columns=["id"], filter=expression).equals(expected)
    assert rows.count_rows(expression) == expected.num_rows
    whole = rows.to_table(filter=expression)
    assert whole.select(["id", "message"]).equals(PLAIN.to_table(columns=["id", "message"], filter=expression))


@pytest.mark.parametrize(("value", "count"), [(True, TABLE.num_rows), (False, 0), (None, 0)])
def test_a_filter_may_be_a_value(rows: ArrowDataset, value: bool | None, count: int) -> None:
    """DataFusion asks so for a condition that is the same for all rows."""
    assert rows.count_rows(pa.scalar(value, pa.bool_())) == count
    assert sum(part.count_rows(filter=pa.scalar(value, pa.bool_())) for part in rows.get_fragments()) == count
    datafusion = pytest.importorskip("datafusion")
    context = datafusion.SessionContext()
    context.register_dataset("logs", rows)
    stated = {True: "id >= 0", False: "id < 0", None: "level = NULL"}[value]
    assert context.sql(f"SELECT count(*) AS n FROM logs WHERE {stated}").to_pydict() == {"n": [count]}


def test_what_pyarrow_refuses_is_refused(rows: ArrowDataset) -> None:
    with pytest.raises(pa.ArrowException):
        rows.to_table(filter=F("status") == "text")
    with pytest.raises((pa.ArrowException, amudai.InvalidArgument)):
        rows.to_table(filter=F("nothing") == 1)
    with pytest.raises(amudai.InvalidArgument, match="columns: expected some of"):
        rows.to_table(columns=["nothing"])
    with pytest.raises(amudai.InvalidArgument, match="expected an expression"):
        rows.to_table(filter="status = 1")


def test_filters_are_pushed_down(rows: ArrowDataset) -> None:
    rows.to_table(columns=["id"], filter=(F("status") == 503) & (pc.utf8_length(F("message")) > 10))
    assert str(rows.scans[-1].explain()).startswith('col("status") == 503')
    assert rows.scans[-1].schema.names == ["id", "status", "message"]


def test_all_ways_to_read(rows: ArrowDataset) -> None:
    assert isinstance(rows, ds.Dataset)
    assert rows.schema.equals(TABLE.schema)
    assert repr(rows.to_table().to_pylist()) == repr(TABLE.to_pylist())  # as text, because NaN equals nothing
    assert pa.Table.from_batches(rows.to_batches(columns=["id"])).equals(TABLE.select(["id"]))
    assert rows.head(7, columns=["id"]).equals(TABLE.select(["id"]).slice(0, 7))
    assert rows.take([5, 3], columns=["id"])["id"].to_pylist() == [5, 3]
    assert rows.count_rows() == rows.scanner(columns=[]).to_reader().read_all().num_rows == 300
    projection = {"double": F("status") + F("status"), "id": F("id")}
    assert rows.to_table(columns=projection, filter=F("id") < 9).equals(
        PLAIN.to_table(columns=projection, filter=F("id") < 9)
    )
    parts = [part.to_table(columns=["id"], filter=F("status") == 500) for part in rows.get_fragments()]
    assert pa.concat_tables(parts).equals(PLAIN.to_table(columns=["id"], filter=F("status") == 500))
    assert pa.table(rows.scanner(columns=["id"])).num_rows == 300
    again = pickle.loads(pickle.dumps(rows))
    assert again.to_table(filter=F("id") < 3).num_rows == 3


def test_every_inherited_method_is_overridden() -> None:
    inherited = {name for name in dir(ds.Dataset) if callable(getattr(ds.Dataset, name)) and not name.startswith("__")}
    assert inherited <= set(vars(ArrowDataset))
    assert {"schema", "partition_expression"} <= set(vars(ArrowDataset))


@pytest.mark.parametrize("name", ["filter", "replace_schema", "sort_by", "join", "join_asof"])
def test_what_only_pyarrow_could_run_is_refused(rows: ArrowDataset, name: str) -> None:
    arguments = {"join": (rows, "id"), "join_asof": (rows, "id")}.get(name, (None,))
    with pytest.raises(amudai.UnsupportedFeature, match=f"^{name}"):
        getattr(rows, name)(*arguments)


def test_views_become_plain_strings(tmp_path: Path) -> None:
    table = pa.table({"s": pa.array(["a", None], pa.string_view())})
    rows = amudai.write(table, tmp_path / "v.amudai.shard").to_pyarrow_dataset()
    assert rows.schema.field("s").type == pa.string()
    assert rows.to_table(filter=F("s") == "a")["s"].to_pylist() == ["a"]
