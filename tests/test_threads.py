"""The threads that all scans and writers share."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import pytest

from amudai import threads as shared
from amudai.threads import Crew, in_order


class Counting:
    """Counts how many calls run at the same time."""

    def __init__(self, seconds: float = 0.005) -> None:
        self.most = self.now = self.done = 0
        self._lock = threading.Lock()
        self._seconds = seconds

    def __call__(self, item: int) -> int:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(self._seconds * (item % 3))
        with self._lock:
            self.now -= 1
            self.done += 1
        return item * item


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_keep_their_order_and_no_more_threads_run_than_asked_for(threads: int) -> None:
    work = Counting()
    assert list(in_order(work, range(40), threads)) == [n * n for n in range(40)]
    assert work.most <= threads
    assert threads == 1 or work.most > 1


def test_no_more_results_wait_than_allowed() -> None:
    work = Counting(0)
    results = in_order(work, range(1000), 2, ahead=6)
    next(results)
    time.sleep(0.05)
    assert work.done <= 8
    results.close()  # type: ignore[attr-defined]
    assert work.now == 0


def test_nothing_runs_on_after_an_error() -> None:
    work = Counting(0.02)

    def failing(item: int) -> int:
        if item == 1:
            raise ZeroDivisionError
        return work(item)

    with pytest.raises(ZeroDivisionError):
        Crew(4).each(failing, 30)
    assert work.now == 0
    done = work.done
    time.sleep(0.1)
    assert work.done == done


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_crew_shares_work_and_parts_of_work(threads: int) -> None:
    crew, work = Crew(threads), Counting()
    found: list[int] = []
    crew.each(lambda row: crew.each(lambda column: found.append(work(10 * row + column)), 10), 4)
    assert sorted(found) == [n * n for n in range(40)]
    assert work.most <= threads
    assert threads == 1 or work.most > 1
    crew.each(lambda item: found.append(work(item)), 9)
    assert work.done == 49
    assert threads == 1 or work.most > 1


def test_a_crew_raises_the_first_error() -> None:
    def failing(item: int) -> None:
        raise ValueError(str(item))

    with pytest.raises(ValueError, match=r"^0$"):
        Crew(3).each(failing, 1)
    with pytest.raises(ValueError, match=r"^[0-3]$"):
        Crew(4).each(failing, 30)


@pytest.mark.parametrize("threads", [1, 2])
def test_items_are_made_ahead_one_at_a_time(threads: int) -> None:
    made: list[int] = []
    ended = threading.Event()

    def items(count: int) -> Iterator[int]:
        try:
            for item in range(count):
                made.append(item)
                yield item
            raise ZeroDivisionError
        finally:
            ended.set()

    crew = Crew(threads)
    ahead = crew.ahead(items(100))
    assert next(ahead) == 0
    time.sleep(0.05)
    assert len(made) == threads
    ahead.close()  # type: ignore[attr-defined]
    assert ended.is_set()
    found = []
    with pytest.raises(ZeroDivisionError):
        found.extend(crew.ahead(items(5)))
    crew.each(found.append, 3)
    assert len(made) == threads + 5


def test_all_calls_share_one_executor() -> None:
    first = shared._EXECUTOR.get()
    list(in_order(Counting(), range(5), 3))
    assert shared._EXECUTOR.get() is first
    names = {thread.name for thread in threading.enumerate() if thread.name.startswith("amudai")}
    assert len(names) <= 64


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_gets_threads_of_its_own() -> None:
    list(in_order(Counting(), range(5), 3))
    child = os.fork()
    if child == 0:
        found = list(in_order(Counting(), range(5), 3))
        os._exit(0 if found == [0, 1, 4, 9, 16] else 1)
    for _ in range(200):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("the forked process hangs")
