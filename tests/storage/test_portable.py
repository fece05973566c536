"""Stores that travel to another process, and stores that must not."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import obstore.store
import pyarrow.fs
import pytest
from fsspec.implementations.dirfs import DirFileSystem

from amudai.errors import InvalidArgument
from amudai.storage import (
    ArrowStore,
    FsspecStore,
    LocalStore,
    MemoryStore,
    ObjectStore,
    PortableStore,
    Store,
    file_url,
    open_store,
    portable_store,
)

SECRET = "hunter2"
NAME = "table.amudai.shard"
KEYS = {"access_key_id": SECRET, "secret_access_key": SECRET}


def _read(portable: PortableStore, url: str) -> bytes:
    return bytes(portable.open().read_range(url, 2, 5))


def _travelled(store: Store) -> Store:
    """The store that the other process would have, by way of a pickle."""
    loaded = pickle.loads(pickle.dumps(portable_store(store)))
    assert loaded == portable_store(store)
    opened: Store = loaded.open()
    assert type(opened) is type(store)
    assert opened is not store
    return opened


def _on_disk(folder: Path) -> list[tuple[Store, str]]:
    subtree = pyarrow.fs.SubTreeFileSystem(str(folder), pyarrow.fs.LocalFileSystem())
    path = str(folder / NAME)
    return [
        (LocalStore(), file_url(path)),
        (ObjectStore(obstore.store.LocalStore(folder)), NAME),
        (ObjectStore(obstore.store.LocalStore()), path.lstrip("/")),
        (FsspecStore(fsspec.filesystem("file", auto_mkdir=True)), path),
        (FsspecStore(DirFileSystem(str(folder), fsspec.filesystem("file"))), NAME),
        (ArrowStore(pyarrow.fs.LocalFileSystem()), path),
        (ArrowStore(subtree), NAME),
    ]


@pytest.mark.slow
def test_a_spawned_process_reads_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"0123456789")
    calls = [(portable_store(store), url) for store, url in _on_disk(tmp_path)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.starmap(_read, calls) == [b"234"] * len(calls)


def test_local_files_travel(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"0123456789")
    for store, url in _on_disk(tmp_path):
        assert bytes(_travelled(store).read_range(url, 7, 10)) == b"789"


def test_few_bytes_travel(tmp_path: Path) -> None:
    remote, _ = open_store("s3://bucket/logs/a.shard")
    s3 = ObjectStore(obstore.store.S3Store("bucket", prefix="logs/2024", region="eu-west-1", skip_signature=True))
    public = ArrowStore(pyarrow.fs.S3FileSystem(anonymous=True, region="eu-west-1"))
    for store in (remote, s3, public, *(store for store, _ in _on_disk(tmp_path))):
        assert len(pickle.dumps(portable_store(store))) < 300


def test_relative_folders_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / NAME).write_bytes(b"0123456789")
    monkeypatch.chdir(tmp_path)
    subtree = pyarrow.fs.SubTreeFileSystem("data", pyarrow.fs.LocalFileSystem())
    portable = [portable_store(ObjectStore(obstore.store.LocalStore("data"))), portable_store(ArrowStore(subtree))]
    monkeypatch.chdir("/")
    assert [_read(each, NAME) for each in portable] == [b"234", b"234"]


def test_a_url_alone_travels_as_that_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", SECRET)
    for url in ("s3://bucket/logs/a.shard", "https://example.org/logs/a.shard", "gs://bucket/logs/a.shard"):
        store, _ = open_store(url)
        portable = portable_store(store)
        assert portable.arguments == (url.removesuffix("a.shard"),)
        assert SECRET.encode() not in pickle.dumps(portable)
        opened = _travelled(store)
        assert opened.capabilities == store.capabilities
        assert portable_store(opened) == portable


def test_harmless_settings_of_obstore_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", SECRET)
    settings: dict[str, Any] = {
        "prefix": "logs/new",
        "region": "eu-west-1",
        "endpoint": "http://localhost:9000",
        "skip_signature": True,
        "virtual_hosted_style_request": False,
        "client_options": {"allow_http": True, "timeout": "3s"},
    }
    original = obstore.store.S3Store("bucket", **settings)
    opened = _travelled(ObjectStore(original))
    assert isinstance(opened, ObjectStore)
    rebuilt = opened._store
    assert type(rebuilt) is obstore.store.S3Store
    assert (rebuilt.config, rebuilt.prefix, rebuilt.client_options) == (
        original.config,
        "logs/new",
        {"allow_http": "true", "timeout": "3s"},
    )
    assert SECRET.encode() not in pickle.dumps(portable_store(opened))
    azure = obstore.store.AzureStore("box", account_name="acme", skip_signature=True, retry_config={"max_retries": 2})
    rebuilt = pickle.loads(pickle.dumps(portable_store(ObjectStore(azure)))).open()._store
    assert (rebuilt.config, rebuilt.retry_config) == (azure.config, azure.retry_config)
    web = _travelled(ObjectStore(obstore.store.HTTPStore("https://example.org/logs")))
    assert isinstance(web, ObjectStore)
    assert web._store.url == "https://example.org/logs"


def test_a_public_bucket_of_pyarrow_travels() -> None:
    filesystem = pyarrow.fs.S3FileSystem(anonymous=True, region="eu-west-1", endpoint_override="localhost:9000")
    opened = _travelled(ArrowStore(pyarrow.fs.SubTreeFileSystem("bucket/logs", filesystem)))
    assert isinstance(opened, ArrowStore)
    assert opened._filesystem == pyarrow.fs.SubTreeFileSystem("bucket/logs", filesystem)
    private = pyarrow.fs.S3FileSystem(region="eu-west-1")
    opened = _travelled(ArrowStore(private))
    assert isinstance(opened, ArrowStore)
    assert opened._filesystem == private


class _Provider:
    def __call__(self) -> Any:
        return {"access_key_id": SECRET, "secret_access_key": SECRET, "expires_at": None}


class _WithOptions(fsspec.AbstractFileSystem):  # type: ignore[misc]
    protocol = "secretive"


def _s3(**settings: Any) -> Store:
    return ObjectStore(obstore.store.S3Store("bucket", **settings))


def _arrow_s3(**settings: Any) -> Store:
    return ArrowStore(pyarrow.fs.S3FileSystem(region="eu-west-1", **settings))


SECRETIVE: dict[str, Callable[[], Store]] = {
    "access_key_id, secret_access_key, session_token": lambda: _s3(**KEYS, token=SECRET),
    "credential_provider": lambda: _s3(credential_provider=_Provider()),
    "endpoint": lambda: _s3(endpoint=f"http://user:{SECRET}@localhost"),
    "default_headers": lambda: _s3(client_options={"default_headers": {"Authorization": SECRET}}),
    "proxy_url": lambda: _s3(client_options={"proxy_url": f"http://user:{SECRET}@localhost"}),
    "account_key": lambda: ObjectStore(
        obstore.store.AzureStore("box", account_name="acme", account_key="aHVudGVyMg==")
    ),
    "sas_key": lambda: ObjectStore(obstore.store.AzureStore("box", account_name="acme", sas_key=f"sig={SECRET}")),
    "url": lambda: ObjectStore(obstore.store.HTTPStore(f"https://example.org/logs?sig={SECRET}")),
    "base": lambda: ObjectStore(obstore.store.HTTPStore("https://example.org"), f"https://user:{SECRET}@example.org/"),
    "password": lambda: FsspecStore(_WithOptions(anon=True, password=SECRET)),
    "client_kwargs": lambda: FsspecStore(_WithOptions(client_kwargs={"key": SECRET})),
    "positional arguments": lambda: FsspecStore(_WithOptions(SECRET)),
    "endpoint_url": lambda: FsspecStore(DirFileSystem("x", _WithOptions(endpoint_url=f"http://a:{SECRET}@host"))),
    "access_key, secret_key": lambda: _arrow_s3(access_key=SECRET, secret_key=SECRET),
    "external_id, role_arn": lambda: _arrow_s3(role_arn="arn:aws:iam::1:role/x", external_id=SECRET),
    "proxy_options": lambda: _arrow_s3(proxy_options=f"http://user:{SECRET}@localhost:8080"),
    "AzureFileSystem": lambda: ArrowStore(pyarrow.fs.AzureFileSystem("acme", account_key="aHVudGVyMg==")),
}


@pytest.mark.slow
@pytest.mark.parametrize("names", SECRETIVE)
def test_a_secret_is_refused_by_the_name_of_its_setting(names: str) -> None:
    with pytest.raises(InvalidArgument, match="expected a store that another process can open") as caught:
        portable_store(SECRETIVE[names]())
    message = str(caught.value)
    assert names in message
    assert "pass the URL, and let credentials come from the environment" in message
    assert SECRET not in message
    assert "aHVudGVyMg==" not in message


@pytest.mark.parametrize(
    "store",
    [
        MemoryStore({"a": b"x"}),
        ObjectStore(obstore.store.MemoryStore()),
        FsspecStore(fsspec.filesystem("memory")),
        FsspecStore(DirFileSystem("/x", fsspec.filesystem("memory"))),
    ],
    ids=["ours", "obstore", "fsspec", "fsspec-folder"],
)
def test_memory_belongs_to_one_process(store: Store) -> None:
    with pytest.raises(InvalidArgument, match="lives in this process only: write the files to disk"):
        portable_store(store)


def test_an_unreadable_configuration_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="S3Store"):
        portable_store(_s3(**KEYS, allow_http=True))


def test_foreign_classes_are_refused() -> None:
    class Bucket(obstore.store.S3Store):
        pass

    handler = pyarrow.fs.FSSpecHandler(fsspec.filesystem("file"))
    for store in (ObjectStore(Bucket("bucket")), ArrowStore(pyarrow.fs.PyFileSystem(handler))):
        with pytest.raises(InvalidArgument, match="expected a store that another process can open"):
            portable_store(store)


class _Mute(LocalStore):
    """Inherits an answer that would open a plain LocalStore."""


class _Speaking(LocalStore):
    def __init__(self, folder: str) -> None:
        super().__init__()
        self.folder = folder

    def portable(self) -> PortableStore:
        return PortableStore(_Speaking, (self.folder,))


def test_a_class_of_the_user_speaks_for_itself() -> None:
    with pytest.raises(InvalidArgument, match=r"found an object of _Mute: override portable\(\) in _Mute"):
        portable_store(_Mute())
    opened = _travelled(_Speaking("logs"))
    assert isinstance(opened, _Speaking)
    assert opened.folder == "logs"
