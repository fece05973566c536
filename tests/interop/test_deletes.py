"""Deleted rows are in no answer of any engine: all give the rows of `shard.read()`.

Spark, Ray and Daft have this test in their own modules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import amudai
from tests.interop import tables


@pytest.fixture(scope="module", params=["shard", "dataset"])
def left(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard | amudai.Dataset:
    """A table some of whose rows are deleted, among them the first and the last, and a whole range."""
    folder = tmp_path_factory.mktemp("deletes")
    whole = tables.shard_of(tables.logs(), folder)
    where = "status = 500 or id in (0, 299) or id between 100 and 180"
    shard = amudai.delete(whole, where=where, to=folder / "left.amudai.shard")
    return shard if request.param == "shard" else amudai.dataset([folder / "left.amudai.shard"])


def by_duckdb(left: Any, where: str) -> list[int]:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install 'amudai[duckdb]'")
    rows = left.to_pyarrow_dataset()
    connection = duckdb.connect()
    connection.register("logs", rows)
    return [each for (each,) in connection.sql(f"SELECT id FROM logs WHERE {where} ORDER BY id").fetchall()]


def by_sql(left: Any, where: str) -> list[int]:
    pytest.importorskip("sqlglot", reason="sqlglot is not installed: pip install 'amudai[duckdb]'")
    return [each for (each,) in amudai.sql(f"SELECT id FROM logs WHERE {where} ORDER BY id", logs=left).fetchall()]


def by_datafusion(left: Any, where: str) -> list[int]:
    datafusion = pytest.importorskip(
        "datafusion", reason="DataFusion is not installed: pip install 'amudai[datafusion]'"
    )
    context = datafusion.SessionContext()
    context.register_dataset("logs", left.to_pyarrow_dataset())
    found: list[int] = context.sql(f"SELECT id FROM logs WHERE {where} ORDER BY id").to_pydict()["id"]
    return found


def by_polars(left: Any, where: str) -> list[int]:
    pl = pytest.importorskip("polars", reason="polars is not installed: pip install 'amudai[polars]'")
    frame = amudai.scan_polars(left)
    found = frame.filter(pl.sql_expr(where)).sort("id").select("id").collect()["id"].to_list()
    assert frame.head(3).collect()["id"].to_list() == left.head(3, ["id"])["id"].to_pylist()
    return list(found)


def by_pandas(left: Any, where: str) -> list[int]:
    pytest.importorskip("pandas", reason="pandas is not installed: pip install 'amudai[pandas]'")
    frame = amudai.read_pandas(left, ["id"], where)
    return list(frame["id"])


def by_dask(left: Any, where: str) -> list[int]:
    pytest.importorskip("dask.dataframe", reason="Dask is not installed: pip install 'amudai[dask]'")
    from amudai.interop import read_dask

    return list(read_dask(left, ["id"], where).compute(scheduler="synchronous")["id"])


@pytest.mark.parametrize("where", ["id >= 0", "id < 120", "status = 503", "level IS NULL"])
@pytest.mark.parametrize("engine", [by_duckdb, by_sql, by_datafusion, by_polars, by_pandas, by_dask])
def test_engines_give_the_rows_that_are_left(engine: Callable[[Any, str], list[int]], where: str, left: Any) -> None:
    expected = left.read(["id"], where)["id"].to_pylist()
    assert 0 < len(expected) < 200
    assert engine(left, where) == expected
