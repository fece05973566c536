"""Compaction: the same rows without the deleted ones, in the order asked for, in a shard of its own."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import amudai
from amudai import AmudaiError, InvalidArgument, UnsupportedFeature, col
from amudai.storage import MemoryStore

WORDS = ["disk full", "all well", "timeout in disk", None]


def _table(first: int, count: int) -> pa.Table:
    numbers = [(first + at) * 7919 % 1000 for at in range(count)]
    return pa.table(
        {
            "n": pa.array(numbers, pa.int64()),
            "message": pa.array([WORDS[each % 4] for each in numbers]),
            "tags": pa.array([[str(each % 3)] * (each % 4) for each in numbers]),
            "at": pa.array([each * 1001 for each in numbers], pa.timestamp("ns", "UTC")),
            "price": pa.array([each * 1.0 for each in numbers]).cast(pa.decimal128(9, 2)),
        }
    )


@pytest.fixture
def parts(tmp_path: Path) -> list[amudai.Shard]:
    indexes = [amudai.TermIndex("message"), amudai.HashIndex("n", level="stripe")]
    first = amudai.write(
        _table(0, 700), tmp_path / "a.amudai.shard", indexes=indexes, stripe_rows=300, properties={"owner": "ops"},
        field_properties={"n": {"unit": "ms"}},
    )  # fmt: skip
    second = amudai.write(_table(700, 500), tmp_path / "b.amudai.shard", layout="two-level", indexes=indexes)
    return [amudai.delete(first, where=col("n") < 100, to=tmp_path / "c.amudai.shard"), second]


def _expected(parts: list[amudai.Shard]) -> pa.Table:
    return pa.concat_tables([part.read() for part in parts])


@pytest.mark.slow
def test_rows_keep_their_order_and_deleted_rows_are_dropped(parts: list[amudai.Shard], tmp_path: Path) -> None:
    found = amudai.compact(parts, tmp_path / "all.amudai.shard", stripe_rows=400)
    expected = _expected(parts)
    assert found.read().equals(expected)
    assert found.num_positions == found.num_rows == expected.num_rows
    assert [stripe.num_rows for stripe in found.stripes] == [400, 400, expected.num_rows - 800]
    assert found.verify().ok
    assert found.properties == {"owner": "ops"}
    assert found["n"].properties == {"unit": "ms"}


@pytest.mark.slow
def test_indexes_of_shards_and_stripes_are_rebuilt(parts: list[amudai.Shard], tmp_path: Path) -> None:
    found = amudai.compact(parts, tmp_path / "all.amudai.shard", stripe_rows=600)
    assert [(index.type, index.stripe) for index in found.indexes] == [
        (amudai.TermIndex.index_type, None),
        (amudai.HashIndex.index_type, 0),
        (amudai.HashIndex.index_type, 1),
    ]
    scan = found.scan(where=col("message").has("timeout"))
    assert scan.count() == sum("timeout" in (text or "") for text in _expected(parts)["message"].to_pylist())
    assert "term index" in str(scan.explain())
    assert not amudai.compact(parts, tmp_path / "none.amudai.shard", indexes=[]).indexes


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["512MB", "1MB"])
def test_rows_are_sorted(parts: list[amudai.Shard], tmp_path: Path, memory: str) -> None:
    found = amudai.compact(
        parts, tmp_path / "all.amudai.shard", sort_by=["message", ("n", "descending")], memory_limit=memory
    )
    expected = _expected(parts).sort_by([("message", "ascending"), ("n", "descending")])
    assert found.read().equals(expected)


@pytest.mark.slow
def test_where_keeps_rows(parts: list[amudai.Shard], tmp_path: Path) -> None:
    found = amudai.compact(parts, tmp_path / "all.amudai.shard", where="n >= 500 and message has 'disk'")
    rows = _expected(parts).to_pylist()
    assert found.read().to_pylist() == [row for row in rows if row["n"] >= 500 and "disk" in (row["message"] or "")]


def test_the_result_needs_no_other_file(parts: list[amudai.Shard], tmp_path: Path) -> None:
    expected = _expected(parts)
    amudai.compact(parts, tmp_path / "all.amudai.shard")
    for path in tmp_path.iterdir():
        if path.name != "all.amudai.shard":
            path.unlink()
    assert amudai.open(tmp_path / "all.amudai.shard").read().equals(expected)


def test_columns_are_united(tmp_path: Path) -> None:
    a = amudai.write({"n": pa.array([1, 2], pa.int32())}, tmp_path / "a.amudai.shard")
    b = amudai.write({"n": pa.array([3], pa.int64()), "x": ["new"]}, tmp_path / "b.amudai.shard")
    with pytest.raises(AmudaiError, match=r"int32 in .*a\.amudai\.shard and int64"):
        amudai.compact([a, b], tmp_path / "all.amudai.shard")
    assert not (tmp_path / "all.amudai.shard").exists()
    found = amudai.compact([a, b], tmp_path / "all.amudai.shard", widen=True, sort_by=[("n", "descending")])
    assert found.read().to_pydict() == {"n": [3, 2, 1], "x": ["new", None, None]}
    assert amudai.compact([a, b], tmp_path / "x.amudai.shard", widen=True, where="x = 'new'").read().to_pylist() == [
        {"n": 3, "x": "new"}
    ]


def test_shards_of_several_stores(tmp_path: Path) -> None:
    memory, other = MemoryStore(), MemoryStore()
    parts = [
        amudai.write({"n": [1]}, "x/a.amudai.shard", store=memory, layout="two-level"),
        amudai.write({"n": [2]}, "x/a.amudai.shard", store=other, layout="two-level"),
        amudai.write({"n": [3]}, tmp_path / "a.amudai.shard"),
    ]
    found = amudai.compact(parts, "y/all.amudai.shard", store=memory)
    assert found.read().to_pydict() == {"n": [1, 2, 3]}


def test_shards_whose_stripes_are_in_other_stores(tmp_path: Path) -> None:
    cold = MemoryStore()
    first = amudai.write({"n": [1, 2, 5]}, "a.amudai.shard", store=cold, layout="two-level")
    second = amudai.merge([first], tmp_path / "b.amudai.shard", allow={"cold://lake/": cold})
    both = amudai.compact([second, second], tmp_path / "c.amudai.shard", sort_by="n")
    assert both.read()["n"].to_pylist() == [1, 1, 2, 2, 5, 5]


def test_times_and_decimals_stay_integers(tmp_path: Path) -> None:
    table = pa.table(
        {
            "at": pa.array([1, -(10**18)], pa.timestamp("us")),
            "p": pa.array([1, 2], pa.int32()).cast(pa.decimal128(12, 2)),
        }
    )
    old = amudai.write(table, tmp_path / "a.amudai.shard", timestamps="int64", decimals="int64")
    new = amudai.compact(old, tmp_path / "b.amudai.shard")
    assert new.read().equals(table)
    assert [column.stored_type for column in new.columns] == [column.stored_type for column in old.columns]


def test_progress_and_refusals(parts: list[amudai.Shard], tmp_path: Path) -> None:
    seen: list[amudai.Progress] = []
    amudai.compact(parts, tmp_path / "all.amudai.shard", progress=seen.append)
    assert seen[-1].rows == seen[-1].total_rows == _expected(parts).num_rows
    with pytest.raises(InvalidArgument, match="to: expected another place than the shards"):
        amudai.compact(parts, tmp_path / "b.amudai.shard", overwrite=True)
    with pytest.raises(InvalidArgument, match="shards: expected at least one"):
        amudai.compact([], tmp_path / "b.amudai.shard")
    with pytest.raises(FileExistsError):
        amudai.compact(parts, tmp_path / "all.amudai.shard")


def test_a_full_disk_leaves_nothing(parts: list[amudai.Shard], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    from amudai.storage import SealedFile

    def full(self: SealedFile, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SealedFile, "write", full)
    with pytest.raises(OSError, match="No space left"):
        amudai.compact(parts, tmp_path / "all.amudai.shard")
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_index_that_cannot_be_rebuilt_is_refused(
    parts: list[amudai.Shard], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from amudai.index import carrying

    monkeypatch.setattr(carrying, "index_type", lambda name: None)
    with pytest.raises(UnsupportedFeature, match="indexes= names those to build"):
        amudai.compact(parts, tmp_path / "all.amudai.shard")


def test_internal_fields_and_creation_times_are_kept(tmp_path: Path) -> None:
    times = [datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2)]
    parts = [
        amudai.write(
            {"n": [first + 1, first]},
            tmp_path / f"{first}.amudai.shard",
            created=time,
            ingestion_time=time,
            record_id=bytes([first]) * 10,
        )
        for first, time in zip((10, 20), times, strict=True)
    ]
    found = amudai.compact(parts, tmp_path / "all.amudai.shard", sort_by="n")
    assert found.read().to_pydict() == {"n": [10, 11, 20, 21]}
    assert found.internal["IngestionTimestamp"].read().cast(pa.timestamp("us", "UTC")).to_pylist() == [
        times[0], times[0], times[1], times[1],
    ]  # fmt: skip
    identities = [part.internal["RecordIdentity"].read().to_pylist() for part in parts]
    assert found.internal["RecordIdentity"].read().to_pylist() == [
        identities[at][1 - place] for at in (0, 1) for place in (0, 1)
    ]
    assert found.created == (times[0], times[1])


@pytest.mark.slow
def test_processes_share_the_work(tmp_path: Path) -> None:
    lake = amudai.write_dataset(
        _table(0, 900), tmp_path / "lake", rows_per_shard=100, indexes=[amudai.TermIndex("message")]
    )
    deleted = tmp_path / "lake" / lake.shards[3]
    hidden = deleted.rename(tmp_path / "lake" / "_before.amudai.shard")
    amudai.delete(hidden, where=col("n") < 500, to=deleted)
    shards = [tmp_path / "lake" / name for name in lake.shards]
    expected = amudai.dataset(tmp_path / "lake").read()
    seen: list[amudai.Progress] = []
    whole = amudai.compact(shards, tmp_path / "whole.amudai.shard", processes=2, progress=seen.append)
    assert whole.read().equals(expected)
    assert whole.num_positions == seen[-1].rows == expected.num_rows
    assert [index.fields for index in whole.indexes] == [("message",)]
    assert (
        whole.count("message has 'disk'") == expected.filter(pc.match_substring(expected["message"], "disk")).num_rows
    )
    parts = list(tmp_path.glob("_whole-*/*"))
    assert {part.as_uri() for part in parts} == {file.url for file in whole.files} - {whole.url}
    some = amudai.compact(shards, tmp_path / "some.amudai.shard", where=col("n") >= 500, processes=2)
    assert some.read(["n"]).equals(expected.filter(pc.field("n") >= 500).select(["n"]))
    with pytest.raises(FileExistsError):
        amudai.compact(shards, tmp_path / "some.amudai.shard", processes=2)
    deleted.write_bytes(b"damaged" * 100)
    with pytest.raises(amudai.AmudaiError):
        amudai.compact(shards, tmp_path / "none.amudai.shard", processes=2)
    assert list(tmp_path.glob("*none*")) == []


def test_processes_neither_sort_nor_write_to_stores(parts: list[amudai.Shard], tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="sort_by: expected none with several processes"):
        amudai.compact(parts, tmp_path / "sorted.amudai.shard", sort_by="n", processes=2)
    with pytest.raises(InvalidArgument, match="processes: expected"):
        amudai.compact(parts, tmp_path / "sorted.amudai.shard", processes=0)
    with pytest.raises(UnsupportedFeature, match="expected shards in local files"):
        amudai.compact(parts, "memory.amudai.shard", store=MemoryStore(), processes=2)


def test_columns_whose_names_need_quotes_keep_their_sketches(tmp_path: Path) -> None:
    rows = pa.table({"a.b": [1, 2, 3], "`q`": [3, 2, 1], "s": [{"x.y": 1}] * 3})
    wanted = ["`a.b`", "```q```", "s.`x.y`"]
    shard = amudai.write(rows, tmp_path / "old.amudai.shard", distinct=wanted, bloom=wanted)
    found = amudai.compact(shard, tmp_path / "new.amudai.shard", sort_by="```q```")
    assert found.read()["a.b"].to_pylist() == [3, 2, 1]
    assert [found[path].stats.distinct_count for path in wanted] == [
        shard[path].stats.distinct_count for path in wanted
    ]


@pytest.mark.parametrize("mode", ["dense", "sparse"])
def test_shards_with_a_union_are_sorted(mode: str, tmp_path: Path) -> None:
    numbers, words = pa.array([1, None, 2]), pa.array([None, "x", None])
    union = pa.UnionArray.from_sparse(pa.array([0, 1, 0], pa.int8()), [numbers, words], ["n", "w"])
    if mode == "dense":
        offsets = pa.array([0, 0, 1], pa.int32())
        parts = [numbers.drop_null(), words.drop_null()]
        union = pa.UnionArray.from_dense(pa.array([0, 1, 0], pa.int8()), offsets, parts, ["n", "w"])
    shard = amudai.write(pa.table({"k": [3, 1, 2], "u": union}), tmp_path / "old.amudai.shard")
    found = amudai.compact(shard, tmp_path / "new.amudai.shard", sort_by="k")
    assert found.read().to_pydict() == {"k": [1, 2, 3], "u": ["x", 2, 1]}
    lake = amudai.dataset([found.url, shard.url])
    assert lake.read().to_pydict() == {"k": [1, 2, 3, 3, 1, 2], "u": ["x", 2, 1, 1, "x", 2]}
    assert lake.take([(lake.shards[1], 1)]).to_pydict() == {"k": [1], "u": ["x"]}
    assert lake.count("k > 1") == 4
    with pytest.raises(InvalidArgument, match="sort_by: expected a column that can be sorted"):
        amudai.compact(shard, tmp_path / "other.amudai.shard", sort_by="u")
