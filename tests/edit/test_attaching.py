"""Shards over Parquet files: folders that become columns, files that change, and operations on such shards."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import amudai
from amudai import col
from amudai.format import ParquetEncoding, row_groups_of
from tests.any_time import BEFORE_CHRIST, FAR_FUTURE, folder_of_any_time, touch

INDEXES = [amudai.TermIndex("word"), amudai.HashIndex("n")]


SCHEMA = pa.schema([("n", pa.int64()), ("word", pa.string())])


def table(first: int, count: int = 100) -> pa.Table:
    rows = range(first, first + count)
    return pa.table({"n": list(rows), "word": [f"w{at} common" for at in rows]}, schema=SCHEMA)


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Two files in folders that name years."""
    for at, year in enumerate((2024, 2025)):
        (tmp_path / f"year={year}").mkdir()
        pq.write_table(table(100 * at), tmp_path / f"year={year}" / "part.parquet", row_group_size=30)
    return tmp_path


def attach(lake: Path, name: str = "x", **options: Any) -> amudai.Shard:
    return amudai.attach(lake, lake / f"{name}.amudai.shard", **{"indexes": INDEXES, "stripe_rows": 100, **options})


def test_folders_become_columns(lake: Path) -> None:
    shard = attach(lake)
    assert shard.schema.field("year").type == pa.int64()
    assert shard.scan(["year"], where="n >= 99 and n < 101").to_table()["year"].to_pylist() == [2024, 2025]
    assert {field.storage for field in shard.inspect(["year"]).stripes[0].fields} == {"constant"}
    assert shard.scan(where=col("year") == 2025).explain().doubtful == 0
    assert "year" not in attach(lake, "plain", hive=False).schema.names


def test_a_dataset_says_what_its_folders_mean(lake: Path) -> None:
    dataset = ds.dataset(
        lake, format="parquet", partitioning=ds.partitioning(pa.schema([("year", pa.int16())]), flavor="hive")
    )
    shard = amudai.attach(dataset, lake / "x.amudai.shard")
    assert shard.read().select(["n", "year"]).to_pylist() == dataset.to_table().select(["n", "year"]).to_pylist()
    with pytest.raises(amudai.InvalidArgument, match="found an Arrow dataset"):
        amudai.refresh(shard, lake / "y.amudai.shard")


def test_what_is_stored(lake: Path) -> None:
    shard = attach(lake)
    stripe = shard._reader.stripes[0]
    assert row_groups_of(stripe.properties) == (30, 30, 30, 10)
    assert shard.stripes[0].properties == {}
    assert "amudai.parquet" not in shard.properties
    node = shard._reader.schema.find("word")
    assert node is not None
    found = stripe.descriptor(node)
    assert found is not None
    (encoding,) = found.encodings
    assert isinstance(encoding, ParquetEncoding)
    (file,) = encoding.files
    footer = pq.ParquetFile(lake / "year=2024" / "part.parquet").metadata
    assert (file.file.url, file.file.start) == ("year=2024/part.parquet", 0)
    assert file.file.end == (lake / "year=2024" / "part.parquet").stat().st_size
    for number, chunk in enumerate(file.chunks):
        column = footer.row_group(number).column(1)
        assert (chunk.row_group_id, chunk.column_chunk_id, chunk.schema_element_id) == (number, 1, 2)
        assert chunk.storage_type == 6  # BYTE_ARRAY
        assert chunk.dictionary == (column.dictionary_page_offset, column.data_page_offset)
        assert chunk.data_pages is not None
        assert chunk.data_pages[0] == column.data_page_offset
        assert chunk.data_pages[1] == column.dictionary_page_offset + column.total_compressed_size
        assert chunk.data_page_count == 0
    assert {each.kind for each in shard.files} == {"root", "parquet"}


def test_schema_elements_count_groups(tmp_path: Path) -> None:
    nested = pa.table({"a": [{"b": 1, "c": [2]}], "d": [3]})
    pq.write_table(nested, tmp_path / "n.parquet")
    shard = amudai.attach(tmp_path / "n.parquet", tmp_path / "n.amudai.shard")
    ids = []
    for node in shard._reader.schema.fields():
        for each in (node, *node.children):
            found = shard._reader.stripes[0].descriptor(each)
            assert found is not None
            assert isinstance(found.encodings[0], ParquetEncoding)
            ids.append((each.name, found.encodings[0].files[0].chunks[0].schema_element_id))
    # schema: root 0, a 1, b 2, c 3, list 4, element 5, d 6. A container is known by its first leaf.
    assert ids == [("a", 2), ("b", 2), ("c", 5), ("d", 6)]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["replaced", "truncated", "missing", "touched", "grown"])
