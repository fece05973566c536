"""How is a call made on another thread, so that Ctrl-C may arrive at any moment?

`concurrent.futures` will not do: its semaphores and conditions are written in Python, and stay locked for ever if
Ctrl-C arrives just when they were locked. From Python 3.14 on that is true of every `with lock`. Here, no lock is held
by the thread that Ctrl-C interrupts. Everything rests on steps that nothing interrupts: taking from a simple queue, the
first value of a key of a dict, and marks that are set before somebody is woken.
"""

from __future__ import annotations

import _thread
import atexit
import os
import threading
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, Generic, TypeVar, cast

__all__ = ["Pool", "PoolCall", "ThreadPlaces", "wait"]

R = TypeVar("R")


class ThreadPlaces:
    """Places for threads, like a semaphore. At worst a place is lost to the call that is interrupted."""

    __slots__ = ("_places",)

    def __init__(self, count: int) -> None:
        self._places: SimpleQueue[None] = SimpleQueue()
        for _ in range(count):
            self._places.put(None)

    def take(self) -> None:
        """Take a place, as soon as there is one."""
        self._places.get()

    def take_now(self) -> bool:
        """Take a place if there is one."""
        try:
            self._places.get_nowait()
        except Empty:
            return False
        return True

    def give_back(self) -> None:
        """Let others have the place."""
        self._places.put(None)


class PoolCall(Generic[R]):
    """A call that a thread makes. `place`, where it has one, is given back when the call has ended."""

    __slots__ = ("_ended", "_error", "_owner", "_place", "_result", "_work", "is_done")

    def __init__(self, work: Callable[[], R], place: ThreadPlaces | None = None) -> None:
        self._work: Callable[[], R] | None = work
        self._place = place
        self._owner: dict[None, str] = {}
        self._result: R | None = None
        self._error: BaseException | None = None
        self._ended = Lock()
        self._ended.acquire()
        self.is_done = False

    def run(self) -> None:
        """Make the call, unless it was cancelled."""
        work, self._work = self._work, None  # what the work refers to, such as open files, goes with it
        if work is not None and self._owner.setdefault(None, "thread") == "thread":
            self._result, self._error = _outcome(work)
        del work
        if self._place is not None:
            self._place.give_back()
        self.is_done = True
        self._ended.release()

    def cancel(self) -> bool:
        """Whether the call has not begun; then it never will. May be asked again."""
        return self._owner.setdefault(None, "caller") == "caller"

    def wait(self) -> None:
        """Wait until the call has ended. Only the thread that submitted it may wait, and it may be interrupted."""
        if not self.is_done:
            self._ended.acquire()

    def result(self) -> R:
        """What the call returned, as soon as it has ended; or its error."""
        self.wait()
        try:
            if self._error is not None:
                raise self._error
            return cast("R", self._result)
        finally:
            del self  # the error refers to this frame: no cycle


def _outcome(work: Callable[[], R]) -> tuple[R | None, BaseException | None]:
    try:
        return work(), None
    except BaseException as error:
        return None, error
    finally:
        del work  # the error refers to this frame


def wait(calls: Iterable[PoolCall[Any]]) -> None:
    """Cancel the calls that have not begun, and wait for the others."""
    for call in [call for call in calls if not call.cancel()]:
        call.wait()


class Pool:
    """Up to `most` threads of the process, which are started when they are needed."""

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name = most, name
        self._begin()
        atexit.register(self._end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        """Without threads: those of the parent process do not exist after a fork."""
        self._waiting: SimpleQueue[PoolCall[Any]] = SimpleQueue()
        self._idle = ThreadPlaces(0)
        self._unused = ThreadPlaces(self._most)  # for threads that were not started yet
        self._busy: list[_thread.LockType] = []  # of each thread, locked while it makes a call

    def submit(self, work: Callable[[], R], place: ThreadPlaces | None = None) -> PoolCall[R]:
        """Let a thread make a call. `place` is given back when it has ended."""
        # First the thread: if Ctrl-C arrives in between, there is a thread too many, and not one too few.
        if not self._idle.take_now():
            self._start()
        call = PoolCall(work, place)
        self._waiting.put(call)
        return call

    def _start(self) -> None:
        if not self._unused.take_now():
            return
        try:
            # Not a `Thread`: its start waits for a condition, too.
            _thread.start_new_thread(self._run, ())
        except RuntimeError:  # the system has no more threads
            self._unused.give_back()
            if not self._busy:
                raise

    def _run(self) -> None:
        busy = Lock()
        self._busy.append(busy)
        threading.current_thread().name = f"{self._name}_{len(self._busy)}"
        while True:
            call = self._waiting.get()
            with busy:
                call.run()
            del call
            self._idle.give_back()

    def _end(self) -> None:
        """Wait until no thread makes a call. One that would come back when Python has ended would crash."""
        while self._busy and (not self._waiting.empty() or any(busy.locked() for busy in self._busy)):
            for busy in list(self._busy):
                busy.acquire()
                busy.release()
