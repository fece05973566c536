"""Which threads do the work of scans, writers and readers of files?"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Lock, local
from typing import Final, TypeAlias, TypeVar

from amudai.arguments import shown, whole_number
from amudai.errors import InvalidArgument
from amudai.pool import Pool, PoolCall, ThreadPlaces, wait

__all__ = ["Crew", "Each", "in_order", "one_by_one", "thread_count", "wait_for_each"]

T = TypeVar("T")
R = TypeVar("R")

Each: TypeAlias = Callable[[Callable[[int], object], int], None]
"""Calls a function with 0..count, perhaps on several threads, and waits for all calls."""

# Threads are started when they are needed. Each call limits how many it uses.
_MAX_THREADS: Final = 64
_PATIENCE: Final = 0.05  # seconds after which a thread that waits for helpers looks again
# Threads that only wait for answers. They need a pool of their own: work that waits for them is in the other one.
_MAX_WAITING: Final = 64


def thread_count(threads: int | None) -> int:
    """`threads` if given, else `AMUDAI_THREADS`, else the number of cores that this process may use."""
    if threads is not None:
        return min(whole_number(threads, "threads", 1), _MAX_THREADS)
    stated = os.environ.get("AMUDAI_THREADS", "")
    if stated:
        if not stated.isdecimal() or int(stated) < 1:
            raise InvalidArgument(f"AMUDAI_THREADS: expected a number of at least 1, found {shown(stated)}")
        return min(int(stated), _MAX_THREADS)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(work: Callable[[T], R], items: Iterable[T], threads: int, ahead: int | None = None) -> Iterator[R]:
    """The results of `work` for each item, in the order of the items.

    At most `threads` items are worked on at a time, and at most `ahead` results wait to be taken. Nothing is still
    running when the iterator ends, however it ends.
    """
    return iter(map(work, items)) if threads == 1 else Crew(threads, joins=False).in_order(work, items, ahead)


def _first_of(waiting: deque[PoolCall[R]]) -> R:
    """Wait for the first call and take it away. Until it has ended it stays: Ctrl-C may arrive while it runs."""
    result = waiting[0].result()
    waiting.popleft()
    return result


def one_by_one(work: Callable[[int], object], count: int) -> None:
    """Call `work` with 0..count on this thread."""
    for index in range(count):
        work(index)


# What ends work from outside: it did not fail.
_ENDS: Final = (KeyboardInterrupt, SystemExit, GeneratorExit)


class _Abandoned(BaseException):
    """Ends the work of a thread whose result nobody will take."""


class _Effort:
    """Calls on several threads that serve one caller. Calls that one of them shares in turn are an effort within it.

    Ctrl-C reaches one thread only. The others must not make all calls that their part consists of.
    """

    _current: Final = local()

    def __init__(self) -> None:
        self._above: _Effort | None = getattr(self._current, "effort", None)
        self._is_stopped = False

    @property
    def is_stopped(self) -> bool:
        """Whether no further call may begin, because this effort or one around it was stopped."""
        return self._is_stopped or (self._above is not None and self._above.is_stopped)

    def stop(self) -> None:
        """Let no further call begin."""
        self._is_stopped = True

    def call(self, work: Callable[[], R]) -> R:
        """Call `work` as a part of this effort."""
        if self.is_stopped:
            raise _Abandoned
        before = getattr(self._current, "effort", None)
        self._current.effort = self
        try:
            return work()
        finally:
            self._current.effort = before


class Crew:
    """Up to `threads` threads that share work. The caller's own thread is one of them if it `joins`.

    Work may share its own parts in turn. A thread that becomes free helps with what was shared last.
    """

    def __init__(self, threads: int, *, joins: bool = True) -> None:
        self.threads = threads
        self._free = ThreadPlaces(threads - 1 if joins else threads)
        self._is_alone = threads == 1
        self._shared: list[_SharedCalls] = []
        self._helpers: list[PoolCall[None]] = []  # each has a place, which it gives back
        self._wanted: list[None] = []  # one for each thread that wants its own place back

    def each(self, work: Callable[[int], object], count: int) -> None:
        """Call `work` with 0..count and wait for all calls. After an error no call begins."""
        if self._is_alone or count < 2:
            one_by_one(work, count)
            return
        shared = _SharedCalls(work, count)
        self._shared.append(shared)
        helpers = 0
        try:
            while shared.left:
                # Threads may become free at any time.
                while shared.left > 1 + helpers and self._free.take_now():
                    self._recruit()
                    helpers += 1
                shared.run_one()
            if shared.running:
                self._wait(shared)
        except BaseException:
            # Ctrl-C may arrive between two calls, or while the last ones are waited for.
            shared.stop()
            shared.wait()
            raise
        finally:
            self._shared.remove(shared)
        shared.finish()

    def _wait(self, shared: _SharedCalls) -> None:
        """Wait for the last calls. Meanwhile another thread may help with their parts."""
        self._free.give_back()
        shared.wait()
        self._wanted.append(None)
        if not self._dismissed():
            self._free.take()
        self._wanted.pop()

    def _recruit(self) -> None:
        """Let a thread help for which there is a place."""
        for helper in list(self._helpers):
            if helper.is_done:
                self._forgotten(helper)
        self._helpers.append(_POOL.submit(self._help_and_leave))

    def _dismissed(self) -> bool:
        """Whether some helper that has not begun lost its place to the caller. The pool may have no thread for it."""
        return any(helper.cancel() and self._forgotten(helper) for helper in list(self._helpers))

    def _forgotten(self, helper: PoolCall[None]) -> bool:
        """Whether a helper was known until now."""
        try:
            self._helpers.remove(helper)
        except ValueError:
            return False  # another thread was quicker
        return True

    def _help_and_leave(self) -> None:
        self._help()
        self._free.give_back()

    def _help(self) -> None:
        """Make calls of what is shared, on a thread of the pool, as long as there are any."""
        while not self._wanted:
            shared = next((each for each in reversed(self._shared) if each.left), None)
            if shared is None:
                return
            shared.help_one()

    def in_order(self, work: Callable[[T], R], items: Iterable[T], ahead: int | None = None) -> Iterator[R]:
        """The results of `work` for each item, in the order of the items. The caller makes the items and waits.

        At most `ahead` results wait to be taken. Nothing is still running when the iterator ends, however it ends.
        """
        if self._is_alone:
            yield from map(work, items)
            return
        waiting: deque[PoolCall[R]] = deque()
        ready: SimpleQueue[PoolCall[R]] = SimpleQueue()
        most = 2 * self.threads if ahead is None else ahead
        effort = _Effort()

        def run() -> None:
            # A thread goes from one call to the next by itself. It would wait long for the caller, who has to get hold
            # of the interpreter first.
            while True:
                with suppress(Empty):
                    while True:
                        ready.get_nowait().run()
                self._help()
                self._free.give_back()
                if ready.empty() or not self._free.take_now():
                    return

        try:
            for item in items:
                while len(waiting) >= most or self._has_enough(waiting):
                    yield _first_of(waiting)
                call = PoolCall(partial(effort.call, partial(work, item)))
                waiting.append(call)
                ready.put(call)
                if self._free.take_now():
                    _POOL.submit(run)
            while waiting:
                yield _first_of(waiting)
        except _ENDS:
            effort.stop()
            raise
        finally:
            # The caller stopped early, or something failed.
            wait(waiting)

    def _has_enough(self, waiting: deque[PoolCall[R]]) -> bool:
        """Whether the first call has ended, while enough others occupy the threads until the caller comes back."""
        return bool(waiting) and waiting[0].is_done and sum(not call.is_done for call in waiting) >= self.threads

    def ahead(self, items: Iterable[T]) -> Iterator[T]:
        """The items, of which the next is made on another thread while the caller uses the one before.

        Nothing is still running when the iterator ends, however it ends.
        """
        if self._is_alone:
            yield from items
            return
        iterator, effort = iter(items), _Effort()
        following: PoolCall[list[T]] | None = None

        def make() -> list[T]:
            return effort.call(lambda: list(islice(iterator, 1)))

        def make_and_help() -> list[T]:
            made = make()
            self._help()
            return made

        try:
            while True:
                found = make() if following is None else following.result()
                if not found:
                    return
                following = _POOL.submit(make_and_help, self._free) if self._free.take_now() else None
                yield found[0]
        except _ENDS:
            effort.stop()
            raise
        finally:
            if following is not None:
                wait([following])
            if isinstance(iterator, Generator):
                iterator.close()


class _SharedCalls:
    """Calls of a function with 0..count, made by the thread that shares them and by helpers.

    The thread that shares them holds no lock: Ctrl-C may arrive there.
    """

    def __init__(self, work: Callable[[int], object], count: int) -> None:
        self._work = work
        self._lock = Lock()  # of helpers
        self._ended = Lock()  # released when the last call of a helper has ended
        self._ended.acquire()
        self._effort = _Effort()
        self._errors: list[tuple[int, BaseException]] = []
        self._is_over = False
        self.running = 0  # calls of helpers that have begun and not ended
        self._indexes: SimpleQueue[int] = SimpleQueue()  # of calls that have not begun
        for index in range(count):
            self._indexes.put(index)

    @property
    def left(self) -> int:
        """How many calls have not begun and are to be made."""
        return 0 if self._is_over else self._indexes.qsize()

    def run_one(self) -> None:
        """Make the next call, if one is left."""
        if not self._is_over:
            with suppress(Empty):
                self._call(self._indexes.get_nowait())

    def help_one(self) -> None:
        """Make the next call, if one is left, on a thread of the pool: Ctrl-C never arrives there."""
        with self._lock:
            self.running += 1  # first: the thread that shares them looks here once none is left
        self.run_one()
        with self._lock:
            self.running -= 1
            if not self.running and self._ended.locked():
                self._ended.release()

    def wait(self) -> None:
        """Wait for the calls of helpers that have begun."""
        while self.running:
            # The end of an earlier call may have released it.
            self._ended.acquire(timeout=_PATIENCE)

    def _call(self, index: int) -> None:
        try:
            self._effort.call(lambda: self._work(index))
        except BaseException as error:
            self._is_over = True
            self._errors.append((index, error))
            if isinstance(error, _ENDS):
                self._effort.stop()

    def stop(self) -> None:
        """Let no further call begin, nor any that is part of a call."""
        self._is_over = True
        self._effort.stop()

    def finish(self) -> None:
        """Raise the error of the first call that failed."""
        # The executor may hold on to this for a while: what the work refers to, such as open files, goes now.
        del self._work
        if self._errors:
            # Ctrl-C comes first. Calls that were stopped come last: something else stopped them.
            raise min(self._errors, key=_rank)[1]


def _rank(failure: tuple[int, BaseException]) -> tuple[bool, bool, int]:
    index, error = failure
    return not isinstance(error, _ENDS), isinstance(error, _Abandoned), index


def wait_for_each(request: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """The answers to requests that take time but no processor. They are made side by side, on many threads."""
    if len(items) == 1:
        return [request(items[0])]
    calls = [_WAITING.submit(partial(request, item)) for item in items]
    try:
        return [call.result() for call in calls]
    except BaseException:
        for call in calls:
            call.cancel()
        raise


_POOL: Final = Pool(_MAX_THREADS, "amudai")
_WAITING: Final = Pool(_MAX_WAITING, "amudai-waiting")
