"""Columns in Parquet files: every type and nesting, several files, and nothing read that is not wanted."""

from __future__ import annotations

import datetime as dt
import shutil
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import amudai
from amudai import col
from amudai.column.parquet_files import ParquetFile
from tests.effort import examples
from tests.writing.arrays import Maker, kinds, plain

TABLE = pa.table(
    {
        "id": pa.array(range(1000), pa.int64()),
        "at": pa.array([dt.datetime(2024, 1, 1) + dt.timedelta(seconds=at) for at in range(1000)], pa.timestamp("us")),
        "fine": pa.array([1_700_000_000_000_000_000 + 37 * at for at in range(1000)], pa.timestamp("ns", "UTC")),
        "word": [f"word{at % 50} of {at}" for at in range(1000)],
        "code": pa.array(["abc"[at % 3] for at in range(1000)]).dictionary_encode(),
        "http": [{"status": 200 + at % 2, "path": f"/{at % 7}"} if at % 5 else None for at in range(1000)],
        "tags": [["red", "blue"][: at % 3] if at % 4 else None for at in range(1000)],
        "pairs": pa.array(
            [[("k", {"v": at})] for at in range(1000)], pa.map_(pa.string(), pa.struct([("v", pa.int64())]))
        ),
        "price": pa.array([Decimal(at) / 100 for at in range(1000)], pa.decimal128(9, 2)),
        "ratio": pa.array([at / 3 for at in range(1000)], pa.float32()),
        "even": [at % 2 == 0 for at in range(1000)],
    }
)


def attached(
    folder: Path, table: pa.Table = TABLE, *, group: int = 150, files: int = 3, **options: object
) -> amudai.Shard:
    """A shard over some files that hold the table."""
    folder.mkdir(exist_ok=True)
    size = max(1, -(-table.num_rows // files))
    for at in range(files):
        pq.write_table(table.slice(at * size, size), folder / f"{at}.parquet", row_group_size=group)
    given_options = {"stripe_rows": 400, "overwrite": True, **options}
    return amudai.attach(folder, folder / "lake.amudai.shard", **given_options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard:
    indexes = [amudai.TermIndex("word", "tags.item"), amudai.HashIndex("id", "http.path")]
    return attached(tmp_path_factory.mktemp("attached") / "lake", indexes=indexes)


def test_values_and_types_are_those_of_the_files(shard: amudai.Shard) -> None:
    found = shard.read()
    assert found.schema.types == TABLE.schema.types
    assert found.to_pylist() == TABLE.to_pylist()
    assert [stripe.num_rows for stripe in shard.stripes] == [334, 334, 332]


@pytest.mark.parametrize("rows", [slice(140, 160), slice(333, 335), slice(0, 1000, 7), slice(995, 1000)])
def test_some_rows(shard: amudai.Shard, rows: slice) -> None:
    positions = list(range(1000))[rows]
    assert shard.take(positions).to_pylist() == TABLE.take(positions).to_pylist()


@pytest.mark.parametrize(
    "where",
    [
        "id == 700",
        "at >= '2024-01-01T00:10:00' and at < '2024-01-01T00:10:05'",
        "http.status == 201 and id < 20",
        "price > 9.95",
        "ratio < 1",
        "even == true and id > 990",
        "code == 'b' and id > 980",
        "word has 'word7' and id > 500",
        "tags.item has 'blue' and id < 40",
        "http.path == '/3' and id < 60",
        "http is null and id > 900",
        "fine > '2023-11-14T22:13:20.000036889Z'",
    ],
)
def test_predicates(shard: amudai.Shard, tmp_path: Path, where: str) -> None:
    native = amudai.write(TABLE, tmp_path / "native.amudai.shard")
    found = shard.scan(["id"], where=where).to_table()["id"].to_pylist()
    assert found == native.scan(["id"], where=where).to_table()["id"].to_pylist()
    assert 0 < len(found) < 1000


def test_only_row_groups_with_wanted_rows_are_read(shard: amudai.Shard) -> None:
    with amudai.open(shard.url) as opened:
        scan = opened.scan(["word"], where=col("id") == 700)
        assert scan.to_table()["word"].to_pylist() == ["word0 of 700"]
        report = scan.explain()
    assert report.blocks_decoded == 2  # one chunk of `id` to be sure, and one of `word`
    assert report.blocks == 18  # three row groups in each of three files, for both columns


def test_only_wanted_members_are_read(shard: amudai.Shard) -> None:
    with amudai.open(shard.url) as opened:
        scan = opened.scan(["http.status"])
        assert scan.to_table().num_rows == 1000
        assert scan.explain().blocks_decoded == 9  # the chunks of `status`, not those of `path`


def test_a_row_group_is_decoded_once_for_a_whole_scan(tmp_path: Path) -> None:
    table = pa.table({"n": np.arange(300_000)})
    found = attached(tmp_path / "lake", table, group=300_000, files=1, stripe_rows=1 << 20)
    scan = found.scan(["n"])
    assert scan.to_table().equals(table)
    assert scan.explain().blocks_decoded == 1


def test_footers_alone_answer_for_columns_that_are_not_read(tmp_path: Path) -> None:
    found = attached(tmp_path / "lake", ranges=[], stripe_rows=1)
    assert found.scan(["id"], where=col("id") == 700).explain().doubtful == 150  # the row group that may hold it
    assert found.scan(["id"], where=col("id") == 700).to_table()["id"].to_pylist() == [700]
    assert found.scan(where=col("at") < dt.datetime(2023, 1, 1)).explain().doubtful == 0
    assert found.count(col("ratio").is_null()) == 0
    layout = {field.name: field.bytes for field in found.inspect().fields}
    assert layout["id"] == layout["word"] == 0
    assert layout["fine"] > 0  # times that are finer than ticks are always read


def test_files_that_lack_a_column_have_nulls(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [3], "c": [0.5]}), tmp_path / "2.parquet")
    found = amudai.attach(tmp_path, tmp_path / "all.amudai.shard")
    assert found.read().to_pydict() == {"a": [1, 2, 3], "b": ["x", "y", None], "c": [None, None, 0.5]}
    assert found.verify().ok


def test_numbers_and_texts_of_different_widths_get_the_wider_type(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": pa.array([1], pa.int32()), "t": pa.array(["x"])}), tmp_path / "1.parquet")
    wide = pa.table({"n": pa.array([1 << 40], pa.int64()), "t": pa.array(["y"], pa.large_string())})
    pq.write_table(wide, tmp_path / "2.parquet")
    found = amudai.attach(
        tmp_path, tmp_path / "all.amudai.shard", indexes=[amudai.HashIndex("n"), amudai.TermIndex("t")]
    )
    assert found.read().to_pydict() == {"n": [1, 1 << 40], "t": ["x", "y"]}
    assert found.schema.field("n").type == pa.int64()
    assert found.scan(where=(col("n") == 1) & col("t").has("x")).positions().tolist() == [0]


def test_nested_columns_of_different_types_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"s": [{"a": 1}]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"s": [{"a": 1, "b": 2}]}), tmp_path / "2.parquet")
    with pytest.raises(amudai.InvalidSchema, match=r"column 's': expected struct<a: int64, b: int64>"):
        amudai.attach(tmp_path, tmp_path / "all.amudai.shard")


