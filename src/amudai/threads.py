"""Which threads do the work of scans, writers and readers of files?"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import islice
from threading import Lock, Semaphore
from typing import Final, TypeAlias, TypeVar

from amudai.arguments import whole_number
from amudai.errors import InvalidArgument

__all__ = ["Crew", "Each", "in_order", "one_by_one", "thread_count", "wait_for_each"]

T = TypeVar("T")
R = TypeVar("R")

Each: TypeAlias = Callable[[Callable[[int], object], int], None]
"""Calls a function with 0..count, perhaps on several threads, and waits for all calls."""

# Threads are started when they are needed. Each call limits how many it uses.
_MAX_THREADS: Final = 64
# Threads that only wait for answers. They need a pool of their own: work that waits for them is in the other one.
_MAX_WAITING: Final = 64


def thread_count(threads: int | None) -> int:
    """`threads` if given, else `AMUDAI_THREADS`, else the number of cores that this process may use."""
    if threads is not None:
        return whole_number(threads, "threads", 1)
    stated = os.environ.get("AMUDAI_THREADS", "")
    if stated:
        if not stated.isdecimal() or int(stated) < 1:
            raise InvalidArgument(f"AMUDAI_THREADS: expected a number of at least 1, found {stated!r}")
        return int(stated)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(work: Callable[[T], R], items: Iterable[T], threads: int, ahead: int | None = None) -> Iterator[R]:
    """The results of `work` for each item, in the order of the items.

    At most `threads` items are worked on at a time, and at most `ahead` results wait to be taken. Nothing is still
    running when the iterator ends, however it ends.
    """
    if threads == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[R]] = deque()
    most = 2 * threads if ahead is None else ahead
    free = Semaphore(threads)
    executor = _EXECUTOR.get()
    try:
        for item in items:
            while waiting and (len(waiting) >= most or waiting[0].done()):
                yield waiting.popleft().result()
            free.acquire()
            future = executor.submit(work, item)
            future.add_done_callback(lambda _: free.release())
            waiting.append(future)
        while waiting:
            yield waiting.popleft().result()
    finally:
        # The caller stopped early, or something failed: cancel what has not begun.
        for future in waiting:
            future.cancel()
        wait(waiting)


def one_by_one(work: Callable[[int], object], count: int) -> None:
    """Call `work` with 0..count on this thread."""
    for index in range(count):
        work(index)


class Crew:
    """Up to `threads` threads that share work. The caller's own thread is one of them.

    Work may share its own parts in turn: then the threads that are free at that moment help.
    """

    def __init__(self, threads: int) -> None:
        self._free = Semaphore(threads - 1)
        self._is_alone = threads == 1

    def each(self, work: Callable[[int], object], count: int) -> None:
        """Call `work` with 0..count and wait for all calls. After an error no call begins."""
        if self._is_alone or count < 2:
            one_by_one(work, count)
            return
        shared = _SharedCalls(work, count)
        helpers: list[Future[None]] = []
        while shared.left:
            # Threads may become free at any time.
            while shared.left > 1 + len(helpers) and self._free.acquire(blocking=False):
                helpers.append(self._submitted(shared.run))
            shared.run_one()
        for helper in helpers:
            # One that has not begun yet has nothing left to do.
            if not helper.cancel():
                helper.result()
        shared.check()

    def ahead(self, items: Iterable[T]) -> Iterator[T]:
        """The items, of which the next is made on another thread while the caller uses the one before.

        Nothing is still running when the iterator ends, however it ends.
        """
        if self._is_alone:
            yield from items
            return
        iterator = iter(items)
        following: Future[list[T]] | None = None
        try:
            while True:
                found = list(islice(iterator, 1)) if following is None else following.result()
                if not found:
                    return
                following = self._submitted(lambda: list(islice(iterator, 1))) if self._free.acquire(False) else None
                yield found[0]
        finally:
            if following is not None and not following.cancel():
                wait([following])
            if isinstance(iterator, Generator):
                iterator.close()

    def _submitted(self, work: Callable[[], R]) -> Future[R]:
        """Work that has begun on a thread that was free, and is free again when it is done."""
        future = _EXECUTOR.get().submit(work)
        future.add_done_callback(lambda _: self._free.release())
        return future


class _SharedCalls:
    """Calls of a function with 0..count, made by all threads that run this."""

    def __init__(self, work: Callable[[int], object], count: int) -> None:
        self._work = work
        self._count = count
        self._lock = Lock()
        self._errors: list[tuple[int, BaseException]] = []
        self.left = count  # calls that have not begun

    def run(self) -> None:
        """Make calls until none is left."""
        while self.left:
            self.run_one()

    def run_one(self) -> None:
        """Make the next call, if one is left."""
        with self._lock:
            index = self._count - self.left
            if not self.left:
                return
            self.left -= 1
        try:
            self._work(index)
        except BaseException as error:
            with self._lock:
                self._errors.append((index, error))
                self.left = 0

    def check(self) -> None:
        """Raise the error of the first call that failed."""
        if self._errors:
            raise min(self._errors, key=lambda each: each[0])[1]


def wait_for_each(request: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """The answers to requests that take time but no processor. They are made side by side, on many threads."""
    if len(items) == 1:
        return [request(items[0])]
    return list(_WAITING.get().map(request, items))


class _Executor:
    """A pool of threads of the process, created on first use."""

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name = most, name
        self._lock = Lock()
        self._pool: ThreadPoolExecutor | None = None

    def get(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._most, thread_name_prefix=self._name)
            return self._pool

    def forget(self) -> None:
        """Drop the pool after a fork: its threads exist only in the parent process."""
        self._lock = Lock()
        self._pool = None


_EXECUTOR: Final = _Executor(_MAX_THREADS, "amudai")
_WAITING: Final = _Executor(_MAX_WAITING, "amudai-waiting")
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_EXECUTOR.forget)
    os.register_at_fork(after_in_child=_WAITING.forget)