def test_a_changed_file_is_an_error_that_names_it(lake: Path, how: str) -> None:
    shard = attach(lake)
    path = lake / "year=2025" / "part.parquet"
    content, facts = path.read_bytes(), path.stat()
    if how == "replaced":  # by one with the same size and time
        other = content.replace(b"parquet-cpp", b"parquet-CPP")
        assert other != content
        path.write_bytes(other)
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    elif how == "truncated":
        path.write_bytes(content[:-100])
    elif how == "missing":
        path.unlink()
    elif how == "touched":
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1))
    else:
        pq.write_table(table(100, 101), path)
    with amudai.open(shard.url) as opened:
        assert opened.read(rows=slice(0, 100)).num_rows == 100  # the other file is whole
        with pytest.raises(amudai.AmudaiError) as caught:
            opened.read()
        assert "year=2025/part.parquet" in str(caught.value)
        assert not opened.verify().ok


@pytest.mark.parametrize("time", [-1, 10_500_000_000, FAR_FUTURE, BEFORE_CHRIST])
def test_files_of_any_time(time: int) -> None:
    with folder_of_any_time() as folder:
        path = folder / "a.parquet"
        pq.write_table(table(0), path)
        touch(path, time)
        shard = amudai.attach(folder, folder / "x.amudai.shard")
        assert shard.read().equals(table(0))
        assert amudai.refresh(shard, folder / "y.amudai.shard").read().equals(table(0))
        touch(path, time + 1)
        with pytest.raises(
            amudai.StorageError, match=r"expected the file from which this shard was made, modified at "
        ):
            amudai.open(shard.url).read()
        assert amudai.refresh(amudai.open(shard.url), folder / "z.amudai.shard").read().equals(table(0))


def test_a_damaged_page_is_an_error_that_names_the_file(lake: Path) -> None:
    path = lake / "year=2024" / "part.parquet"
    pq.write_table(table(0), path, row_group_size=30, write_page_checksum=True)
    shard = attach(lake)
    facts = path.stat()
    content = bytearray(path.read_bytes())
    chunk = pq.ParquetFile(path).metadata.row_group(1).column(0)
    content[chunk.dictionary_page_offset + chunk.total_compressed_size - 1] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    with pytest.raises(amudai.CorruptedData, match=r"Parquet: .*year=2024/part\.parquet"):
        amudai.open(shard.url).read()
    assert amudai.open(shard.url).read(rows=slice(0, 30)).num_rows == 30


def test_what_is_no_parquet_file(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"nothing of the kind")
    with pytest.raises(amudai.CorruptedData, match=r"a\.parquet"):
        amudai.attach(tmp_path, tmp_path / "x.amudai.shard")
    with pytest.raises(amudai.StorageError, match="expected Parquet files, found none"):
        amudai.attach(str(tmp_path / "*.pq"), tmp_path / "x.amudai.shard")
    with pytest.raises(amudai.InvalidArgument, match="expected paths of Parquet files"):
        amudai.attach([], tmp_path / "x.amudai.shard")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.parquet"]


def test_column_chunks_before_the_file_are_refused(tmp_path: Path) -> None:
    """Footers with negative places and sizes."""
    out = pa.BufferOutputStream()
    # A column without nulls has no histogram of levels: Arrow ends the process if that has a wrong size.
    pq.write_table(pa.table([[1, 2, 3]], pa.schema([pa.field("n", pa.int64(), nullable=False)])), out)
    content, tried = out.getvalue().to_pybytes(), 0
    for at in range(4, len(content) - 8):
        changed = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]  # the sign of a number in the footer
        try:
            chunk = pq.read_metadata(pa.BufferReader(changed)).row_group(0).column(0)
            places = chunk.data_page_offset, chunk.dictionary_page_offset or 0, chunk.total_compressed_size
        except (pa.ArrowException, OSError, ValueError, IndexError):
            continue
        if min(places) < 0:
            tried += 1
            (tmp_path / "a.parquet").write_bytes(changed)
            with pytest.raises(amudai.CorruptedData, match=r"a\.parquet"):
                amudai.attach(tmp_path / "a.parquet", tmp_path / "x.amudai.shard")
    assert tried


