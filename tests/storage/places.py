"""The stores that the battery runs against. A new adapter gets a line in `PLACES` and is tested."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec
import obstore.store
import pyarrow.fs
from fsspec.implementations.dirfs import DirFileSystem

from amudai.storage import (
    ArrowStore,
    FsspecStore,
    LocalStore,
    MemoryStore,
    ObjectStore,
    Store,
    file_url,
)
from tests.storage.servers import azurite, gcs_store, s3_store


@dataclass(frozen=True, kw_only=True)
class Place:
    """One store with an empty folder in it."""

    store: Store
    url: Callable[[str], str]  # of a name in that folder
    seed: Callable[[str, bytes], object]  # puts a file there, past the store
    names: Callable[[], set[str]]  # of the files in that folder, again past the store
    writes: bool = True
    races: bool = True  # two writers at once: exactly one may win


def _on_disk(folder: Path, store: Store, *, absolute: bool = False, **facts: bool) -> Place:
    def url(name: str) -> str:
        return file_url(folder / name) if absolute else name

    def seed(name: str, content: bytes) -> None:
        (folder / name).write_bytes(content)

    return Place(store=store, url=url, seed=seed, names=lambda: {each.name for each in folder.iterdir()}, **facts)


def local(folder: Path) -> Place:
    return _on_disk(folder, LocalStore(), absolute=True)


def memory(folder: Path) -> Place:
    store = MemoryStore()
    return Place(
        store=store,
        url=lambda name: f"dir/{name}",
        seed=lambda name, content: store._files.__setitem__(f"dir/{name}", content),
        names=lambda: {each.removeprefix("dir/") for each in store._files},
    )


def arrow(folder: Path) -> Place:
    filesystem = pyarrow.fs.SubTreeFileSystem(str(folder), pyarrow.fs.LocalFileSystem())
    return _on_disk(folder, ArrowStore(filesystem), writes=False)


def fsspec_local(folder: Path) -> Place:
    return _on_disk(folder, FsspecStore(DirFileSystem(str(folder), fsspec.filesystem("file"))))


def fsspec_memory(folder: Path) -> Place:
    filesystem = fsspec.filesystem("memory")  # all of them share their files
    prefix = f"/{uuid.uuid4().hex}"
    filesystem.mkdir(prefix)
    return Place(
        store=FsspecStore(filesystem),
        url=lambda name: f"{prefix}/{name}",
        seed=lambda name, content: filesystem.pipe(f"{prefix}/{name}", content),
        names=lambda: {each.rpartition("/")[2] for each in filesystem.ls(prefix, detail=False)},
        races=False,
    )


def obstore_local(folder: Path) -> Place:
    return _on_disk(folder, ObjectStore(obstore.store.LocalStore(folder)))


def _objects(store: Any) -> Place:
    return Place(
        store=ObjectStore(store),
        url=lambda name: f"dir/{name}",
        seed=lambda name, content: store.put(f"dir/{name}", content),
        names=lambda: {each["path"].removeprefix("dir/") for each in store.list("dir").collect()},
    )


def obstore_memory(folder: Path) -> Place:
    return _objects(obstore.store.MemoryStore())


def s3(folder: Path) -> Place:
    return _objects(s3_store(prefix=uuid.uuid4().hex))


def azure(folder: Path) -> Place:
    return _objects(azurite().store(prefix=uuid.uuid4().hex))


def gcs(folder: Path) -> Place:
    return _objects(gcs_store(prefix=uuid.uuid4().hex))


PLACES = (local, memory, arrow, fsspec_local, fsspec_memory, obstore_local, obstore_memory, s3, azure, gcs)
