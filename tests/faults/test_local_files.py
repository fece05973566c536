"""Local files when a call to the system fails: the old shard or the new one, and the next run works."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from amudai import AmudaiError
from tests.effort import some
from tests.faults.operations import FIRST, OPERATIONS, ROWS, SECOND, TARGET, Place

# What changes files. Reading may fail as well, which the tests of stores show.
CALLS = ("open", "write", "writev", "pwrite", "fsync", "replace", "rename", "link", "ftruncate", "truncate", "mkdir")
CODES = (errno.ENOSPC, errno.EACCES, errno.EIO)


class Faults:
    """Counts calls, and fails at one of them."""

    def __init__(self, at: int, code: int) -> None:
        self.calls = 0
        self.at = at
        self.code = code

    def wrap(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            if name == "open" and not arguments[1] & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
                return call(*arguments, **options)
            self.calls += 1
            if self.calls == self.at:
                raise OSError(self.code, os.strerror(self.code), name)
            return call(*arguments, **options)

        return wrapped


@contextmanager
def failing(at: int, code: int) -> Iterator[Faults]:
    faults = Faults(at, code)
    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            if hasattr(os, name):
                patch.setattr(os, name, faults.wrap(name, getattr(os, name)))
        yield faults


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prepared")
    place = Place(f"{folder}/")
    place.prepare()
    place.write(TARGET, 7 * ROWS)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_change_of_a_file_may_fail(prepared: Path, tmp_path: Path, name: str) -> None:
    operation = OPERATIONS[name]
    place, old = Place(f"{tmp_path}/run/"), Place(f"{prepared}/").content(TARGET)

    def fresh() -> None:
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        shutil.copytree(prepared, tmp_path / "run")

    fresh()
    with failing(0, errno.EIO) as counted:
        operation(place, {"overwrite": True}).close()
    assert counted.calls > 2, "nothing was counted"
    expected = {each: place.content(each) for each in (FIRST, SECOND, TARGET)}
    assert expected[TARGET] != old
    turns = [(at, CODES[at % len(CODES)]) for at in range(1, counted.calls + 1)]
    for at, code in some(turns, len(name)):
        fresh()
        raised = False
        with failing(at, code):
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