def test_files_elsewhere_need_to_be_allowed(lake: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    away = tmp_path_factory.mktemp("away") / "x.amudai.shard"
    with pytest.raises(amudai.InvalidArgument, match="expected allow= to permit it"):
        amudai.attach(lake, away)
    shard = amudai.attach(lake, away, allow=[str(lake)])
    assert shard.read(["n"])["n"].to_pylist() == list(range(200))
    with pytest.raises(amudai.AmudaiError, match=r"part\.parquet"):
        amudai.open(away).read()


def test_refresh_reads_what_changed_and_adds_what_is_new(lake: Path) -> None:
    shard = attach(lake)
    pq.write_table(table(100, 150), lake / "year=2025" / "part.parquet")
    pq.write_table(table(500, 5), lake / "year=2024" / "more.parquet")
    fresh = amudai.refresh(shard, lake / "fresh.amudai.shard")
    assert fresh.read(["n"])["n"].to_pylist() == [*range(100), *range(500, 505), *range(100, 250)]
    assert [(each.type, each.fields) for each in fresh.indexes] == [(each.type, each.fields) for each in shard.indexes]
    assert fresh.scan(["year"], where=col("word").has("w249")).to_table()["year"].to_pylist() == [2025]
    (lake / "year=2024" / "part.parquet").unlink()
    assert amudai.refresh(fresh, fresh.url, overwrite=True).num_rows == 155
    native = amudai.write({"n": [1]}, lake / "native.amudai.shard")
    with pytest.raises(amudai.InvalidArgument, match=r"expected one that amudai\.attach made"):
        amudai.refresh(native, lake / "y.amudai.shard")


def test_deletes_merges_and_copies(lake: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    shard = attach(lake)
    fewer = amudai.delete(shard, where=col("n") < 150, to=lake / "fewer.amudai.shard")
    native = amudai.write(
        table(1000, 3).append_column("year", pa.array([2030] * 3)), lake / "native.amudai.shard", indexes=INDEXES
    )
    both = amudai.merge([fewer, native], lake / "both.amudai.shard")
    expected = [*range(150, 200), *range(1000, 1003)]
    assert both.read(["n"])["n"].to_pylist() == expected
    assert both.count(col("word").has("common")) == 53
    assert both.scan(["n"], where=col("word").has("w1001")).to_table()["n"].to_pylist() == [1001]
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "copy.amudai.shard"
    copied = amudai.copy(both, elsewhere)
    shutil.rmtree(lake / "year=2025")
    assert copied.read(["n"])["n"].to_pylist() == expected
    assert copied.verify().ok
    own = amudai.compact([copied], to=elsewhere.with_name("own.amudai.shard"))
    assert own.read(["n"])["n"].to_pylist() == expected


@pytest.mark.parametrize("keep", [False, True])
def test_materialize(lake: Path, keep: bool) -> None:
    shard = attach(lake)
    own = amudai.materialize(shard, lake / "own.amudai.shard", columns=["word"], keep=keep)
    assert {field.name: field.storage for field in own.inspect().fields} == {
        "n": "parquet",
        "word": "blocks",
        "year": "constant",
    }
    assert own.read().equals(shard.read())
    assert own.scan(["n"], where=col("word").has("w7")).to_table()["n"].to_pylist() == [7]
    other = amudai.open(own.url, prefer="parquet")
    assert {field.name: field.storage for field in other.inspect().fields}["word"] == ("parquet" if keep else "blocks")
    assert other.read().equals(shard.read())
    everything = amudai.materialize(own, lake / "all.amudai.shard")
    if not keep:
        assert [each.kind for each in everything.files] == ["root", "shard", "shard"] or len(everything.files) >= 2
        shutil.rmtree(lake / "year=2024")
        shutil.rmtree(lake / "year=2025")
        assert amudai.open(everything.url).read(["n", "word"]).num_rows == 200


def test_materialize_in_another_folder(lake: Path, tmp_path: Path) -> None:
    shard = attach(lake)
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(amudai.InvalidArgument, match="expected allow= to permit it"):
        amudai.materialize(shard, other / "own.amudai.shard", columns=["word"])
    own = amudai.materialize(shard, other / "own.amudai.shard", columns=["word"], allow=[lake])
    assert own.read().equals(shard.read())


def test_arguments(lake: Path) -> None:
    shard = attach(lake)
    with pytest.raises(amudai.StorageError, match="overwrite=True"):
        attach(lake)
    with pytest.raises(amudai.InvalidArgument, match="ranges: expected columns of numbers or times, found 'word'"):
        attach(lake, "y", ranges=["word"])
    with pytest.raises(amudai.InvalidArgument, match="stripe_rows"):
        attach(lake, "y", stripe_rows=0)
    with pytest.raises(amudai.InvalidArgument, match="prefer: expected 'cheaper', 'native' or 'parquet'"):
        amudai.open(shard.url, prefer="other")  # type: ignore[arg-type]
    pq.write_table(pa.table({"tags": [["a"]]}), lake / "lists.parquet")
    with pytest.raises(amudai.InvalidArgument, match="expected the granularity 'record' for lists"):
        amudai.attach(
            lake / "lists.parquet",
            lake / "lists.amudai.shard",
            indexes=[amudai.TermIndex("tags.item", granularity="element")],
        )


def test_times_beyond_ticks(tmp_path: Path) -> None:
    table = pa.table(
        {
            "at": pa.array([-(10**17), 10**17, 7], pa.timestamp("us")),  # years -1199 and 5138, and beyond datetime
            "span": pa.array([-(10**12), 10**12, None], pa.duration("s")),
            "fine": pa.array([1, 2, 10**18 + 7], pa.timestamp("ns")),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(amudai.InvalidArgument, match='timestamps="int64"'):
        amudai.attach(tmp_path / "a.parquet", tmp_path / "x.amudai.shard")
    shard = amudai.attach(tmp_path / "a.parquet", tmp_path / "x.amudai.shard", timestamps="int64")
    assert shard.read().equals(table)
    assert shard.scan(where=col("fine") == pa.scalar(10**18 + 7, pa.timestamp("ns"))).positions().tolist() == [2]
    assert shard.verify(deep=True).ok
    pq.write_table(pa.concat_tables([table, table]), tmp_path / "a.parquet")
    assert amudai.refresh(shard, tmp_path / "y.amudai.shard").read().equals(pa.concat_tables([table, table]))
    # Footers tell nothing useful about such times; nothing is read.
    footers = amudai.attach(tmp_path / "a.parquet", tmp_path / "z.amudai.shard", timestamps="int64", ranges=[])
    assert footers.scan(where=col("at") > pa.scalar(7, pa.timestamp("us"))).positions().tolist() == [1, 4]


def test_no_rows(tmp_path: Path) -> None:
    pq.write_table(table(0, 0), tmp_path / "none.parquet")
    shard = amudai.attach(tmp_path, tmp_path / "x.amudai.shard", indexes=INDEXES)
    assert (shard.num_rows, shard.read().to_pydict()) == (0, {"n": [], "word": []})


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.string()), pa.list_(pa.list_(pa.string())), pa.map_(pa.string(), pa.string())], ids=str
)
def test_deep_verification_of_items_that_only_reading_would_count(kind: pa.DataType, tmp_path: Path) -> None:
    # Footers count the levels of empty and absent lists as well, so they say more items than there are.
    lists: list[object] = [[], None, [["a", "b"], []], [None], [["c"]]]
    if pa.types.is_map(kind):
        lists = [[], None, [("a", "x"), ("b", None)], [("c", "y")]]
    elif kind == pa.list_(pa.string()):
        lists = [[], None, ["a", None], ["b"]]
    table = pa.table({"x": pa.array(lists, kind)})
    pq.write_table(table, tmp_path / "a.parquet")
    shard = amudai.attach(tmp_path / "a.parquet", to=tmp_path / "a.amudai.shard")
    assert shard.verify(deep=True).problems == ()
    twice = amudai.materialize(shard, tmp_path / "b.amudai.shard", keep=True)
    assert twice.verify(deep=True).problems == ()
    merged = amudai.merge([shard, twice], tmp_path / "c.amudai.shard")
    assert merged.verify(deep=True).problems == ()
    assert merged.read()["x"].to_pylist() == lists * 2
