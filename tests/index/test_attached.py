"""Do indexes stay with their shard, wherever they lie?"""

from __future__ import annotations

import shutil
import struct
import warnings
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai
from amudai import HashIndex, TermIndex, col
from amudai.format import frame, lookup_buffers, unframe

WORDS = ["red", "green", "blue", "Disk full", "disk FULL of logs"]
ROWS = 3_000
TABLE = pa.table(
    {
        "n": pa.array(range(ROWS)),
        "text": pa.array([f"{WORDS[n % len(WORDS)]} {n}" for n in range(ROWS)]),
        "id": pa.array([f"{n * 7919 % ROWS:08x}" for n in range(ROWS)]),
    }
)
INDEXES = [TermIndex("text"), HashIndex("id", "n")]
DISK = [n for n in range(ROWS) if n % 5 in (3, 4)]


def check(shard: amudai.Shard) -> None:
    """The answers are right, and it was the indexes that gave them."""
    assert shard.read().equals(TABLE)
    scan = shard.scan(where=col("text").has("disk"))
    assert scan.positions().tolist() == DISK
    assert scan.explain().sure == len(DISK)
    assert [note.evidence for note in scan.explain().leaves[0].notes][-1] == "term index"
    found = shard.scan(["n"], where=col("id") == f"{4:08x}")
    assert found.to_table()["n"].to_pylist() == [n for n in range(ROWS) if n * 7919 % ROWS == 4]
    assert "hash index" in [note.evidence for note in found.explain().leaves[0].notes]
    assert found.explain().doubtful <= 1
    assert shard.verify().ok
    assert [index.fields for index in shard.indexes] == [("text",), ("id", "n")]
    assert all(index.size for index in shard.indexes)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["single", "two-level"])
@pytest.mark.parametrize("stripe_rows", [None, 700])
def test_indexes_are_written_with_the_shard(tmp_path: Path, layout: Any, stripe_rows: int | None) -> None:
    path = tmp_path / "x.amudai.shard"
    check(amudai.write(TABLE, path, indexes=INDEXES, layout=layout, stripe_rows=stripe_rows))
    beside = {each.suffixes[-1] for each in tmp_path.iterdir()}
    assert (".index" in beside) == (layout == "two-level"), "a single file holds everything"
    moved = tmp_path / "elsewhere"
    shutil.copytree(tmp_path, moved, ignore=shutil.ignore_patterns("elsewhere"))
    for each in tmp_path.glob("*.amudai.*"):
        each.unlink()
    check(amudai.open(moved / "x.amudai.shard"))


@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_indexes_are_added_afterwards(tmp_path: Path, layout: Any) -> None:
    plain = tmp_path / "plain.amudai.shard"
    amudai.write(TABLE, plain, layout=layout, stripe_rows=1_100, properties={"owner": "ops"})
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    first = amudai.add_indexes(plain, INDEXES[:1], tmp_path / "first.amudai.shard")
    both = amudai.add_indexes(first, INDEXES[1:], tmp_path / "both.amudai.shard", memory_limit="1MB")
    check(both)
    assert both.properties == {"owner": "ops"}
    assert len(both.stripes) == 3
    assert {name: (tmp_path / name).read_bytes() for name in before} == before, "nothing is written again"


def test_what_cannot_be_added_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.amudai.shard"
    shard = amudai.write(TABLE, path)
    (tmp_path / "other").mkdir()
    with pytest.raises(amudai.InvalidArgument, match="another place"):
        amudai.add_indexes(shard, INDEXES, path)
    with pytest.raises(amudai.InvalidArgument, match="expected allow= to permit it"):
        amudai.add_indexes(shard, INDEXES, tmp_path / "other" / "y.amudai.shard")
    assert list((tmp_path / "other").iterdir()) == []
    with pytest.raises(amudai.InvalidArgument, match="text"):
        amudai.add_indexes(shard, [TermIndex("txt")], tmp_path / "y.amudai.shard")
    with pytest.raises(amudai.InvalidArgument, match="int64"):
        amudai.add_indexes(shard, [TermIndex("n")], tmp_path / "y.amudai.shard")
    with pytest.raises(amudai.InvalidArgument, match="TermIndex"):
        amudai.write(TABLE, tmp_path / "y.amudai.shard", indexes=["text"])  # type: ignore[list-item]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other", "x.amudai.shard"]


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    written = []
    for threads in (1, 3):
        folder = tmp_path / str(threads)
        folder.mkdir()
        path = folder / "x.amudai.shard"
        amudai.write(TABLE, path, indexes=INDEXES, layout="two-level", stripe_rows=900, threads=threads)
        written.append({each.name: each.read_bytes() for each in folder.iterdir()})
    assert written[0] == written[1]


