"""What Spark and Ray write: parts of a job, on a disk or in an object store, and one commit."""

from __future__ import annotations

import os
import pickle
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai
from amudai.interop import staged_parts as module
from amudai.interop.opening import opened
from amudai.interop.staged_parts import StagedParts
from amudai.storage import open_store
from tests.storage import servers

SCHEMA = pa.schema({"a": pa.int64()})


@pytest.fixture(params=["disk", *servers.ENVIRONMENTS])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder that is empty."""
    if request.param == "disk":
        return str(tmp_path / "out")
    for name, value in servers.ENVIRONMENTS[request.param]().items():
        monkeypatch.setenv(name, value)
    return f"{request.param}://{servers.BUCKET}/{uuid.uuid4().hex}"


def batches(*rows: int) -> Iterator[pa.RecordBatch]:
    return iter([pa.record_batch({"a": pa.array(rows, pa.int64())})] if rows else [])


def files(place: str) -> list[str]:
    """The names of all files below a folder."""
    store, inside = open_store(f"{place}/x")
    folder = inside[:-1]
    if store.capabilities.local_path and not os.path.isdir(place):
        return []
    return sorted(file.url.removeprefix(folder) for file in store.files_below(folder))


def folders(place: str) -> list[str]:
    """The names of all folders in the folder `lake` of a disk. An object store has none."""
    return [] if "://" in place else os.listdir(f"{place}/lake")


def numbers(target: str) -> list[Any]:
    return opened(target).read()["a"].to_pylist()


def job(target: str, *rows: tuple[int, ...], overwrite: bool = False, **options: Any) -> None:
    """A whole job, each tuple a task."""
    parts = StagedParts(target, overwrite=overwrite, **options)
    parts.begin()
    parts.commit([parts.write(batches(*each)) for each in rows], SCHEMA)


@pytest.mark.parametrize("name", ["lake", "lake/one.amudai.shard"])
def test_rows_appear_together_and_lost_attempts_leave_nothing(place: str, name: str) -> None:
    target = f"{place}/{name}"
    driver = StagedParts(target, overwrite=False)
    driver.begin()
    task = pickle.loads(pickle.dumps(driver))
    lost = task.write(batches(1, 2))
    assert any(lost in each for each in files(place))
    kept = [task.write(batches(3, 4)), task.write(batches()), None, task.write(batches(1, 2))]
    assert not any(not each.startswith("lake/_") for each in files(place))
    driver.commit(kept, SCHEMA)
    assert numbers(target) == [3, 4, 1, 2]
    assert len(files(place)) == 3
    with pytest.raises(amudai.StorageError, match="a job that is not over"):
        task.write(batches(5))  # an attempt that is slower than the commit
    assert len(files(place)) == 3


@pytest.mark.parametrize("name", ["lake", "lake/one.amudai.shard"])
def test_an_attempt_that_writes_while_the_job_ends(place: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = StagedParts(f"{place}/{name}", overwrite=False)
    parts.begin()
    first = parts.write(batches(1, 2))
    writing = module.write

    def slower(*arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(module, "write", writing)
        parts.commit([first], SCHEMA)
        return writing(*arguments, **options)

    monkeypatch.setattr(module, "write", slower)
    with pytest.raises(amudai.AmudaiError):
        parts.write(batches(3))
    assert numbers(f"{place}/{name}") == [1, 2]
    assert len(files(place)) == 2


@pytest.mark.parametrize("name", ["lake", "lake/one.amudai.shard"])
def test_appending_and_overwriting(place: str, name: str) -> None:
    target = f"{place}/{name}"
    job(target, (1, 2))
    job(target, (3,), (4,))
    assert numbers(target) == [1, 2, 3, 4]
    job(target, (5, 6), overwrite=True)
    assert numbers(target) == [5, 6]
    left = [each for each in files(place) if "/_one." not in each]  # the copy of a root, from which rows were appended
    assert len(left) == 2
    job(target, overwrite=True)
    assert numbers(target) == []


def test_aborting_removes_all_attempts(place: str) -> None:
    parts = StagedParts(f"{place}/lake", overwrite=False)
    parts.begin()
    parts.write(batches(1, 2))
    parts.abort()
    assert files(place) == folders(place) == []


def test_a_commit_that_fails_leaves_nothing(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise amudai.StorageError("disk full")

    parts = StagedParts(f"{place}/lake", overwrite=False)
    parts.begin()
    written = parts.write(batches(1, 2))
    monkeypatch.setattr(module, "merged", refuse)
    with pytest.raises(amudai.StorageError, match="disk full"):
        parts.commit([written], SCHEMA)
    assert files(place) == folders(place) == []


def test_a_failure_after_the_new_root_is_in_place_loses_no_rows(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target = f"{place}/one.amudai.shard"
    job(target, (1, 2), (5, 4))
    publish = module.append_parts

    def interrupted(*arguments: Any) -> None:
        publish(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "append_parts", interrupted)
        with pytest.raises(KeyboardInterrupt):
            job(target, (7, 8), (9, 6))
    assert numbers(target) == [1, 2, 5, 4, 7, 8, 9, 6]


@pytest.mark.parametrize("name", ["lake", "one.amudai.shard"])
def test_engines_abort_after_a_commit_that_failed(place: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new root may be in place. Another process may abort, which does not know what became of the commit."""
    publish = module.merged

    def interrupted(*arguments: Any, **options: Any) -> None:
        publish(*arguments, **options)
        raise amudai.StorageError("no answer")

    parts = StagedParts(f"{place}/{name}", overwrite=False)
    other = pickle.loads(pickle.dumps(parts))
    parts.begin()
    written = parts.write(batches(1, 2))
    with monkeypatch.context() as patch:
        patch.setattr(module, "merged", interrupted)
        with pytest.raises(amudai.StorageError, match="no answer"):
            parts.commit([written], SCHEMA)
    other.abort()
    assert numbers(f"{place}/{name}") == [1, 2]
    assert len(files(place)) == 2


def test_shards_of_several_files(place: str) -> None:
    options = {"layout": "two-level", "indexes": [amudai.HashIndex("a")]}
    job(f"{place}/lake", tuple(range(500)), tuple(range(500, 900)), **options)
    assert numbers(f"{place}/lake") == list(range(900))
    assert opened(f"{place}/lake").read(where="a = 777").num_rows == 1


def test_jobs_that_append_to_one_shard_at_the_same_time(place: str) -> None:
    target = f"{place}/one.amudai.shard"
    job(target, (0,))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: job(target, (number, -number)), range(1, 5)))
    assert sorted(numbers(target)) == [-4, -3, -2, -1, 0, 1, 2, 3, 4]


def test_urls_of_folders_need_no_slash(place: str) -> None:
    job(f"{place}/lake", (1, 2))
    for path in (f"{place}/lake", f"{place}/lake/", open_store(f"{place}/lake")[1]):
        assert isinstance(opened(path), amudai.Dataset)
    assert isinstance(opened(f"{place}/lake/{opened(f'{place}/lake').shards[0]}"), amudai.Shard)  # type: ignore[attr-defined]


def test_a_store_that_cannot_be_written_to_is_refused() -> None:
    with pytest.raises(amudai.UnsupportedFeature, match="creates, lists and removes"):
        StagedParts("http://127.0.0.1:1/lake", overwrite=False)
