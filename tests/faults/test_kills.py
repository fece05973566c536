"""A process that is killed at any change of a file: the old shard or the new one, and the next run works."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import amudai
from tests.effort import spaced
from tests.faults.changes import Changes, watched
from tests.faults.operations import FIRST, OPERATIONS, SECOND, TARGET, Place, prepared_folder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs processes that can be forked and killed"),
]


def die(_: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def run_until(folder: str, name: str, at: int, is_after: bool) -> None:
    """Run an operation in this process, which ends at the call `at`."""
    with watched(Changes(at, die, is_after=is_after)):
        OPERATIONS[name](Place(folder), {"overwrite": True}).close()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared_folder(tmp_path_factory.mktemp("prepared"))


@pytest.fixture(scope="module")
def processes() -> Any:
    """Processes that are forked from one that has imported everything and has no threads."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_kill_at_every_change(prepared: Path, tmp_path: Path, name: str, processes: Any) -> None:
    folder = tmp_path / "run"
    place, old = Place(f"{folder}/"), Place(f"{prepared}/").content(TARGET)

    def fresh() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(prepared, folder)

    fresh()
    with watched(Changes(0, die)) as counted:
        OPERATIONS[name](place, {"overwrite": True}).close()
    expected = {each: place.content(each) for each in (FIRST, SECOND, TARGET)}
    moments = [(at, is_after) for at in range(1, counted.calls + 1) for is_after in (False, True)]
    states = set()
    for at, is_after in [*moments[:: spaced(1)], moments[-1]]:
        fresh()
        process = processes.Process(target=run_until, args=(f"{folder}/", name, at, is_after))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL, (at, is_after)
        for each in (FIRST, SECOND):
            assert place.content(each) == expected[each], (at, is_after)
        found = place.content(TARGET)
        assert found in (old, expected[TARGET]), (at, is_after)
        states.add(found == expected[TARGET])
        # What the process left behind disturbs nobody, and can be removed.
        amudai.gc(folder, dry_run=False, older_than=timedelta(0))
        assert place.content(TARGET) == found, (at, is_after)
        OPERATIONS[name](place, {"overwrite": True}).close()
        assert place.content(TARGET) == expected[TARGET], (at, is_after)
    assert False in states
