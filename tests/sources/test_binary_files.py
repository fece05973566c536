"""Parquet and Arrow files: names that occur twice, names that are no UTF-8, metadata, and row counts of footers."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import amudai
from amudai.errors import CorruptedData, InvalidSchema
from amudai.sources import read_files as read
from amudai.sources.names import unique_names
from tests.sources.test_read_files import content, table, write


def stored(data: pa.Table, name: str) -> bytes:
    out = io.BytesIO()
    if name.endswith(".parquet"):
        pa.parquet.write_table(data, out)
    else:
        with (
            pa.ipc.new_file(out, data.schema) if name.endswith(".arrow") else pa.ipc.new_stream(out, data.schema) as to
        ):
            to.write_table(data)
    return out.getvalue()


BINARY = ["t.parquet", "t.arrow", "t.arrows"]


@pytest.mark.parametrize("name", BINARY)
def test_two_columns_of_the_same_name(name: str, tmp_path: Path) -> None:
    data = pa.table([pa.array([1, 2]), pa.array(["x", None]), pa.array([0.5, 1.5])], names=["a", "a", "a_1"])
    path = write(tmp_path, name, stored(data, name))
    with pytest.raises(InvalidSchema, match=rf'column \'a\': .*found it twice: duplicates="rename".*{name}'):
        read(path)
    expected = {"a": [1, 2], "a_2": ["x", None], "a_1": [0.5, 1.5]}
    assert content(path, duplicates="rename") == expected
    shard = amudai.ingest(path, tmp_path / "x.amudai.shard", duplicates="rename")
    assert shard.read().to_pydict() == expected


@pytest.mark.parametrize("name", ["t.arrow", "t.arrows"])
def test_two_members_of_the_same_name(name: str, tmp_path: Path) -> None:
    members = pa.StructArray.from_arrays([pa.array([1, 2, 3]), pa.array(["x", None, "z"])], names=["m", "m"])
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 3]), members)
    data = pa.table({"s": members.slice(1), "l": lists})
    path = write(tmp_path, name, stored(data, name))
    with pytest.raises(InvalidSchema, match=r"member of 's' 'm': expected unique names"):
        read(path)
    assert table(read(path, duplicates="rename")).to_pydict() == {
        "s": [{"m": 2, "m_1": None}, {"m": 3, "m_1": "z"}],
        "l": [[{"m": 1, "m_1": "x"}, {"m": 2, "m_1": None}], [{"m": 3, "m_1": "z"}]],
    }


def test_names_are_numbered_until_they_are_free() -> None:
    assert unique_names(["a", "b", "a", "a_1", "a", "b"]) == ["a", "b", "a_2", "a_1", "a_3", "b_1"]
    assert unique_names([]) == []


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("nested", [False, True])
def test_names_that_are_no_utf8(name: str, nested: bool, tmp_path: Path) -> None:
    values = pa.array([{"NAMENAME": 1}]) if nested else pa.array([1])
    data = pa.table([pa.array([1]), values], names=["a", "outer" if nested else "NAMENAME"])
    out = stored(data, name)
    if name.endswith(".parquet"):  # without the Arrow schema, which holds the name once more in Base64
        sink = io.BytesIO()
        pa.parquet.write_table(data, sink, store_schema=False)
        out = sink.getvalue()
    path = write(tmp_path, name, out.replace(b"NAMENAME", b"NAME\xff\xfeNA"))
    where = r"member of 'outer' 0" if nested else "column 1"
    with pytest.raises(InvalidSchema, match=rf"{where}: expected a name in UTF-8, found b'NAME.*{name}"):
        read(path)


def test_the_metadata_of_a_parquet_file_survives(tmp_path: Path) -> None:
    schema = pa.schema([pa.field("a", pa.int64(), metadata={"unit": "s"})], metadata={"owner": "ops", "day": "1"})
    for name, metadata in (("1.parquet", {"owner": "ops", "day": "1"}), ("2.parquet", {"owner": "ops", "day": "2"})):
        with pa.parquet.ParquetWriter(tmp_path / name, schema, store_schema=name == "1.parquet") as out:
            out.write_table(pa.table({"a": [1]}, schema=schema))
            out.add_key_value_metadata({**metadata, "added": "later"})
    shard = amudai.ingest(tmp_path / "1.parquet", tmp_path / "one.amudai.shard")
    assert shard.schema.metadata == {b"owner": b"ops", b"day": b"1", b"added": b"later"}
    assert shard.schema.field("a").metadata[b"unit"] == b"s"
    (tmp_path / "one.amudai.shard").unlink()
    both = amudai.ingest(tmp_path, tmp_path / "two.amudai.shard")
    assert both.schema.metadata == {b"owner": b"ops", b"added": b"later"}


def test_a_footer_that_counts_other_rows(tmp_path: Path) -> None:
    data = stored(pa.table({"a": list(range(100))}), "t.parquet")
    # The row count of the footer is a varint in Thrift's compact form: 100 is stored as 200, in two bytes.
    place = data.rindex(b"\x16\xc8\x01\x19\x1c")
    path = write(tmp_path, "t.parquet", data[:place] + b"\x16\xca\x01\x19\x1c" + data[place + 5 :])
    assert pa.parquet.ParquetFile(path).metadata.num_rows == 101
    with pytest.raises(CorruptedData, match=r"rows: expected 101 by the footer, found 100 .*t\.parquet"):
        amudai.ingest(path, tmp_path / "x.amudai.shard")
    assert [each.name for each in tmp_path.iterdir()] == ["t.parquet"]
