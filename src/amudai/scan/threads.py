"""How many threads?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from amudai.errors import InvalidArgument

__all__ = ["in_order", "thread_count"]

T = TypeVar("T")
R = TypeVar("R")


def thread_count(threads: int | None) -> int:
    """What was asked for, else `AMUDAI_THREADS`, else the number of cores this process may use."""
    if threads is not None:
        if threads < 1:
            raise InvalidArgument(f"threads: expected at least 1, found {threads}")
        return threads
    stated = os.environ.get("AMUDAI_THREADS", "")
    if stated:
        if not stated.isdecimal() or int(stated) < 1:
            raise InvalidArgument(f"AMUDAI_THREADS: expected a number from 1 on, found {stated!r}")
        return int(stated)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(work: Callable[[T], R], items: Iterable[T], threads: int, ahead: int | None = None) -> Iterator[R]:
    """`work` of each item, in their order, on several threads; at most `ahead` results wait to be taken."""
    if threads == 1:
        yield from map(work, items)
        return
    waiting: list[Future[R]] = []
    limit = 2 * threads if ahead is None else ahead
    with ThreadPoolExecutor(threads, thread_name_prefix="amudai") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) >= limit:
                    yield waiting.pop(0).result()
            while waiting:
                yield waiting.pop(0).result()
        finally:
            for future in waiting:  # the caller went away or something failed: what has not begun need not
                future.cancel()