def test_members_can_be_renamed_and_dropped(tmp_path: Path) -> None:
    deep = pa.table({"rows": [[{"a": 1, "b": {"c": "x", "d": 2.5}}], None, []]})
    found = attached(tmp_path / "lake", TABLE.slice(0, 3), files=1)
    folder = tmp_path / "lake"
    renamed = amudai.rename_columns(found, {"http.status": "code"}, folder / "renamed.amudai.shard")
    assert renamed.read(["http"]).to_pylist()[1] == {"http": {"code": 201, "path": "/1"}}
    assert renamed.scan(where="http.code == 201").positions().tolist() == [1]
    fewer = amudai.drop_columns(renamed, ["http.path"], folder / "fewer.amudai.shard")
    assert fewer.read(["http"]).to_pylist() == [{"http": None}, {"http": {"code": 201}}, {"http": {"code": 200}}]
    pq.write_table(deep, tmp_path / "deep.parquet")
    lists = amudai.attach(tmp_path / "deep.parquet", tmp_path / "deep.amudai.shard")
    other = amudai.rename_columns(lists, {"rows": "all"}, tmp_path / "other.amudai.shard")
    assert other.read().to_pylist() == [{"all": row["rows"]} for row in deep.to_pylist()]


@pytest.mark.parametrize("how", ["fsspec", "obstore"])
def test_any_store(how: str) -> None:
    import fsspec
    import obstore.store

    stores = {
        "fsspec": lambda: fsspec.filesystem("memory"),
        "obstore": obstore.store.MemoryStore,
    }
    store = stores[how]()
    out = pa.BufferOutputStream()
    pq.write_table(TABLE, out, row_group_size=150)
    content = out.getvalue().to_pybytes()
    if how == "fsspec":
        store.pipe("/lake/a.parquet", content)
    else:
        store.put("lake/a.parquet", content)
    folder = "/lake" if how == "fsspec" else "lake"
    found = amudai.attach(
        f"{folder}/a.parquet",
        f"{folder}/x.amudai.shard",
        store=store,
        indexes=[amudai.TermIndex("word")],
        overwrite=True,
    )
    scan = found.scan(["id", "http"], where=col("word").has("700"))
    assert scan.to_table().to_pylist() == TABLE.select(["id", "http"]).slice(700, 1).to_pylist()
    assert scan.explain().blocks_decoded == 3  # `id` and two members of `http`: blocks of the index do not count


