"""Writing many shards, and adding rows to folders and to single shards."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from obstore.store import MemoryStore

import amudai
from amudai.api import appending


def test_rows_per_shard_decides_how_many_shards_there_are(tmp_path: Path) -> None:
    table = pa.table({"n": range(25)})
    lake = amudai.write_dataset(table, tmp_path / "lake", rows_per_shard=10)
    assert len(lake.shards) == 3
    assert lake.read().equals(table)
    assert [lake.shard(name).num_rows for name in lake.shards] == [10, 10, 5]


def test_folders_hold_the_values_of_partitions(tmp_path: Path) -> None:
    table = pa.table(
        {
            "day": pa.array([dt.date(2024, 5, 1), None, dt.date(2024, 5, 1), dt.date(2024, 5, 2)]),
            "city": ["São Paulo", "a/b=c", "São Paulo", "%2F"],
            "n": [1, 2, 3, 4],
        }
    )
    lake = amudai.write_dataset(table, tmp_path, partition_by=["day", "city"])
    assert lake.schema.names == ["n", "day", "city"]
    assert sorted(map(tuple, (row.values() for row in lake.read().to_pylist())), key=lambda row: row[0]) == [
        (1, "2024-05-01", "São Paulo"),
        (2, None, "a/b=c"),
        (3, "2024-05-01", "São Paulo"),
        (4, "2024-05-02", "%2F"),
    ]
    assert lake.count("day = '2024-05-01'") == 2


@pytest.mark.slow
def test_many_folders_do_not_keep_many_files_open(tmp_path: Path) -> None:
    table = pa.table({"key": [n % 50 for n in range(200)], "n": range(200)})
    lake = amudai.write_dataset(iter(table.to_batches(max_chunksize=60)), tmp_path, partition_by=["key"])
    assert len({name.split("/")[0] for name in lake.shards}) == 50
    found = lake.read(["n", "key"])
    assert sorted(found["n"].to_pylist()) == list(range(200))
    assert all(n % 50 == key for n, key in zip(found["n"].to_pylist(), found["key"].to_pylist(), strict=True))


def test_a_folder_with_shards_is_refused_unless_rows_are_added(tmp_path: Path) -> None:
    amudai.write_dataset({"n": [1]}, tmp_path)
    with pytest.raises(FileExistsError, match="append=True"):
        amudai.write_dataset({"n": [2]}, tmp_path)
    assert amudai.write_dataset({"n": [2]}, tmp_path, append=True).read()["n"].to_pylist() == [1, 2]


@pytest.mark.parametrize(
    ("columns", "error"),
    [(["m"], "expected one of n, f, found 'm'"), (["f"], "text, whole numbers"), (["n", "f"], "text, whole numbers")],
)
def test_columns_that_cannot_be_folders_are_refused(columns: list[str], error: str, tmp_path: Path) -> None:
    with pytest.raises(amudai.InvalidSchema, match=error):
        amudai.write_dataset({"n": [1], "f": [0.5]}, tmp_path, partition_by=columns)
    with pytest.raises(amudai.InvalidSchema, match="a column that is left"):
        amudai.write_dataset({"n": [1]}, tmp_path, partition_by=["n"])
    with pytest.raises(amudai.InvalidArgument, match="names of folders"):
        amudai.write_dataset({"n": [1], "s": [""]}, tmp_path, partition_by=["s"])
    assert amudai.dataset(tmp_path).shards == ()


def test_a_failure_leaves_only_complete_shards(tmp_path: Path) -> None:
    def batches() -> object:
        yield pa.record_batch({"n": [1, 2]})
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        amudai.write_dataset(batches(), tmp_path, rows_per_shard=1)
    assert amudai.dataset(tmp_path).read()["n"].to_pylist() == [1, 2]
    assert {path.suffix for path in tmp_path.iterdir()} == {".shard"}


# ---- append ----


def test_a_folder_gets_one_more_shard(tmp_path: Path) -> None:
    amudai.write_dataset({"n": [1, 2]}, tmp_path)
    lake = amudai.append(tmp_path, {"n": [3], "m": ["x"]})
    assert isinstance(lake, amudai.Dataset)
    assert lake.read().to_pydict() == {"n": [1, 2, 3], "m": [None, None, "x"]}
    assert amudai.append(str(tmp_path) + "/", {"n": [4]}).num_rows == 4
    with pytest.raises(FileNotFoundError):
        amudai.append(tmp_path / "nowhere", {"n": [4]})


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_one_shard_stays_one_shard(layout: str, tmp_path: Path) -> None:
    path = tmp_path / "logs.amudai.shard"
    indexes = [amudai.TermIndex("message"), amudai.HashIndex("n")]
    amudai.write({"n": [1, 2], "message": ["old timeout", "fine"]}, path, layout=layout, indexes=indexes)  # type: ignore[arg-type]
    with amudai.open(path) as before:
        for more in ("new timeout", "timeout again"):
            shard = amudai.append(path, {"n": [3], "message": [more]})
        assert before.read()["n"].to_pylist() == [1, 2]
    assert isinstance(shard, amudai.Shard)
    assert shard.read().to_pydict() == {
        "n": [1, 2, 3, 3],
        "message": ["old timeout", "fine", "new timeout", "timeout again"],
    }
    why = shard.scan(where="message has 'timeout' and n = 3")
    assert why.count() == 2
    assert why.explain().doubtful == 0  # indexes are merged
    assert shard.verify().ok
    # The parts are hidden: a dataset of the folder has each row once.
    assert amudai.dataset(tmp_path).num_rows == 4


@pytest.mark.parametrize("name", ["_day", ".day", "_", "a.b_"])
def test_folders_of_columns_with_hidden_names_are_found(name: str, tmp_path: Path) -> None:
    """Folders whose names begin with `_` or `.` are left out of datasets, and so were all rows."""
    lake = amudai.write_dataset({name: ["x", None, "_y"], "n": [1, 2, 3]}, tmp_path / "lake", partition_by=[name])
    assert sorted(lake.read(["n", f"`{name}`"]).to_pylist(), key=lambda row: row["n"]) == [
        {"n": 1, name: "x"},
        {"n": 2, name: None},
        {"n": 3, name: "_y"},
    ]
    assert lake.read(["n"], amudai.col(f"`{name}`") == "_y").to_pydict() == {"n": [3]}


@pytest.mark.parametrize("place", ["disk", "memory"])
def test_a_failure_after_the_new_root_is_in_place_loses_no_rows(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore() if place == "memory" else None
    path = "logs.amudai.shard" if place == "memory" else str(tmp_path / "logs.amudai.shard")
    amudai.write({"n": [1, 2, 5]}, path, store=store)
    merging = appending.merged

    def interrupted(*arguments: Any, **options: Any) -> None:
        merging(*arguments, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(appending, "merged", interrupted)
        with pytest.raises(KeyboardInterrupt):
            amudai.append(path, {"n": [3, 4]}, store=store)
    assert amudai.open(path, store=store).read()["n"].to_pylist() == [1, 2, 5, 3, 4]
    assert amudai.append(path, {"n": [6, 7]}, store=store).read()["n"].to_pylist() == [1, 2, 5, 3, 4, 6, 7]


def test_rows_that_do_not_fit_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "logs.amudai.shard"
    amudai.write({"n": [1]}, path)
    with pytest.raises(amudai.InvalidSchema):
        amudai.append(path, {"n": ["text"]})
    assert amudai.open(path).read()["n"].to_pylist() == [1]
    assert [each.name for each in tmp_path.iterdir()] == ["logs.amudai.shard"]
