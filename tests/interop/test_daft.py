"""Daft reads shards, with its own filters, columns and limits."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai
from amudai.interop import read_daft
from tests.interop import tables

daft = pytest.importorskip("daft", reason="Daft is not installed: pip install 'amudai[daft]'")

from amudai.interop.daft_source import AmudaiDaftSource, from_daft  # noqa: E402 - after the check

pytestmark = pytest.mark.slow  # the first query takes seconds


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> amudai.Dataset:
    return tables.lake_of(tables.logs(), tmp_path_factory.mktemp("daft"))


def ids(frame: Any) -> list[int]:
    return sorted(frame.select("id").to_pydict()["id"])


def test_daft_reads_rows_and_columns(lake: amudai.Dataset) -> None:
    found = read_daft(lake)
    assert found.column_names == lake.schema.names
    assert found.count_rows() == lake.num_rows
    whole = found.sort("id").to_arrow().cast(lake.schema)
    assert whole.drop_columns("ms").equals(lake.read().drop_columns("ms"))
    assert [repr(value) for value in whole["ms"].to_pylist()] == [
        repr(value) for value in lake.read()["ms"].to_pylist()
    ]
    few = read_daft(lake, ["level", "id"], "message has 'retry' and status = 503")
    assert few.column_names == ["level", "id"]
    assert ids(few) == lake.read(["id"], "message has 'retry' and status = 503")["id"].to_pylist()
    assert read_daft(lake, ["id"], "id < 0").count_rows() == 0


def test_columns_with_dictionaries(tmp_path: Path) -> None:
    """Daft knows no dictionaries of Arrow, neither of columns nor of members."""
    level = pa.array(["info", "warn", None, "info"])
    members = pa.StructArray.from_arrays([level.dictionary_encode()], ["level"])
    rows = pa.table({"id": [0, 1, 2, 3], "level": level.dictionary_encode(), "http": members})
    shard = amudai.write(rows, tmp_path / "levels.amudai.shard")
    assert pa.types.is_dictionary(shard.schema.field("level").type)
    assert read_daft(shard).to_pylist() == rows.to_pylist()
    assert ids(read_daft(shard).where(daft.col("level") == "info")) == [0, 3]


# A condition of Daft, and what is pushed down; None if nothing is.
CONDITIONS: dict[str, str | None] = {
    "col('status') == 500": 'col("status") == 500',
    "500 < col('status')": 'col("status") > 500',
    "(col('status') > 404) & col('message').contains('retry')": 'col("status") > 404',
    "col('message').contains('retry')": None,
    "(col('http').get('code') == 3) & (col('status') == 500)": 'col("status") == 500',
    "(col('status') == 500) | (col('level') == 'warn')": '(col("status") == 500) | (col("level") == "warn")',
    "(col('status') == 500) | (col('status') + 1 == 405)": None,
    "(col('status') == 500) & (col('id') % 2 == 0)": 'col("status") == 500',
    "col('level').is_null()": 'col("level").is_null()',
    "col('level').not_null()": 'col("level").is_valid()',
    "col('status').is_in([500, 503])": '(col("status") == 500) | (col("status") == 503)',
    "col('status').between(404, 500)": '(col("status") <= 500) & (col("status") >= 404)',
    "~(col('status') < 500)": '~(col("status") < 500)',
    "col('ok')": 'col("ok") == True',
    "~col('ok')": '~(col("ok") == True)',
    "col('ms') < 1": 'col("ms") < 1.0',
    "col('ms') > 1": None,
    "~(col('ms') < 1)": '~(col("ms") < 1.0)',
    "col('ms') != 1": 'col("ms") != 1.0',
    "col('ts') >= dt.datetime(2026, 1, 1, 3)": 'col("ts") >= pa.scalar("2026-01-01 03:00:00", timestamp[us])',
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_filters_of_daft_give_the_rows_that_daft_finds_itself(
    condition: str, lake: amudai.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = eval(condition, {"col": daft.col, "dt": dt})
    expected = ids(daft.from_arrow(tables.logs()).where(asked))
    seen = []

    def noted(expression: Any, schema: pa.Schema) -> Any:
        seen.append(from_daft(expression, schema))
        return seen[-1]

    monkeypatch.setattr("amudai.interop.daft_source.from_daft", noted)
    assert ids(read_daft(lake).where(asked)) == expected
    pushed = next((each for each in seen if each is not None), None)
    if CONDITIONS[condition] is None:
        assert pushed is None
    else:
        assert "timestamp" in str(CONDITIONS[condition]) or str(pushed) == CONDITIONS[condition]
        assert lake.count(pushed) == lake.num_rows or lake.count(pushed) >= len(expected)


def test_limits(lake: amudai.Dataset) -> None:
    assert ids(read_daft(lake).limit(5)) == list(range(5))
    found = read_daft(lake).where(daft.col("ms") > 1).limit(3)
    assert len(ids(found)) == 3


def test_tasks_have_the_columns_of_the_filter(lake: amudai.Dataset) -> None:
    from daft.io.pushdowns import Pushdowns

    source = AmudaiDaftSource(lake)
    tasks = source._tasks(Pushdowns(filters=daft.col("status") == 500, columns=["id"]))
    assert {name for task in tasks for batch in task for name in batch.schema.names} == {"id", "status"}
    assert sum(batch.num_rows for task in tasks for batch in task) == lake.count("status = 500")


def test_deleted_rows_stay_deleted(tmp_path: Path) -> None:
    whole = tables.shard_of(tables.logs(), tmp_path)
    left = amudai.delete(whole, where="status = 500", to=tmp_path / "left.amudai.shard")
    assert ids(read_daft(left)) == left.read(["id"])["id"].to_pylist()
    assert ids(read_daft(left).limit(7)) == left.head(7, ["id"])["id"].to_pylist()
