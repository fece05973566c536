"""Does what a user passes become the right store and URL?"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import obstore.store
import pyarrow as pa
import pyarrow.fs
import pytest
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.memory import MemoryFile, MemoryFileSystem

from amudai.errors import AmudaiError, InvalidArgument, ReplacedFile, StorageError, UnsupportedFeature
from amudai.storage import (
    ArrowStore,
    Artifact,
    FsspecStore,
    LocalStore,
    MemoryStore,
    ObjectStore,
    Store,
    StoreCapabilities,
    StoredFile,
    file_url,
    open_store,
    resolve,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "our logs.amudai.shard"
    found.write_bytes(b"content")
    return found


def test_paths(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    for location in (path, str(path), path.name, f"./{path.name}", file_url(path), f"file://{path}"):
        store, url = open_store(location)
        assert isinstance(store, LocalStore)
        assert url == file_url(path)
        assert Artifact.open(store, url).read(0, 7) == b"content"


def test_a_url_of_an_escaped_name(tmp_path: Path) -> None:
    (tmp_path / "a%20b").write_bytes(b"content")
    store, url = open_store(f"file://{tmp_path}/a%20b")
    assert url == f"{file_url(tmp_path)}/a%2520b"
    assert store.size(url) == 7


def test_a_url_of_another_machine() -> None:
    with pytest.raises(StorageError, match="of this machine"):
        open_store("file://host/x")


def test_nothing_is_read() -> None:
    store, url = open_store("/nowhere/logs.amudai.shard")
    assert store.counters.requests == 0
    with pytest.raises(StorageError, match=r"found none \(url file:///nowhere/logs\.amudai\.shard\)"):
        store.size(url)


def test_a_store_of_ours() -> None:
    mine = MemoryStore({"dir/x": b"content"})
    assert open_store("dir/x", mine) == (mine, "dir/x")


@pytest.mark.parametrize(
    ("foreign", "adapter"),
    [
        (obstore.store.MemoryStore(), ObjectStore),
        (fsspec.filesystem("memory"), FsspecStore),
        (ArrowFSWrapper(pyarrow.fs.LocalFileSystem()), FsspecStore),
        (pyarrow.fs.LocalFileSystem(), ArrowStore),
        (pyarrow.fs.SubTreeFileSystem("/", pyarrow.fs.LocalFileSystem()), ArrowStore),
    ],
    ids=lambda each: type(each).__name__,
)
def test_stores_of_others(foreign: object, adapter: type) -> None:
    store, url = open_store("dir/x", foreign)
    assert type(store) is adapter
    assert url == "dir/x"


@pytest.mark.parametrize("wrong", [1, "s3", pa.table({"a": [1]}), object(), {}])
def test_what_is_no_store(wrong: object) -> None:
    with pytest.raises(InvalidArgument, match=r"store: expected an obstore store, .* found "):
        open_store("x", wrong)


def test_a_store_must_declare_its_capabilities() -> None:
    class Silent(Store):
        def _size(self, url: str) -> int:
            return 0

        def _fetch(self, url: str, ranges: object) -> list[bytes]:
            return []

        def _put(self, url: str, parts: object) -> None:
            return None

    with pytest.raises(TypeError, match="capabilities"):
        Silent()  # type: ignore[abstract]


def test_a_remote_url_is_its_own_root() -> None:
    store, url = open_store("s3://bucket/dir/logs.amudai.shard")
    assert isinstance(store, ObjectStore)
    assert url == "s3://bucket/dir/logs.amudai.shard"
    with pytest.raises(StorageError, match="expected a URL below s3://bucket/dir/"):
        store.size("s3://other/dir/x")


def test_urls_below_a_base() -> None:
    objects = obstore.store.MemoryStore()
    objects.put("a b", b"stripe")
    store = ObjectStore(objects, base="s3://bucket/dir/")
    assert store.size("s3://bucket/dir/a%20b") == 6
    assert store.size(resolve("a%20b", "s3://bucket/dir/logs")) == 6
    with pytest.raises(StorageError, match=r"found none \(url s3://bucket/dir/c\)"):
        store.size("s3://bucket/dir/c")


@pytest.mark.parametrize(
    "location", ["https://user:hunter2@host/x", "https://host/x?sig=hunter2", "https://host/x#hunter2"]
)
def test_no_secrets_in_locations(location: str) -> None:
    with pytest.raises(InvalidArgument, match="without credentials") as caught:
        open_store(location)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("location", ["s3://bucket", "s3://bucket/", "s3://bucket/dir/"])
def test_a_container_is_no_file(location: str) -> None:
    with pytest.raises(InvalidArgument, match="expected the URL of a file"):
        open_store(location)


def test_an_unknown_scheme() -> None:
    with pytest.raises(StorageError, match="nope://host/x"):
        open_store("nope://host/x")


def test_without_obstore_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(StorageError, match=r"pip install amudai\[remote\]"):
        open_store("s3://bucket/x")


def test_a_file_system_without_exclusive_mode(tmp_path: Path) -> None:
    store = FsspecStore(ArrowFSWrapper(pyarrow.fs.LocalFileSystem()))
    with pytest.raises(UnsupportedFeature, match='without mode "xb"'):
        store.put_if_absent(str(tmp_path / "x"), [b"content"])
    assert list(tmp_path.iterdir()) == []


def test_what_kinds_of_object_stores_declare() -> None:
    aws = ObjectStore(obstore.store.S3Store("bucket", region="us-east-1"))
    assert aws.capabilities == StoreCapabilities(
        create_only=True,
        suffix_ranges=True,
        listable=True,
        replaces=True,
        removes=True,
        merge_gap=1 << 20,
        read_ahead=1 << 16,
    )
    azure = ObjectStore(obstore.store.AzureStore("container", account_name="account"))
    assert azure.capabilities == replace(aws.capabilities, suffix_ranges=False)


def test_a_store_that_refuses_a_suffix_is_asked_for_the_size() -> None:
    class Refusing(obstore.store.MemoryStore):  # type: ignore[misc]
        def get(self, path: str, *, options: dict[str, Any]) -> object:
            if "suffix" in options["range"]:
                raise ValueError("416 Range Not Satisfiable")
            return super().get(path, options=options)

    objects = Refusing()
    objects.put("x", b"content")
    store = ObjectStore(objects)
    file, tail = store.read_tail("x", 4)
    assert (file.size, tail) == (7, b"tent")
    assert (store.counters.requests, store.counters.bytes) == (3, 4)


def test_a_file_that_is_replaced_while_it_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Azure has no suffix ranges: the size comes first. The file may be replaced before its last bytes are read."""
    objects = obstore.store.MemoryStore()
    objects.put("x", b"the first content")
    store = ObjectStore(objects)
    monkeypatch.setattr(store, "_capabilities", replace(store.capabilities, suffix_ranges=False))
    identify, contents = store.identify, [b"the second", b"the third one"]

    def replaced(url: str) -> StoredFile:
        found = identify(url)
        if contents:
            objects.put("x", contents.pop(0))
        return found

    monkeypatch.setattr(store, "identify", replaced)
    file, tail = store.read_tail("x", 9)
    assert (file.size, bytes(tail)) == (13, b"third one")
    contents += [b"%d" % number for number in range(100)]
    with pytest.raises(ReplacedFile, match=r"it was replaced \(url x\)"):
        store.read_tail("x", 1)