def test_old_indexes_go_after_the_grace_period(tmp_path: Path) -> None:
    path = tmp_path / "x.amudai.shard"
    amudai.write(TABLE, path, indexes=INDEXES, layout="two-level")
    amudai.write(TABLE.slice(5), path, indexes=INDEXES[:1], layout="two-level", overwrite=True)
    assert len(list(tmp_path.glob("*.amudai.index"))) == 2 + 2 + 8
    assert amudai.collect_garbage(path) == [], "the grace period is not over"
    assert len(amudai.collect_garbage(path, older_than=timedelta(0))) == 1 + 2 + 8
    assert len(list(tmp_path.glob("*.amudai.index"))) == 2
    shard = amudai.open(path)
    assert shard.scan(where=col("text").has("disk")).positions().tolist() == [n - 5 for n in DISK if n >= 5]


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    def batches() -> Any:
        yield from TABLE.to_batches(1_000)
        raise RuntimeError("the source broke")

    reader = pa.RecordBatchReader.from_batches(TABLE.schema, batches())
    with pytest.raises(RuntimeError):
        amudai.write(reader, tmp_path / "x.amudai.shard", indexes=INDEXES, layout="two-level", memory_limit="1MB")
    assert list(tmp_path.iterdir()) == []


def damaged(path: Path) -> None:
    """Flip bytes of the artifacts of all indexes."""
    for each in path.parent.glob("*.amudai.index"):
        data = bytearray(each.read_bytes())
        for at in range(100, len(data) - 100, 97):
            data[at] ^= 0x10
        each.write_bytes(bytes(data))


def test_a_damaged_index_is_an_error_or_a_slower_answer(tmp_path: Path) -> None:
    path = tmp_path / "x.amudai.shard"
    amudai.write(TABLE, path, indexes=INDEXES, layout="two-level")
    damaged(path)
    shard = amudai.open(path)
    for where, expected in ((col("text").has("disk"), DISK), (col("id") == TABLE["id"][17].as_py(), [17])):
        with pytest.raises(amudai.CorruptedData):
            shard.scan(where=where).count()
        with pytest.warns(RuntimeWarning, match="damaged"):
            assert shard.scan(where=where, on_damaged_index="ignore").positions().tolist() == expected
    assert not shard.verify().ok


@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_verify_compares_the_places_of_columns_with_the_columns(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "x.amudai.shard"
    amudai.write(TABLE, path, indexes=INDEXES, layout=layout)
    reader = amudai.open(path)._reader
    stated = [
        each for index in reader.indexes for artifact in index.artifacts for each in lookup_buffers(artifact.values)
    ]
    assert len(stated) == 2 + 1 + 8 * 4
    ref = reader.directory.indexes
    assert ref is not None
    whole = path.read_bytes()
    message = bytearray(unframe(whole[ref.start : ref.end], "IndexCollection"))
    places = struct.pack("<5Q", stated[2].start, stated[2].block_map, stated[2].end, stated[2].values, stated[2].blocks)
    at = bytes(message).index(places)
    message[at + 24] ^= 1  # one value more or less
    path.write_bytes(whole[: ref.start] + frame(bytes(message)) + whole[ref.start + len(message) + 8 :])
    shard = amudai.open(path)
    (problem,) = shard.verify().problems
    assert "property lookup: expected a buffer of the artifact" in problem.message
    with pytest.raises(amudai.CorruptedData, match="block map value_count"):
        shard.scan(where=col("text").has("disk")).count()


def test_a_lost_index_is_an_error_or_a_slower_answer(tmp_path: Path) -> None:
    path = tmp_path / "x.amudai.shard"
    amudai.write(TABLE, path, indexes=INDEXES, layout="two-level")
    for each in tmp_path.glob("*.amudai.index"):
        each.unlink()
    shard = amudai.open(path)
    assert shard.scan(where=col("n") < 7).count() == 7, "who does not need it does not miss it"
    with pytest.raises(amudai.StorageError):
        shard.scan(where=col("text").has("disk")).count()
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        assert shard.scan(where=col("text").has("disk"), on_damaged_index="ignore").count() == len(DISK)
