"""Threads for queries: a limited number at once, each with a limit of time, stopped when nobody waits any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, Final, Generic, TypeVar

__all__ = ["Busy", "Job", "Running", "Stopped", "Workers"]

T = TypeVar("T")
_END: Final = object()


class Busy(Exception):
    """All threads for queries are taken."""


class Stopped(Exception):
    """The job was cancelled, or its time is up. The text says which."""


class Job:
    """One piece of work, and whether it is to go on."""

    def __init__(self) -> None:
        self._why: str | None = None
        self._lock = Lock()
        self._hooks: list[Callable[[], None]] = []

    def stop(self, why: str) -> None:
        """Let the work stop. What was given to `on_stop` is called once."""
        with self._lock:
            if self._why is not None:
                return
            self._why = why
            hooks, self._hooks = self._hooks, []
        for hook in hooks:
            hook()

    def on_stop(self, hook: Callable[[], None]) -> None:
        """Call `hook` when the job is stopped, in whatever thread; at once if it is stopped already."""
        with self._lock:
            if self._why is None:
                self._hooks.append(hook)
                return
        hook()

    def check(self) -> None:
        """Raise Stopped if the job is stopped. Work calls this often."""
        if self._why is not None:
            raise Stopped(self._why)

    @property
    def why(self) -> str | None:
        """Why the job was stopped; None if it was not."""
        return self._why


class Workers:
    """The threads that queries run in.

    Parameters
    ----------
    most
        How many queries may run at once. One more is `Busy`.
    seconds
        How long a query may run.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self.most = most
        self.seconds = seconds
        self._taken = 0
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(most, "amudai-query")
        # Pages need no place among the queries: they read metadata only.
        self._pages = ThreadPoolExecutor(4, "amudai-page")

    @property
    def running(self) -> int:
        """How many queries run now."""
        return self._taken

    def start(self, make: Callable[[Job], Iterator[T]], seconds: float | None = None) -> Running[T]:
        """Begin a query. It must be read to its end, or closed. Raises Busy if there is no place for it."""
        with self._lock:
            if self._taken >= self.most:
                raise Busy(f"expected at most {self.most} queries at once, found one more: try again in a moment")
            self._taken += 1
        return Running(self, make, self.seconds if seconds is None else seconds)

    async def page(self, work: Callable[[], T]) -> T:
        """Run something short in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._pages, work)

    def release(self) -> None:
        """Give a place back."""
        with self._lock:
            self._taken -= 1

    @property
    def pool(self) -> ThreadPoolExecutor:
        """The threads of queries."""
        return self._pool

    def close(self) -> None:
        """Wait for no thread that still works."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pages.shutdown(wait=False, cancel_futures=True)


class Running(Generic[T]):
    """A query that runs step by step: each item is made in a thread when it is asked for."""

    def __init__(self, workers: Workers, make: Callable[[Job], Iterator[T]], seconds: float) -> None:
        self.job = Job()
        self._workers = workers
        self._items = make(self.job)
        why = f"the query took longer than {seconds:g} s, which is the limit (--timeout)"
        self._timer = asyncio.get_running_loop().call_later(seconds, self.job.stop, why)

    async def __aiter__(self) -> AsyncIterator[T]:
        step: Future[Any] | None = None
        try:
            while True:
                step = self._workers.pool.submit(next, self._items, _END)
                item = await asyncio.wrap_future(step)
                if item is _END:
                    return
                yield item
        finally:
            self._timer.cancel()
            self.job.stop("cancelled")
            # The thread may still be busy with a step that nobody waits for: its place is free when the step ends.
            if step is None:
                self._end(None)
            else:
                step.add_done_callback(self._end)

    def _end(self, _: object) -> None:
        close = getattr(self._items, "close", None)
        if close is not None:
            close()
        self._workers.release()
