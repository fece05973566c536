"""Errors are ours and Python's, keep their message and place, and survive pickling."""

from __future__ import annotations

import errno
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import obstore.store
import pyarrow as pa
import pyarrow.fs
import pytest

import amudai
from amudai import CorruptedData, InvalidArgument, InvalidSchema, StorageError, UnsupportedFeature, col
from amudai.errors import (
    AmudaiError,
    Cancelled,
    ExistingFile,
    LimitExceeded,
    MissingColumn,
    MissingFile,
    RefusedAccess,
    ReplacedFile,
    located,
)
from amudai.storage import MemoryStore

NAME = "logs.amudai.shard"


@pytest.fixture
def shard(tmp_path: Path) -> amudai.Shard:
    return amudai.write({"status": [200, 404], "http": [{"path": "/"}, {"path": "/x"}]}, tmp_path / NAME)


# ---- what a caller may catch ----


def test_a_missing_shard(tmp_path: Path) -> None:
    path = tmp_path / "no logs.amudai.shard"
    with pytest.raises(FileNotFoundError, match=r"expected a file, found none \(url file:///.*no%20logs") as caught:
        amudai.open(path)
    assert isinstance(caught.value, StorageError)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, str(path))
    assert caught.value.strerror == "expected a file, found none"


def test_a_missing_shard_of_another_store() -> None:
    for store in (obstore.store.MemoryStore(), MemoryStore()):
        with pytest.raises(FileNotFoundError) as caught:
            amudai.open("dir/logs", store=store)
        assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, "dir/logs")


def test_a_missing_folder(tmp_path: Path) -> None:
    path = tmp_path / "none" / NAME
    with pytest.raises(FileNotFoundError, match="expected a folder to write into, found none") as caught:
        amudai.write({"a": [1]}, path)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, str(path))


@pytest.mark.parametrize("name", ["none.csv", "none*.csv", "folder"])
def test_a_missing_file_to_ingest(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileNotFoundError, match="found none") as caught:
        amudai.ingest(tmp_path / name, tmp_path / NAME)
    assert isinstance(caught.value, StorageError)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, str(tmp_path / name))


def test_a_shard_that_exists(tmp_path: Path, shard: amudai.Shard) -> None:
    with pytest.raises(FileExistsError, match="overwrite=True replaces it") as caught:
        amudai.write({"a": [1]}, tmp_path / NAME)
    assert isinstance(caught.value, StorageError)
    assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, str(tmp_path / NAME))
    assert shard.num_rows == 2


def test_an_object_that_exists() -> None:
    store = obstore.store.MemoryStore()
    amudai.write({"a": [1]}, NAME, store=store)
    with pytest.raises(FileExistsError, match="expected no shard yet"):
        amudai.write({"a": [1]}, NAME, store=store)


def test_refused_access(tmp_path: Path, shard: amudai.Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError, match="found it refused") as caught:
        amudai.open(tmp_path / NAME)
    assert isinstance(caught.value, StorageError)
    assert (caught.value.errno, caught.value.filename) == (errno.EACCES, str(tmp_path / NAME))


def test_other_trouble_with_storage(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="found a folder") as caught:
        amudai.open(tmp_path)
    assert isinstance(caught.value, StorageError)
    assert not isinstance(caught.value, FileNotFoundError)
    assert (caught.value.errno, caught.value.filename) == (None, str(tmp_path))


COLUMNS: dict[str, Callable[[amudai.Shard, Path], object]] = {
    "a look-up": lambda shard, _: shard["statsu"],
    "a member": lambda shard, _: shard["http.paths"],
    "a projection": lambda shard, _: shard.read(["statsu"]),
    "a predicate": lambda shard, _: shard.scan(where=col("statsu") == 200).read(),
    "a predicate on a member": lambda shard, _: shard.scan(where=col("http.paths") == "/").read(),
    "a schema": lambda _, path: amudai.open(path, schema={"statsu": pa.int32()}).read(),
    "an index": lambda shard, path: amudai.write(
        shard.read(), path.with_name("b"), indexes=[amudai.HashIndex("statsu")]
    ),
    "a Bloom filter": lambda shard, path: amudai.write(shard.read(), path.with_name("b"), bloom=["statsu"]),
}


