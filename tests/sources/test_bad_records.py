"""Bad records that are kept as text."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import amudai
from amudai.errors import InvalidSchema
from amudai.sources import read_files as read
from tests.sources.test_read_files import content, table, write


def test_a_bad_record_is_kept_as_text(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "n,s\n1,a\nbroken\nx,b\n2,c\n")
    found: list[amudai.BadRecord] = []
    shard = amudai.ingest(
        path, tmp_path / "x.amudai.shard", types={"n": "int64"}, on_error="keep", on_bad_record=found.append
    )
    rows = sorted(shard.read().to_pylist(), key=str)
    assert rows == sorted(
        [
            {"n": 1, "s": "a", "bad_record": None, "bad_record_place": None},
            {"n": 2, "s": "c", "bad_record": None, "bad_record_place": None},
            {"n": None, "s": None, "bad_record": "broken", "bad_record_place": f"{path}:3"},
            {"n": None, "s": None, "bad_record": "x,b", "bad_record_place": f"{path}:4"},
        ],
        key=str,
    )
    assert [(each.line, each.text) for each in found] == [(3, "broken"), (4, "x,b")]
    source = read(path, types={"n": "int64"}, on_error="keep")
    assert table(source).num_rows == 4
    assert source.bad_records.count == 2


def test_kept_text_is_whole_and_shows_odd_bytes(tmp_path: Path) -> None:
    long = b"x" * 5000
    path = write(tmp_path, "t.log", b"one\n" + long + b"\xff\r\ntwo\n")
    found = content(path, on_error="keep")
    assert found["bad_record"] == [None, None, long.decode() + "\\xff"]
    assert found["line"] == ["one", "two", None]


def test_columns_of_folders_are_filled_and_all_can_be_null(tmp_path: Path) -> None:
    strict = pa.schema([pa.field("a", pa.int64(), nullable=False)])
    pa.parquet.write_table(pa.table({"a": [1]}, schema=strict), tmp_path / "1.parquet")
    write(tmp_path, "k=7/2.jsonl", '{"a": 2}\nnope\n')
    source = read(tmp_path, on_error="keep")
    assert all(field.nullable for field in source.schema)
    rows = table(source).select(["a", "k", "bad_record"]).to_pylist()
    assert rows == [
        {"a": 1, "k": None, "bad_record": None},
        {"a": 2, "k": 7, "bad_record": None},
        {"a": None, "k": 7, "bad_record": "nope"},
    ]


def test_the_names_of_the_columns_must_be_free(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "bad_record\n1\n")
    with pytest.raises(InvalidSchema, match="column 'bad_record': expected another name"):
        read(path, on_error="keep")
    assert content(path) == {"bad_record": [1]}