@examples(60)
@given(
    st.lists(kinds, min_size=1, max_size=2),
    st.integers(0, 30),
    st.integers(1, 12),
    st.integers(1, 3),
    st.integers(0, 2**32),
)
def test_every_type_that_parquet_has(types: list[pa.DataType], rows: int, group: int, files: int, seed: int) -> None:
    maker = Maker(seed)
    fields = [pa.field(f"c{at}", kind) for at, kind in enumerate(types)]
    folder = Path(tempfile.mkdtemp())
    try:
        expected: list[pa.Table] = []
        for at in range(files):
            arrays = [maker.array(kind, rows) for kind in types]
            try:
                pq.write_table(
                    pa.table(arrays, schema=pa.schema(fields)), folder / f"{at}.parquet", row_group_size=group
                )
                expected.append(pq.ParquetFile(folder / f"{at}.parquet").read())
            except (pa.ArrowException, OSError, ValueError):
                assume(False)
        try:
            found = amudai.attach(folder, folder / "x.amudai.shard", stripe_rows=10)
        except amudai.InvalidArgument as error:
            assume("outside" not in str(error) and "expected a time" not in str(error))
            raise
        for column in range(len(types)):
            wanted = [value for table in expected for chunk in table.column(column).chunks for value in plain(chunk)]
            values = found.read([f"c{column}"]).column(0)
            assert values.type == expected[0].column(column).type
            assert [value for chunk in values.chunks for value in plain(chunk)] == wanted
            some = list(range(0, len(wanted), 3))
            taken = found.take(some, [f"c{column}"]).column(0)
            assert [value for chunk in taken.chunks for value in plain(chunk)] == [wanted[at] for at in some]
        own = amudai.materialize(found, folder / "own.amudai.shard")
        for name in found.schema.names:
            a, b = own.read([name]).column(0), found.read([name]).column(0)
            assert [v for chunk in a.chunks for v in plain(chunk)] == [v for chunk in b.chunks for v in plain(chunk)]
    finally:
        shutil.rmtree(folder)


def test_only_the_first_rows_of_a_row_group_are_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 50_000
    table = pa.table({"n": range(rows), "s": [{"a": at, "b": [str(at)]} for at in range(rows)]})
    pq.write_table(table, tmp_path / "a.parquet")
    shard = amudai.attach(tmp_path / "a.parquet", tmp_path / "a.amudai.shard", ranges=[])
    whole: list[int] = []
    original = ParquetFile.read
    monkeypatch.setattr(ParquetFile, "read", lambda self, *given: whole.append(1) or original(self, *given))
    for start, decoded in ((20_000, 0), (100, 0), (24_000, 0), (40_000, 2), (24_900, 2), (0, 2)):
        assert shard.read(rows=slice(start, start + 50)).equals(table.slice(start, 50))
        # Rows behind those that were decoded first: then the whole chunk is decoded, once for each column.
        assert len(whole) == decoded, start


def _unsound(column: pa.Array) -> bytes:
    """A Parquet file that Arrow's reader takes, with a byte changed so that it gives an array that is not valid."""
    out = pa.BufferOutputStream()
    options: dict[str, Any] = {"compression": "NONE", "write_statistics": False}
    pq.write_table(pa.table({"x": column}), out, use_dictionary=pa.types.is_dictionary(column.type), **options)
    content = out.getvalue().to_pybytes()
    for at in range(4, len(content)):
        changed = content[:at] + b"\xff" + content[at + 1 :]
        try:
            found = pq.read_table(pa.BufferReader(changed), schema=pa.schema([("x", column.type)]))
            found.validate()
        except (pa.ArrowException, OSError):
            continue
        try:
            found.validate(full=True)
        except pa.ArrowInvalid:
            return changed
    raise AssertionError("no byte makes an array that is not valid")


@pytest.mark.parametrize("kind", ["text", "dictionary"])
def test_arrays_that_are_not_valid_are_refused(tmp_path: Path, kind: str) -> None:
    """Arrow's reader of Parquet checks neither UTF-8 nor the codes of dictionaries."""
    texts = pa.array(["alpha", "beta", "gamma"] * 20)
    column = texts if kind == "text" else texts.dictionary_encode()
    path, to = tmp_path / "x.parquet", tmp_path / "x.amudai.shard"
    path.write_bytes(_unsound(column))
    for indexes in ([], [amudai.TermIndex("x")]):
        with pytest.raises(amudai.CorruptedData, match=r"expected values that can be read.*x\.parquet"):
            amudai.attach(path, to=to, indexes=indexes, overwrite=True).read()
    shard = amudai.attach(path, to=to, overwrite=True)
    asked = [lambda: shard.take([1]), lambda: list(shard.scan(batch_rows=7)), lambda: shard.count("x = 'beta'")]
    for ask in asked:
        with pytest.raises(amudai.CorruptedData, match="expected values that can be read"):
            ask()
    assert not shard.verify().ok
