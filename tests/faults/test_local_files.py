"""Local files when a call to the system fails: the old shard or the new one, and the next run works."""

from __future__ import annotations

import errno
import os
import shutil
from functools import partial
from pathlib import Path

import pytest

from amudai import AmudaiError
from tests.effort import some
from tests.faults.changes import Changes, watched
from tests.faults.operations import FIRST, OPERATIONS, SECOND, TARGET, Place, prepared_folder

CODES = (errno.ENOSPC, errno.EACCES, errno.EIO)


def fail(code: int, name: str) -> None:
    raise OSError(code, os.strerror(code), name)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared_folder(tmp_path_factory.mktemp("prepared"))


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_change_of_a_file_may_fail(prepared: Path, tmp_path: Path, name: str) -> None:
    operation = OPERATIONS[name]
    place, old = Place(f"{tmp_path}/run/"), Place(f"{prepared}/").content(TARGET)

    def fresh() -> None:
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        shutil.copytree(prepared, tmp_path / "run")

    fresh()
    with watched(Changes(0, partial(fail, errno.EIO))) as counted:
        operation(place, {"overwrite": True}).close()
    assert counted.calls > 2, "nothing was counted"
    expected = {each: place.content(each) for each in (FIRST, SECOND, TARGET)}
    assert expected[TARGET] != old
    turns = [(at, CODES[at % len(CODES)]) for at in range(1, counted.calls + 1)]
    for at, code in some(turns, len(name)):
        fresh()
        raised = False
        with watched(Changes(at, partial(fail, code))):
            try:
                operation(place, {"overwrite": True}).close()
            except AmudaiError:
                raised = True
        for each in (FIRST, SECOND):
            assert place.content(each) == expected[each], (at, code)
        found = place.content(TARGET)
        assert found in (old, expected[TARGET]), (at, code)
        assert raised or found == expected[TARGET], (at, code)
        operation(place, {"overwrite": True}).close()
        assert place.content(TARGET) == expected[TARGET], (at, code)
