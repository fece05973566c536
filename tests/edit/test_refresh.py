"""Bringing shards over Parquet files up to date: what is kept, what is read again, and what must not be lost."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import obstore.store
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import amudai
from amudai import col
from amudai.column.parquet_files import ParquetFile

INDEXES = [amudai.TermIndex("word"), amudai.HashIndex("n"), amudai.TermIndex("word", level="stripe")]
SCHEMA = pa.schema([("n", pa.int64()), ("word", pa.string())])


def table(first: int, count: int = 100) -> pa.Table:
    rows = range(first, first + count)
    return pa.table({"n": list(rows), "word": [f"w{at} common" for at in rows]}, schema=SCHEMA)


def write(path: Path, first: int, count: int = 100) -> None:
    pq.write_table(table(first, count), path, row_group_size=30)


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Three files, each with stripes of its own."""
    for at in range(3):
        write(tmp_path / f"f{at}.parquet", 100 * at)
    return tmp_path


def attach(lake: Path, **options: Any) -> amudai.Shard:
    given = {"indexes": INDEXES, "stripe_rows": 100, **options}
    return amudai.attach(str(lake / "*.parquet"), lake / "x.amudai.shard", **given)


def refresh(shard: amudai.Shard, name: str | None = None) -> amudai.Shard:
    to = shard.url if name is None else shard.url.replace("x.amudai.shard", f"{name}.amudai.shard")
    return amudai.refresh(shard, to, overwrite=name is None)


def numbers(shard: amudai.Shard) -> list[int]:
    found: list[int] = shard.read(["n"])["n"].to_pylist()
    return found


