"""How much memory does some work take?"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def own_memory() -> int:
    """Bytes of memory that only this process uses."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0


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
