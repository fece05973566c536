"""A process that is killed at any change of a file: the old shard or the new one, and the next run works."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from datetime import timedelta
from typing import Any

import pytest

import amudai
from tests.effort import spaced
from tests.faults.changes import Changes, watched
from tests.faults.operations import OPERATIONS, TARGET, Place, PreparedFolder

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
def prepared(tmp_path_factory: pytest.TempPathFactory) -> PreparedFolder:
    return PreparedFolder.within(tmp_path_factory.mktemp("prepared"))


@pytest.fixture(scope="module")
def processes() -> Any:
    """Processes that are forked from one that has imported everything and has no threads."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_kill_at_every_change(prepared: PreparedFolder, name: str, processes: Any) -> None:
    prepared.restore()
    folder, place = prepared.folder, prepared.place
    old = place.content(TARGET)
    with watched(Changes(0, die)) as counted:
        OPERATIONS[name](place, {"overwrite": True}).close()
    expected = place.content(TARGET)
    moments = [(at, is_after) for at in range(1, counted.calls + 1) for is_after in (False, True)]
    states = set()
    for at, is_after in [*moments[:: spaced(1)], moments[-1]]:
        prepared.restore()
        process = processes.Process(target=run_until, args=(f"{folder}/", name, at, is_after))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL, (at, is_after)
        found = place.content(TARGET)
        assert found in (old, expected), (at, is_after)
        states.add(found == expected)
        # What the process left behind disturbs nobody, and can be removed.
        amudai.gc(folder, dry_run=False, older_than=timedelta(0))
        assert place.content(TARGET) == found, (at, is_after)
        OPERATIONS[name](place, {"overwrite": True}).close()
        assert place.content(TARGET) == expected, (at, is_after)
        assert prepared.sources_are_unchanged(), (at, is_after)
    assert False in states
