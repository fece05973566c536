"""Counters of one piece of work, separate from other work on the same shard."""

from __future__ import annotations

from contextvars import ContextVar, Token
from threading import Lock
from typing import Final

__all__ = ["COUNTING", "Meter", "count_blocks", "current_meter", "metered"]

# Held while counters change. One lock for all: a request counts on its store and on a meter, and takes it once.
COUNTING: Final = Lock()


class Meter:
    """Counts the requests, bytes and blocks of one piece of work, on all its threads.

    Attributes
    ----------
    requests, bytes
        Requests to storage, and the bytes that they asked for.
    blocks
        Blocks of columns that were decoded.
    """

    def __init__(self) -> None:
        self.requests = 0
        self.bytes = 0
        self.blocks = 0

    def add(self, requests: int = 0, size: int = 0, blocks: int = 0) -> None:
        """Add to the counters."""
        with COUNTING:
            self.requests += requests
            self.bytes += size
            self.blocks += blocks


_CURRENT: Final[ContextVar[Meter | None]] = ContextVar("amudai meter", default=None)
# The meter of the work that this thread does, or None. The method itself, as every request asks for it.
current_meter: Final = _CURRENT.get


class metered:  # noqa: N801 - reads as a verb: with metered(meter): ...
    """Count what this thread does inside the `with` block on `meter`."""

    __slots__ = ("_meter", "_token")

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def __enter__(self) -> None:
        self._token: Token[Meter | None] = _CURRENT.set(self._meter)

    def __exit__(self, *_: object) -> None:
        _CURRENT.reset(self._token)


def count_blocks(blocks: int) -> None:
    """Count decoded blocks on the current meter, if there is one."""
    meter = _CURRENT.get()
    if meter is not None:
        meter.add(blocks=blocks)
