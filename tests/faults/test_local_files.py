"""Local files when a call to the system fails: the old shard or the new one, and the next run works."""

from __future__ import annotations

import errno
import os
from functools import partial

import pytest

from amudai import AmudaiError
from tests.effort import some
from tests.faults.changes import Changes, watched
from tests.faults.operations import OPERATIONS, TARGET, PreparedFolder

CODES = (errno.ENOSPC, errno.EACCES, errno.EIO)


def fail(code: int, name: str) -> None:
    raise OSError(code, os.strerror(code), name)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> PreparedFolder:
    return PreparedFolder.within(tmp_path_factory.mktemp("prepared"))


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_change_of_a_file_may_fail(prepared: PreparedFolder, name: str) -> None:
    prepared.restore()
    operation, place = OPERATIONS[name], prepared.place
    old = place.content(TARGET)
    with watched(Changes(0, partial(fail, errno.EIO))) as counted:
        operation(place, {"overwrite": True}).close()
    assert counted.calls > 2, "nothing was counted"
    expected = place.content(TARGET)
    assert expected != old
    turns = [(at, CODES[at % len(CODES)]) for at in range(1, counted.calls + 1)]
    for at, code in some(turns, len(name)):
        prepared.restore()
        raised = False
        with watched(Changes(at, partial(fail, code))):
            try:
                operation(place, {"overwrite": True}).close()
            except AmudaiError:
                raised = True
        assert prepared.sources_are_unchanged(), (at, code)
        found = place.content(TARGET)
        assert found in (old, expected), (at, code)
        assert raised or found == expected, (at, code)
        operation(place, {"overwrite": True}).close()
        assert place.content(TARGET) == expected, (at, code)
