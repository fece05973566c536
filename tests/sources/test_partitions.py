"""Do folders such as `year=2024` become columns?"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import amudai
from amudai.errors import InvalidArgument, InvalidSchema
from amudai.sources import read_files as read
from tests.sources.test_read_files import content, write


def test_folders_become_columns(tmp_path: Path) -> None:
    write(tmp_path, "year=2023/month=12/a.csv", "n\n1\n")
    write(tmp_path, "year=2024/month=01/b.jsonl", '{"n": 2}\n{"n": 3}\n')
    write(tmp_path, "year=-5/month=__HIVE_DEFAULT_PARTITION__/c.csv", "n\n4\n")
    assert read(tmp_path).schema == pa.schema({"n": pa.int64(), "year": pa.int64(), "month": pa.string()})
    expected = [
        {"n": 4, "year": -5, "month": None},
        {"n": 1, "year": 2023, "month": "12"},
        {"n": 2, "year": 2024, "month": "01"},
        {"n": 3, "year": 2024, "month": "01"},
    ]
    shard = amudai.ingest(tmp_path, tmp_path / "x.amudai.shard")
    assert shard.read().to_pylist() == expected
    assert shard.read(["n"], where="year = 2024 and month = '01'").to_pydict() == {"n": [2, 3]}
    typed = read(tmp_path, types={"month": "int8"})
    assert typed.schema.field("month").type == pa.int8()
    with pytest.raises(InvalidArgument, match="types: expected columns of the files, found 'day'"):
        read(tmp_path / "year=2023", types={"day": "int8"})


def test_values_are_decoded(tmp_path: Path) -> None:
    write(tmp_path, "city=S%C3%A3o%20Paulo/a.csv", "n\n1\n")
    write(tmp_path, "city=a=b/a.csv", "n\n2\n")
    write(tmp_path, "city=/a.csv", "n\n3\n")
    write(tmp_path, "x=1.csv", "n\n4\n")  # a name, no folder
    assert content(tmp_path) == {"n": [4, 3, 1, 2], "city": [None, "", "São Paulo", "a=b"]}


@pytest.mark.parametrize("text", ["007", "+1", "1.0", "9223372036854775808", "\uff11"])
def test_what_is_no_plain_integer_stays_text(text: str, tmp_path: Path) -> None:
    write(tmp_path, f"k={text}/a.csv", "n\n1\n")
    assert content(tmp_path) == {"n": [1], "k": [text]}


def test_the_values_of_a_file_count_before_those_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "day=1").mkdir()
    pa.parquet.write_table(pa.table({"day": pa.array([7, 8], pa.int16())}), tmp_path / "day=1" / "a.parquet")
    write(tmp_path, "day=2/b.csv", "n\n5\n")
    assert read(tmp_path).schema.field("day").type == pa.int16()
    assert content(tmp_path) == {"day": [7, 8, 2], "n": [None, None, 5]}
    write(tmp_path, "day=none/b.csv", "n\n6\n")
    with pytest.raises(InvalidSchema, match="column 'day': expected a folder whose value int16 can hold, found 'none'"):
        read(tmp_path)
