"""When does Python look for garbage?

Work on thousands of columns makes many objects that stay, and so do few columns in each of many stripes. Python's
collector would look at all of them again and again, which takes up to a third of the time, and would find nothing: the
objects have no cycles.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

__all__ = ["MANY_COLUMNS", "uncollected"]

# With fewer columns, the collector is not worth a thought.
MANY_COLUMNS: Final = 1000

_lock = Lock()
_pauses = 0
_was_enabled = False


@contextmanager
def uncollected(columns: int) -> Iterator[None]:
    """Keep Python from looking for garbage during work on many columns. Nothing happens for fewer than a thousand.

    A column counts once for each stripe that is read.

    Several threads may be inside at a time. The last one to leave lets the collector run again, if it ran before.
    """
    if columns < MANY_COLUMNS:
        yield
        return
    _pause()
    try:
        yield
    finally:
        _resume()


def _pause() -> None:
    global _pauses, _was_enabled
    with _lock:
        if _pauses == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1


def _resume() -> None:
    global _pauses
    with _lock:
        _pauses -= 1
        if _pauses == 0 and _was_enabled:
            gc.enable()
