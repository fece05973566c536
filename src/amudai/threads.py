"""Which threads do the work of scans, writers and readers of files?"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock, Semaphore
from typing import Final, TypeVar

from amudai.arguments import whole_number
from amudai.errors import InvalidArgument

__all__ = ["in_order", "run_each", "thread_count", "wait_for_each"]

T = TypeVar("T")
R = TypeVar("R")

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


def run_each(work: Callable[[int], object], count: int, threads: int) -> None:
    """Call `work` with 0..count, on up to `threads` threads, and wait for all calls."""
    for _ in in_order(work, range(count), min(threads, max(1, count)), ahead=count + 1):
        pass


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
