"""How much memory does some work take?"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def own_memory() -> int:
    """Bytes of memory that only this process uses."""
    return memory_of("self")


def memory_of(process: int | str) -> int:
    """Bytes of memory that only this process uses; 0 if it has ended."""
    try:
        text = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    for line in text.splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0


def family_of(process: int) -> list[int]:
    """A process and the processes that it has started."""
    try:
        below = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        below = []
    return [process, *(each for child in below for each in family_of(int(child)))]


class Sampler:
    """Watches the memory of another process, and of those that it starts, from a thread here.

    A thread in the measured process would take processor time that counts.
    """

    def __init__(self, process: int, interval: float = 0.003) -> None:
        self.peak = 0
        self._process = process
        self._interval = interval
        self._watching, self._done = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def begin(self) -> None:
        """Forget the peak so far, and watch."""
        self.peak = 0
        self._watching.set()

    def end(self) -> int:
        """The peak since `begin`. Nothing is watched until the next `begin`."""
        self._watching.clear()
        return self.peak

    def close(self) -> None:
        self._done.set()
        self._watching.set()
        self._thread.join()

    def _run(self) -> None:
        while self._watching.wait() and not self._done.is_set():
            self.peak = max(self.peak, sum(map(memory_of, family_of(self._process))))
            self._done.wait(self._interval)


@contextmanager
def watched() -> Iterator[list[int]]:
    """The peak of memory above the start, from samples; filled in at the end."""
    before, most, done = own_memory(), [0], threading.Event()

    def sample() -> None:
        while not done.wait(0.005):
            most[0] = max(most[0], own_memory() - before)

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield most
    finally:
        done.set()
        thread.join()
