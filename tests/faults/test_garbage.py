"""Collecting garbage while calls to the system fail: no shard loses a file, and the next run removes the rest."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

import amudai
from amudai import AmudaiError
from tests.faults.changes import Changes, watched
from tests.faults.operations import FIRST, SECOND, TARGET, Place, PreparedFolder

pytestmark = pytest.mark.slow


def fail(name: str) -> None:
    raise OSError(errno.EACCES, os.strerror(errno.EACCES), name)


def collect(folder: Path) -> None:
    amudai.gc(folder, dry_run=False, older_than=timedelta(0))


def test_every_removal_may_fail(tmp_path: Path) -> None:
    prepared = PreparedFolder.within(tmp_path).folder
    place = Place(f"{prepared}/")
    for _ in range(2):
        sources = [place.open(FIRST), place.open(SECOND)]
        amudai.merge(sources, prepared / TARGET, overwrite=True, indexes="rebuild").close()
    expected = {name: place.content(name) for name in (FIRST, SECOND, TARGET)}
    shutil.copytree(prepared, tmp_path / "clean")
    with watched(Changes(0, fail)) as counted:
        collect(tmp_path / "clean")
    clean = sorted(path.name for path in (tmp_path / "clean").iterdir())
    assert len(clean) < len(list(prepared.iterdir()))
    assert counted.calls > 1
    for at in range(1, counted.calls + 1):
        folder = tmp_path / f"turn{at}"
        shutil.copytree(prepared, folder)
        with watched(Changes(at, fail)), suppress(AmudaiError):
            collect(folder)
        assert {name: Place(f"{folder}/").content(name) for name in expected} == expected
        collect(folder)
        assert sorted(path.name for path in folder.iterdir()) == clean
        assert {name: Place(f"{folder}/").content(name) for name in expected} == expected
