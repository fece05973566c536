"""The threads that all scans and writers share."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from amudai.threads import Crew, in_order

MANY = 3000  # calls, which take half a minute
PATIENCE = 60  # seconds that a busy machine may take for what happens at once on a quiet one


class Counting:
    """Counts how many calls run at the same time. The first `together` calls wait for each other."""

    def __init__(self, seconds: float = 0.005, together: int = 1) -> None:
        self.most = self.now = self.begun = self.done = 0
        self._lock = threading.Lock()
        self._seconds = seconds
        self._together = threading.Barrier(together, timeout=PATIENCE)

    def __call__(self, item: int) -> int:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.begun += 1
            is_early = self.begun <= self._together.parties
        try:
            if is_early:
                self._together.wait()
            time.sleep(self._seconds * (item % 3))
        finally:
            with self._lock:
                self.now -= 1
                self.done += 1
        return item * item


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_keep_their_order_and_no_more_threads_run_than_asked_for(threads: int) -> None:
    work = Counting(together=min(2, threads))
    assert list(in_order(work, range(40), threads)) == [n * n for n in range(40)]
    assert min(2, threads) <= work.most <= threads


def test_no_more_results_wait_than_allowed() -> None:
    work = Counting(0)
    results = in_order(work, range(1000), 2, ahead=6)
    next(results)
    time.sleep(0.05)
    assert work.done <= 8
    results.close()  # type: ignore[attr-defined]
    assert work.now == 0


def test_threads_have_their_next_call_before_they_ask_for_it() -> None:
    made = threading.Event()

    def items() -> Iterator[int]:
        for item in range(8):
            if item == 3:
                made.set()
            yield item

    def work(item: int) -> int:
        if not item:
            assert made.wait(PATIENCE)  # the caller does not wait until one of two threads is free
        return item

    assert list(in_order(work, items(), 2)) == list(range(8))


def test_threads_are_busy_while_the_caller_uses_a_result() -> None:
    ended = [threading.Event() for _ in range(20)]

    def work(item: int) -> int:
        ended[item].set()
        return item

    for taken in in_order(work, range(20), 2):
        # Those that follow are made before the caller comes back.
        for each in ended[taken : taken + 3]:
            assert each.wait(PATIENCE)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_what_is_made_in_order_shares_its_parts(threads: int) -> None:
    crew, work = Crew(threads, joins=False), Counting(together=min(2, threads))

    def share(row: int) -> list[int]:
        found = [0] * 10

        def part(column: int) -> None:
            found[column] = work(10 * row + column)

        crew.each(part, 10)
        return found

    assert list(crew.in_order(share, range(4))) == [[(10 * row + n) ** 2 for n in range(10)] for row in range(4)]
    assert min(2, threads) <= work.most <= threads


def test_a_thread_without_a_call_helps_with_the_last_one() -> None:
    crew, helped = Crew(2, joins=False), threading.Event()

    def part(number: int) -> None:
        if number:
            helped.set()
        else:
            assert helped.wait(PATIENCE)  # by the thread that made the calls before the last

    def work(item: int) -> int:
        if item == 3:
            crew.each(part, 2)
        return item

    assert list(crew.in_order(work, range(4))) == [0, 1, 2, 3]


def test_an_error_of_a_call_comes_where_its_result_would() -> None:
    def failing(item: int) -> int:
        if item == 2:
            raise ZeroDivisionError
        return item

    found: list[int] = []
    with pytest.raises(ZeroDivisionError):
        found.extend(in_order(failing, range(9), 3))
    results = in_order(failing, range(9), 3)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


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
    crew, work = Crew(threads), Counting(together=min(2, threads))
    found: list[int] = []
    crew.each(lambda row: crew.each(lambda column: found.append(work(10 * row + column)), 10), 4)
    assert sorted(found) == [n * n for n in range(40)]
    assert min(2, threads) <= work.most <= threads
    again = Counting(together=min(2, threads))
    crew.each(lambda item: found.append(again(item)), 9)
    assert (work.done, again.done) == (40, 9)
    assert min(2, threads) <= again.most <= threads


class Interrupts:
    """Notes how many calls had begun when Ctrl-C came."""

    def __init__(self) -> None:
        self.work = Counting(0.01)
        self.begun_before = 0

    def __call__(self, number: int, frame: object) -> None:
        self.begun_before = self.work.begun
        raise KeyboardInterrupt

    def check(self) -> None:
        """No call runs any more, and few of thousands began after Ctrl-C."""
        assert self.work.now == 0
        assert self.work.begun - self.begun_before < MANY // 10


@pytest.fixture
def interrupts() -> Iterator[Interrupts]:
    """A process in the background inherits that Ctrl-C is ignored."""
    found = Interrupts()
    before = signal.signal(signal.SIGINT, found)
    yield found
    signal.signal(signal.SIGINT, before)


def interrupt_soon() -> None:
    """Send Ctrl-C to the main thread in a moment."""
    threading.Timer(0.1, lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)).start()


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals for one thread")
@pytest.mark.parametrize("own", [0.0, 0.5], ids=["while it waits", "while it works"])
def test_an_interrupt_stops_what_helpers_share_in_turn(interrupts: Interrupts, own: float) -> None:
    crew, work, is_helped = Crew(2), interrupts.work, threading.Event()

    def outer(item: int) -> None:
        if threading.current_thread() is threading.main_thread():
            is_helped.wait()
            interrupt_soon()
            time.sleep(own)
        else:
            is_helped.set()
            crew.each(lambda _: work(1), MANY)

    with pytest.raises(KeyboardInterrupt):
        crew.each(outer, 2)
    interrupts.check()
    found: list[int] = []
    crew.each(lambda item: found.append(work(item)), 30)  # it can be used again
    assert len(found) == 30


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals for one thread")
@pytest.mark.parametrize("way", ["in order", "ahead"])
def test_an_interrupt_stops_what_is_made_ahead(interrupts: Interrupts, way: str) -> None:
    crew, work = Crew(3), interrupts.work

    def share(item: int) -> int:
        crew.each(lambda _: work(1), MANY)
        return item

    made = in_order(share, range(9), 2) if way == "in order" else crew.ahead(map(share, range(9)))
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        list(made)
    interrupts.check()


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals for one thread")
def test_a_call_whose_result_is_waited_for_ends_before_an_interrupt_goes_on(interrupts: Interrupts) -> None:
    begun, ended = threading.Event(), threading.Event()

    def slow(item: int) -> int:
        begun.set()
        time.sleep(0.4)
        ended.set()
        return item

    results = in_order(slow, [1], 2)
    threading.Thread(target=lambda: (begun.wait(PATIENCE), interrupt_soon())).start()
    with pytest.raises(KeyboardInterrupt):
        next(results)
    assert ended.is_set()


def test_an_interrupt_goes_before_other_errors() -> None:
    both = threading.Barrier(2, timeout=PATIENCE)

    def failing(item: int) -> None:
        both.wait()
        raise ValueError if threading.current_thread() is not threading.main_thread() else KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Crew(2).each(failing, 2)


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
    ends = time.monotonic() + PATIENCE
    while len(made) < threads and time.monotonic() < ends:
        time.sleep(0.005)
    time.sleep(0.05)  # no more of them are made
    assert len(made) == threads
    ahead.close()  # type: ignore[attr-defined]
    assert ended.is_set()
    found = []
    with pytest.raises(ZeroDivisionError):
        found.extend(crew.ahead(items(5)))
    crew.each(found.append, 3)
    assert len(made) == threads + 5


def test_a_thread_that_made_an_item_ahead_helps_with_what_is_shared() -> None:
    begun, helped = threading.Event(), threading.Event()

    def items() -> Iterator[int]:
        yield 1
        begun.wait(PATIENCE)
        yield 2

    def work(number: int) -> None:
        if number:
            helped.set()
            return
        begun.set()
        assert helped.wait(PATIENCE)  # by the thread that made the next item: this one is busy

    crew = Crew(2)
    found = []
    for item in crew.ahead(items()):
        found.append(item)
        crew.each(work, 2) if item == 1 else None
    assert found == [1, 2]


def test_another_thread_helps_while_the_caller_waits() -> None:
    crew = Crew(2)
    begun, helped = threading.Event(), threading.Event()
    caller = threading.get_ident()

    def part(number: int) -> None:
        if number:
            helped.set()
        else:
            assert helped.wait(PATIENCE)

    def work(_: int) -> None:
        if threading.get_ident() == caller:
            assert begun.wait(PATIENCE)
            return
        begun.set()
        free = crew._free
        while not free.take_now():  # until the caller waits, and leaves its place to another thread
            time.sleep(0.001)
        free.give_back()
        crew.each(part, 2)

    crew.each(work, 2)
    assert helped.is_set()


def test_all_calls_share_one_pool() -> None:
    for _ in range(50):
        list(in_order(Counting(0.0001), range(5), 3))
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
    for _ in range(20 * PATIENCE):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("the forked process hangs")
