"""Are streams read as files are, and their copies removed?"""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import amudai

LINES = b"2026-01-01 10:00:00 INFO started\n2026-01-01 10:00:01 WARN slow\n"


class Named(io.BytesIO):
    """A stream that has a name, as standard input has."""

    name = "<stdin>"


def parquet() -> bytes:
    out = io.BytesIO()
    pa.parquet.write_table(pa.table({"a": [1, 2]}), out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"a": 1}\n{"a": 2}\n', {"a": [1, 2]}),
        (gzip.compress(b'{"a": 1}\n{"a": 2}\n'), {"a": [1, 2]}),
        (parquet(), {"a": [1, 2]}),
        (b"x\ny\n", {"line": ["x", "y"], "file": ["<stdin>"] * 2, "line_number": [1, 2]}),
    ],
    ids=["json", "gzip", "parquet", "log"],
)
def test_the_format_of_a_stream_is_recognised(data: bytes, expected: dict[str, list[object]], tmp_path: Path) -> None:
    with amudai.read_files(Named(data), temp_dir=tmp_path) as source:
        assert source.size == len(data)
        assert source.files == ["<stdin>"]
        assert source.to_reader().read_all().to_pydict() == expected
        assert source.to_reader().read_all().to_pydict() == expected  # as often as one likes
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_streams_and_files_mix(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n")
    shard = amudai.ingest([tmp_path / "a.csv", io.BytesIO(b"id\n2\n")], tmp_path / "x.amudai.shard", format="csv")
    assert shard.read().to_pydict() == {"id": [1, 2]}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "x.amudai.shard"]


def test_a_stream_without_a_name_is_called_one(tmp_path: Path) -> None:
    with pytest.raises(amudai.CorruptedData, match=r"file <stream>, line 2"):
        amudai.ingest(io.BytesIO(b'{"a": 1}\nno json\n'), tmp_path / "x.amudai.shard")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_of_a_stream_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(amudai.AmudaiError):
        amudai.read_files(io.BytesIO(b"PAR1 but no more"), temp_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []
    with amudai.read_files(io.BytesIO(LINES)) as source:
        assert source.schema.names == ["line", "file", "line_number", "timestamp", "level"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_no_room_for_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = open

    def opened(path: str, *arguments: Any, **options: Any) -> Any:
        return real("/dev/full" if Path(path).name.startswith("copy-") else path, *arguments, **options)

    monkeypatch.setattr("amudai.sources.content.open", opened, raising=False)
    with pytest.raises(amudai.StorageError, match="expected room for the file, found none left on the device"):
        amudai.ingest(io.BytesIO(LINES), tmp_path / "a.amudai.shard", format="log")
    assert list(tmp_path.iterdir()) == []