def check(shard: amudai.Shard, expected: list[int]) -> None:
    """Every way to find a row finds these numbers, and everything that is stored about them is true."""
    assert numbers(shard) == expected
    assert shard.count(col("word").has("common")) == len(expected)
    for n in (expected[0], expected[-1], -1):
        for where in (col("n") == n, col("word").has(f"w{n}")):
            assert shard.scan(["n"], where=where).to_table()["n"].to_pylist() == [n] * (n in expected)
    assert shard.verify(deep=True).ok


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the Parquet files whose values were read."""
    seen: set[str] = set()

    def noted(name: str) -> None:
        original = getattr(ParquetFile, name)

        def spy(self: ParquetFile, *arguments: Any, **named: Any) -> Any:
            seen.add(os.path.basename(self.artifact.url))
            return original(self, *arguments, **named)

        monkeypatch.setattr(ParquetFile, name, spy)

    noted("read")
    noted("batches")
    return seen


@pytest.mark.parametrize("name", [None, "y"])
def test_new_files_are_added_and_others_not_read(lake: Path, read: set[str], name: str | None) -> None:
    shard = attach(lake)
    write(lake / "a.parquet", 500, 20)
    read.clear()
    fresh = refresh(shard, name)
    assert read == {"a.parquet"}
    check(fresh, [*range(300), *range(500, 520)])
    assert {(each.type, each.fields) for each in fresh.indexes} == {(each.type, each.fields) for each in shard.indexes}
    # Nothing is left behind but what the new shard uses.
    assert {str(each) for each in lake.iterdir()} == {each.url.removeprefix("file://") for each in fresh.files}


def test_a_refresh_of_nothing_new(lake: Path, read: set[str]) -> None:
    shard = attach(lake)
    read.clear()
    before = (lake / "x.amudai.shard").read_bytes()
    assert numbers(refresh(shard)) == list(range(300))
    assert (lake / "x.amudai.shard").read_bytes() == before
    read.clear()
    other = refresh(shard, "y")
    assert not read
    check(other, list(range(300)))


def test_changed_files_come_last_and_lost_ones_go(lake: Path, read: set[str]) -> None:
    indexes = [amudai.TermIndex("word", level="stripe"), amudai.HashIndex("n", level="stripe")]
    shard = attach(lake, indexes=indexes, ranges=[])
    write(lake / "f1.parquet", 1000, 40)
    (lake / "f0.parquet").unlink()
    read.clear()
    fresh = refresh(shard)
    assert read == {"f1.parquet"}  # indexes of stripes stay with their stripes
    check(fresh, [*range(200, 300), *range(1000, 1040)])
    for where, kind in ((col("word").has("w207"), "term index"), (col("n") == 207, "hash index")):
        assert f"{kind} of 2 stripes" in str(fresh.scan(where=where).explain())
    write(lake / "f2.parquet", 2000, 7)
    check(refresh(fresh), [*range(1000, 1040), *range(2000, 2007)])


@pytest.mark.slow
def test_indexes_of_the_whole_shard_are_built_again_if_rows_go(lake: Path, read: set[str]) -> None:
    shard = attach(lake)
    (lake / "f1.parquet").unlink()
    read.clear()
    fresh = refresh(shard)
    assert read == {"f0.parquet", "f2.parquet"}
    check(fresh, [*range(100), *range(200, 300)])
    found = str(fresh.scan(where=col("word").has("w250")).explain())
    assert "term index" in found, found


def test_deletes_stay_with_their_rows(lake: Path) -> None:
    # One stripe has the rows of all files, so that it is made again if one file changes.
    shard = attach(lake, stripe_rows=1000)
    fewer = amudai.delete(shard, where="n in (3, 99, 100, 131, 250)", to=lake / "fewer.amudai.shard")
    write(lake / "f1.parquet", 100, 50)
    write(lake / "f4.parquet", 600, 10)
    fresh = amudai.refresh(fewer, lake / "fresh.amudai.shard")
    gone = {3, 99, 250}  # the positions of deleted rows in a changed file mean other rows
    check(fresh, [n for n in (*range(150), *range(200, 300), *range(600, 610)) if n not in gone])
    # From now on the stripes of unchanged files are kept with their markers.
    write(lake / "f5.parquet", 700, 2)
    again = amudai.refresh(fresh, lake / "fresh.amudai.shard", overwrite=True)
    check(again, [n for n in (*range(150), *range(200, 300), *range(600, 610), 700, 701) if n not in gone])
    assert amudai.undelete(again, to=lake / "all.amudai.shard").num_rows == 262


@pytest.mark.slow
def test_a_file_in_several_stripes_is_attached_again_in_part(tmp_path: Path, read: set[str]) -> None:
    write(tmp_path / "a.parquet", 0, 150)
    write(tmp_path / "b.parquet", 200, 30)
    shard = attach(tmp_path, stripe_rows=90)  # the second stripe has rows of both
    assert [each.num_rows for each in shard.stripes] == [90, 90]
    write(tmp_path / "b.parquet", 300, 60)
    check(refresh(shard), [*range(150), *range(300, 360)])


def test_new_columns_and_other_types(lake: Path) -> None:
    shard = attach(lake)
    more = table(400, 3).append_column("extra", pa.array([{"a": 1}, None, {"a": 3}]))
    pq.write_table(more.set_column(0, "n", more["n"].cast(pa.int32())), lake / "g.parquet")
    fresh = refresh(shard)
    check(fresh, [*range(300), 400, 401, 402])
    assert fresh.read(["extra"])["extra"].to_pylist()[298:] == [None, None, {"a": 1}, None, {"a": 3}]
    assert fresh.schema.field("n").type == pa.int64()
    # A number that only another type holds: values of all files get it.
    fewer = amudai.delete(fresh, positions=[0], to=lake / "fewer.amudai.shard")
    pq.write_table(pa.table({"n": [0.5], "word": ["half common"]}), lake / "h.parquet")
    wider = amudai.refresh(fewer, lake / "wider.amudai.shard")
    assert wider.schema.field("n").type == pa.float64()
    assert wider.read(["n"])["n"].to_pylist() == [*map(float, range(1, 300)), 400.0, 401.0, 402.0, 0.5]


@pytest.mark.slow
def test_folders_of_new_files(tmp_path: Path) -> None:
    for year in (2024, 2025):
        (tmp_path / f"year={year}").mkdir()
        write(tmp_path / f"year={year}" / "part.parquet", year, 5)
    shard = amudai.attach(tmp_path, tmp_path / "x.amudai.shard", properties={"owner": "us"})
    (tmp_path / "year=2026").mkdir()
    write(tmp_path / "year=2026" / "part.parquet", 2026, 5)
    fresh = refresh(shard)
    assert fresh.read(["year"])["year"].to_pylist() == [2024] * 5 + [2025] * 5 + [2026] * 5
    assert fresh.properties["owner"] == "us"
    assert fresh.count(col("year") == 2026) == 5


def test_columns_that_were_added_are_kept_or_the_refresh_is_refused(lake: Path) -> None:
    shard = attach(lake)
    added = amudai.with_columns(shard, {"mark": list(range(300))}, to=lake / "added.amudai.shard")
    write(lake / "g.parquet", 800, 2)
    fresh = amudai.refresh(added, lake / "fresh.amudai.shard")
    assert fresh.read(["mark"])["mark"].to_pylist() == [*range(300), None, None]
    dropped = amudai.drop_columns(shard, ["word"], to=lake / "dropped.amudai.shard")
    with pytest.raises(amudai.InvalidArgument, match=r"found 'word' dropped, renamed or replaced: attach"):
        amudai.refresh(dropped, lake / "y.amudai.shard")
    together = amudai.attach(str(lake / "f*.parquet"), lake / "one.amudai.shard", stripe_rows=1000)
    marked = amudai.with_columns(together, {"mark": list(range(300))}, to=lake / "marked.amudai.shard")
    write(lake / "f1.parquet", 900, 2)
    with pytest.raises(amudai.InvalidArgument, match=r"found 'mark': its values in stripe 0 would be lost.*f1"):
        amudai.refresh(marked, lake / "y.amudai.shard")
    assert not (lake / "y.amudai.shard").exists()


def test_an_added_column_is_not_lost_where_all_files_changed(lake: Path) -> None:
    added = amudai.with_columns(attach(lake), {"mark": list(range(300))}, to=lake / "added.amudai.shard")
    for at in range(3):
        write(lake / f"f{at}.parquet", 1000 + at, 2)
    with pytest.raises(amudai.InvalidArgument, match=r"found 'mark': it would be lost, .* attach the files again"):
        amudai.refresh(added, lake / "y.amudai.shard")


def test_files_without_rows_have_columns(lake: Path) -> None:
    for each in lake.glob("*.parquet"):
        each.unlink()
    write(lake / "f0.parquet", 0, 0)
    shard = refresh(attach(lake))
    assert (shard.schema.names, shard.num_rows) == (["n", "word"], 0)
    write(lake / "f1.parquet", 5, 3)
    check(refresh(shard), [5, 6, 7])


def test_stripes_that_name_no_file_are_refused(lake: Path) -> None:
    own = amudai.materialize(attach(lake), lake / "own.amudai.shard")
    with pytest.raises(amudai.InvalidArgument, match=r"expected values in Parquet files in every stripe.*stripe 0"):
        amudai.refresh(own, lake / "y.amudai.shard")


def test_a_failed_refresh_leaves_nothing(lake: Path) -> None:
    shard = attach(lake)
    (lake / "g.parquet").write_bytes((lake / "f0.parquet").read_bytes()[:-9] + b"\0" * 9)
    before = sorted(lake.iterdir())
    with pytest.raises(amudai.AmudaiError, match=r"g\.parquet"):
        refresh(shard)
    assert sorted(lake.iterdir()) == before
    assert shard.count(col("word").has("common")) == 300


@pytest.mark.slow
@pytest.mark.parametrize("step", ["editing.carried_indexes", "refreshing.with_deleted", "refreshing.with_saved_bytes"])
def test_whatever_fails_leaves_the_old_shard(lake: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    fewer = amudai.delete(attach(lake), positions=[0], to=lake / "fewer.amudai.shard")
    write(lake / "g.parquet", 500, 20)
    before = {each: each.read_bytes() for each in lake.iterdir()}

    def fail(*_given: object, **_named: object) -> None:
        raise amudai.StorageError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(f"amudai.api.{step}", fail)
        with pytest.raises(amudai.StorageError, match="no space left"):
            amudai.refresh(fewer, fewer.url, overwrite=True)
    assert {each: each.read_bytes() for each in lake.iterdir()} == before
    check(amudai.refresh(fewer, fewer.url, overwrite=True), [*range(1, 300), *range(500, 520)])


def test_in_an_object_store() -> None:
    store = obstore.store.MemoryStore()

    def put(name: str, first: int, count: int = 100) -> None:
        content = io.BytesIO()
        pq.write_table(table(first, count), content, row_group_size=30)
        store.put(name, content.getvalue())

    put("lake/a.parquet", 0)
    put("lake/b.parquet", 100)
    shard = amudai.attach("lake/", "lake/x.amudai.shard", indexes=INDEXES, stripe_rows=100, store=store)
    put("lake/c.parquet", 200, 5)
    fresh = amudai.refresh(shard, "lake/x.amudai.shard", overwrite=True, store=store)
    check(fresh, list(range(205)))
    store.delete("lake/a.parquet")
    check(amudai.refresh(fresh, "lake/x.amudai.shard", overwrite=True, store=store), list(range(100, 205)))
