"""Are files left out that an earlier run took in?"""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import fsspec
import pytest

import amudai
from amudai.errors import CorruptedData, InvalidArgument, MissingFile
from amudai.format import MAX_SOURCE_MARKS, SOURCES_PROPERTY, source_marks_property
from tests.forge import Forge, numbers
from tests.sources.test_read_files import write


def test_only_new_files_are_taken_in(tmp_path: Path) -> None:
    logs, shards = tmp_path / "logs", tmp_path / "shards"
    shards.mkdir()
    write(logs, "a.csv", "n\n1\n")
    write(logs, "b.csv", "n\n2\n")
    first = amudai.ingest(logs, shards / "1.amudai.shard", only_new=True)
    assert first.read().to_pydict() == {"n": [1, 2]}
    assert first.properties == {}  # the note is the library's own
    with pytest.raises(MissingFile, match="only_new: expected a file that is new, found 2 that are not"):
        amudai.ingest(logs, shards / "2.amudai.shard", only_new=True)
    assert [path.name for path in shards.iterdir()] == ["1.amudai.shard"]
    write(logs, "c.csv", "n\n3\n")
    os.utime(write(logs, "b.csv", "n\n4\n"), ns=(0, 1_000_000_000))  # another time of modification
    second = amudai.ingest(logs, shards / "2.amudai.shard", only_new=True)
    assert second.read().to_pydict() == {"n": [4, 3]}
    with amudai.read_files(logs, not_in=shards) as source:
        assert source.files == []
        assert source.schema.names == []
        assert [(os.path.basename(path), reason) for path, reason in source.skipped] == [
            ("a.csv", "it is in 1.amudai.shard already"),
            ("b.csv", "it is in 2.amudai.shard already"),
            ("c.csv", "it is in 2.amudai.shard already"),
        ]
    # Without the option everything is read.
    assert amudai.ingest(logs, shards / "3.amudai.shard").num_rows == 3


def test_notes_survive_a_move_and_an_index(tmp_path: Path) -> None:
    (tmp_path / "old" / "shards").mkdir(parents=True)
    path = write(tmp_path, "old/logs/a.csv", "s\nx\n")
    amudai.ingest(path, tmp_path / "old/shards/1.amudai.shard")
    (tmp_path / "old").rename(tmp_path / "new")
    with amudai.read_files(tmp_path / "new/logs", not_in=tmp_path / "new/shards") as source:
        assert source.files == []
    old, indexed = tmp_path / "new/shards/1.amudai.shard", tmp_path / "new/shards/2.amudai.shard"
    amudai.add_indexes(old, [amudai.TermIndex("s")], indexed)
    old.rename(old.with_suffix(".hidden"))
    with amudai.read_files(tmp_path / "new/logs", not_in=f"file://{tmp_path}/new/shards") as source:
        assert source.skipped[0].reason == "it is in 2.amudai.shard already"


def test_members_of_archives_and_streams(tmp_path: Path) -> None:
    archive = tmp_path / "x.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("a.csv", "n\n1\n")
    shard = amudai.ingest([archive, io.BytesIO(b'{"n": 2}\n')], tmp_path / "1.amudai.shard")
    assert shard.num_rows == 2
    with zipfile.ZipFile(archive, "a") as out:
        out.writestr("b.csv", "n\n3\n")
    with amudai.read_files([archive, io.BytesIO(b'{"n": 2}\n')], not_in=tmp_path) as source:
        assert [os.path.basename(path) for path in source.files] == ["b.csv", "<stream>"]


def test_folders_in_stores(tmp_path: Path) -> None:
    filesystem = fsspec.filesystem("memory")
    root = f"/in-{os.urandom(4).hex()}"
    filesystem.pipe(f"{root}/a.csv", b"n\n1\n")
    amudai.ingest(f"memory:/{root}/a.csv", tmp_path / "1.amudai.shard")
    filesystem.pipe(f"{root}/b.csv", b"n\n2\n")
    with amudai.read_files(f"memory:/{root}", not_in=tmp_path) as source:
        assert [os.path.basename(path) for path in source.files] == ["b.csv"]


def test_what_makes_no_sense(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "n\n1\n")
    with pytest.raises(InvalidArgument, match="only_new: expected a new shard at a path or URL, found overwrite=True"):
        amudai.ingest(path, tmp_path / "1.amudai.shard", only_new=True, overwrite=True)
    with pytest.raises(InvalidArgument, match=r"only_new: .*found store="):
        amudai.ingest(path, "1.amudai.shard", only_new=True, store=fsspec.filesystem("memory"))


def test_a_note_has_a_limit_and_is_checked(tmp_path: Path) -> None:
    assert len(source_marks_property(range(MAX_SOURCE_MARKS))[0][1].value) == 1 << 20  # type: ignore[arg-type]
    assert source_marks_property(range(MAX_SOURCE_MARKS + 1)) == source_marks_property([]) == ()
    shard = Forge.of({"a": numbers([1, 2], "i8")}, properties={SOURCES_PROPERTY: b"123"}).root()
    (tmp_path / "x.amudai.shard").write_bytes(shard)
    with pytest.raises(CorruptedData, match=r"property amudai\.sources: expected bytes, 8 for each file"):
        amudai.read_files(write(tmp_path, "a.csv", "n\n1\n"), not_in=tmp_path)
