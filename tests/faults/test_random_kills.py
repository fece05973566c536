"""A process that is killed at any moment: the old shard or the new one, and the next run works."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.effort import scaled
from tests.faults.operations import OPERATIONS, TARGET, Place, PreparedFolder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs processes that can be forked and killed"),
]


def run(folder: str, name: str, started: Any) -> None:
    started.set()
    OPERATIONS[name](Place(folder), {"overwrite": True}).close()


def test_kills_at_random_moments(tmp_path: Path) -> None:
    """A thousand kills at the effort 25: `AMUDAI_TEST_EFFORT=25 pytest tests/faults/test_random_kills.py`."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload([__name__])
    prepared, random = PreparedFolder.within(tmp_path), Random(5)
    place, old = prepared.place, prepared.place.content(TARGET)
    expected, seconds = {}, {}
    for name, operation in OPERATIONS.items():
        prepared.restore()
        began = time.perf_counter()
        operation(place, {"overwrite": True}).close()
        seconds[name] = time.perf_counter() - began
        expected[name] = place.content(TARGET)
    for turn in range(scaled(40)):
        name = random.choice(list(OPERATIONS))
        prepared.restore()
        started = processes.Event()
        process = processes.Process(target=run, args=(place.prefix, name, started))
        process.start()
        started.wait()
        time.sleep(random.random() * 1.2 * seconds[name])
        process.kill()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        assert prepared.sources_are_unchanged(), (turn, name)
        assert place.content(TARGET) in (old, expected[name]), (turn, name)
        OPERATIONS[name](place, {"overwrite": True}).close()
        assert place.content(TARGET) == expected[name], (turn, name)