def test_an_object_store_without_conditional_put() -> None:
    store = ObjectStore(obstore.store.HTTPStore.from_url("https://localhost:1/"))
    assert store.capabilities == StoreCapabilities(merge_gap=1 << 20, read_ahead=1 << 16)
    with pytest.raises(UnsupportedFeature, match="only where there is none"):
        store.put_if_absent("x", [b"content"])


def test_a_failed_write_leaves_nothing() -> None:
    class Full(MemoryFile):
        def write(self, _: object) -> int:  # type: ignore[override]
            raise OSError("disk full")

    class FullFileSystem(MemoryFileSystem):
        cachable = False

        def _open(self, path: str, mode: str = "rb", **_: object) -> Full:
            self.store[path] = Full(self, path)
            return self.store[path]

    filesystem = FullFileSystem()
    with pytest.raises(StorageError, match="disk full"):
        FsspecStore(filesystem).put_if_absent("/full/x", [b"content"])
    assert not filesystem.exists("/full/x")


def test_errors_among_results_are_raised() -> None:
    class Returns(MemoryFileSystem):
        cachable = False

        def cat_ranges(self, paths: list[str], *_: object, **__: object) -> list[object]:
            return [b"x", *[FileNotFoundError(path) for path in paths[1:]]]

    with pytest.raises(AmudaiError, match="expected a file, found none"):
        FsspecStore(Returns()).read_ranges("x", [(0, 1), (2, 3)])


def test_a_folder_that_is_missing_in_a_file_system(tmp_path: Path) -> None:
    store = FsspecStore(fsspec.filesystem("file"))
    with pytest.raises(StorageError, match="expected a folder to write into"):
        store.put_if_absent(str(tmp_path / "none" / "x"), [b"content"])
    with pytest.raises(StorageError, match="found a folder"):
        store.size(str(tmp_path))
    with pytest.raises(StorageError, match="found a folder"):
        ArrowStore(pyarrow.fs.LocalFileSystem()).size(str(tmp_path))