@pytest.mark.parametrize("ask", COLUMNS.values(), ids=COLUMNS.keys())
def test_a_missing_column(shard: amudai.Shard, tmp_path: Path, ask: Callable[[amudai.Shard, Path], object]) -> None:
    with pytest.raises(KeyError) as caught:
        ask(shard, tmp_path / NAME)
    assert isinstance(caught.value, InvalidArgument)
    assert isinstance(caught.value, ValueError)
    # KeyError itself shows its argument in quotes.
    assert re.match(r"(column|schema|bloom)\b.*(statsu|http\.paths)", str(caught.value))


def test_names_that_may_have_been_meant(shard: amudai.Shard) -> None:
    with pytest.raises(MissingColumn, match=r"; did you mean 'status'\? \(url ") as caught:
        shard.scan(where=col("statsu") == 200).read()
    assert caught.value.near == ("status",)
    with pytest.raises(MissingColumn, match=r"; did you mean 'http\.path'\?") as caught:
        shard.scan(where=col("http.paths") == "/").read()
    assert "http.path" in caught.value.near
    assert str(caught.value).count("did you mean") == 1


def test_a_senseless_argument(shard: amudai.Shard) -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        shard.head(-1)
    assert isinstance(caught.value, InvalidArgument)


def test_a_schema_that_does_not_fit(tmp_path: Path) -> None:
    with (
        pytest.raises(ValueError, match="expected") as caught,
        amudai.ShardWriter(tmp_path / NAME, pa.schema([("a", pa.int64())])) as out,
    ):
        out.write(pa.table({"a": ["text"]}))
    assert isinstance(caught.value, InvalidSchema)


def test_what_a_store_cannot_do(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="creates a file only where there is none") as caught:
        amudai.write({"a": [1]}, str(tmp_path / NAME), store=pyarrow.fs.LocalFileSystem())
    assert isinstance(caught.value, UnsupportedFeature)


def test_damage_is_no_trouble_with_storage(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"no shard")
    with pytest.raises(CorruptedData) as caught:
        amudai.open(tmp_path / NAME)
    assert not isinstance(caught.value, OSError | ValueError | LookupError)


# ---- what all of them share ----

KINDS = [
    Cancelled,
    CorruptedData,
    ExistingFile,
    InvalidArgument,
    InvalidSchema,
    LimitExceeded,
    MissingColumn,
    MissingFile,
    RefusedAccess,
    ReplacedFile,
    StorageError,
    UnsupportedFeature,
]


def test_every_class_is_listed() -> None:
    found = {AmudaiError}
    while more := {below for kind in found for below in kind.__subclasses__()} - found:
        found |= more
    assert {kind for kind in found if kind.__module__ == "amudai.errors"} == {AmudaiError, *KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_the_message_and_the_place(kind: type[AmudaiError]) -> None:
    with pytest.raises(kind) as caught, located(url="file:///x", stripe=3), located(stripe=4):
        raise kind("expected 'a', found 'b'", block=1)
    error = caught.value
    assert str(error) == "expected 'a', found 'b' (url file:///x, stripe 4, block 1)"
    assert error.message == "expected 'a', found 'b'"
    assert error.args == ("expected 'a', found 'b'",)


@pytest.mark.parametrize("kind", KINDS)
def test_pickling_keeps_everything(kind: type[AmudaiError]) -> None:
    error = kind("expected 'a', found 'b'", url="file:///a%20b", stripe=3)
    error.add_note("left behind: c")
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is kind
    assert (str(found), found.place, found.__notes__) == (str(error), error.place, ["left behind: c"])
    if isinstance(error, OSError):
        assert (found.errno, found.filename, found.strerror) == (error.errno, "/a b", error.message)


def test_pickling_keeps_suggestions() -> None:
    error = MissingColumn("column 'a': expected b", near=["b", "c"], url="x")
    found = pickle.loads(pickle.dumps(error))
    assert str(found) == str(error) == "column 'a': expected b; did you mean 'b' or 'c'? (url x)"
    assert found.near == ("b", "c")


def test_a_file_whose_name_is_no_text() -> None:
    url = "file:///data/%FF"
    assert MissingFile("none", url=url).filename == os.fsdecode(b"/data/\xff")
    assert MissingFile("none").filename is None
    assert MissingFile("none", url="s3://bucket/a%20b").filename == "s3://bucket/a%20b"
