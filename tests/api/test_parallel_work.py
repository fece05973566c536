"""One shard out of many, by parts that any process can make, on a disk and in an object store."""

from __future__ import annotations

import os
import pickle
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import amudai
from amudai.api import PartWork, compact, merged_parts, parallel_work, split_evenly
from amudai.datasets import find_shards
from amudai.storage import open_store
from tests.storage import servers


@pytest.fixture(params=["disk", *servers.ENVIRONMENTS])
def lake(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder with seven shards."""
    if request.param == "disk":
        folder = str(tmp_path / "lake")
    else:
        for name, value in servers.ENVIRONMENTS[request.param]().items():
            monkeypatch.setenv(name, value)
        folder = f"{request.param}://{servers.BUCKET}/{uuid.uuid4().hex}"
    rows = {"n": list(range(70)), "s": [f"word{n % 9}" for n in range(70)]}
    amudai.write_dataset(rows, folder, rows_per_shard=10, indexes=[amudai.TermIndex("s")])
    return folder


def files(folder: str) -> list[str]:
    store, inside = open_store(f"{folder}/x")
    return sorted(file.url.removeprefix(inside[:-1]) for file in store.files_below(inside[:-1]))


def groups(folder: str) -> list[list[str]]:
    return split_evenly([shard.url for shard in find_shards(folder).shards], 3)


def in_turn(work: PartWork, parts: Sequence[Sequence[str]]) -> Iterator[str]:
    travelled = pickle.loads(pickle.dumps(work))
    for part in parts:
        travelled(part)  # an attempt that is lost
        yield travelled(part)


def test_parts_become_one_shard(lake: str) -> None:
    before = files(lake)
    options: dict[str, Any] = {"indexes": [amudai.TermIndex("s")], "threads": 1}
    found = merged_parts(groups(lake), f"{lake}/all.amudai.shard", compact, options, in_turn, in_folder=True)
    assert found.read()["n"].to_pylist() == list(range(70))
    assert found.count("s has 'word3'") == 8
    new = set(files(lake)) - set(before)
    assert len(new) == 4  # the root and three parts
    with pytest.raises(FileExistsError):
        merged_parts(groups(lake), f"{lake}/all.amudai.shard", compact, options, in_turn, in_folder=True)
    assert set(files(lake)) - set(before) == new


def test_a_part_that_fails_leaves_nothing(lake: str) -> None:
    def fails(work: PartWork, parts: Sequence[Sequence[str]]) -> Iterator[str]:
        yield work(parts[0])
        raise RuntimeError("no")

    before = files(lake)
    for in_folder in (True, False):
        with pytest.raises(RuntimeError):
            merged_parts(groups(lake), f"{lake}/all.amudai.shard", compact, {}, fails, in_folder=in_folder)
        assert files(lake) == before
    assert not os.path.isdir(lake) or not [name for name in os.listdir(lake) if name.startswith("_")]


def test_a_failure_after_the_new_root_is_in_place_loses_no_rows(lake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    merged = parallel_work.merged

    def interrupted(*arguments: Any, **options: Any) -> None:
        merged(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(parallel_work, "merged", interrupted)
    with pytest.raises(KeyboardInterrupt):
        merged_parts(groups(lake), f"{lake}/all.amudai.shard", compact, {}, in_turn, in_folder=True)
    assert amudai.open(f"{lake}/all.amudai.shard").read()["n"].to_pylist() == list(range(70))


@pytest.mark.parametrize("in_folder", [True, False])
def test_an_attempt_that_is_slower_than_the_job(lake: str, in_folder: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    late: list[PartWork] = []

    def noting(work: PartWork, parts: Sequence[Sequence[str]]) -> Iterator[str]:
        late.append(work)
        yield from map(work, parts)

    merged_parts(groups(lake), f"{lake}/all.amudai.shard", compact, {}, noting, in_folder=in_folder)
    before = files(lake)
    for has_begun in (False, True):
        with monkeypatch.context() as patch:
            if has_begun:  # before the job was over
                patch.setattr(type(late[0].place), "require_begun", once_nothing(late[0].place.require_begun))
            with pytest.raises(amudai.AmudaiError):
                late[0](groups(lake)[0])
        assert files(lake) == before


def once_nothing(call: Callable[[], None]) -> Callable[[object], None]:
    """Does nothing the first time."""
    calls: list[object] = []

    def called(_: object) -> None:
        calls.append(_)
        if len(calls) > 1:
            call()

    return called
