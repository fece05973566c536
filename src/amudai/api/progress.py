"""Progress of long operations, as a bar or a callback."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from amudai.arguments import shown
from amudai.errors import InvalidArgument

__all__ = ["Progress", "Report", "reporting"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long operation has come.

    Attributes
    ----------
    rows
        Rows that are done.
    bytes_in, bytes_out
        Bytes of Arrow data that were taken, and bytes of encoded values that were made of them.
    seconds
        Seconds since the operation began.
    total_rows
        Rows in all; None if the number is not known.

    Examples
    --------
    >>> seen = []
    >>> shard = amudai.write({"n": [1, 2, 3]}, "n.amudai.shard", overwrite=True, progress=seen.append)
    >>> seen[-1].rows
    3
    """

    rows: int
    bytes_in: int
    bytes_out: int
    seconds: float
    total_rows: int | None = None


Report: TypeAlias = Callable[[Progress], object]


class reporting:  # noqa: N801 - reads as a verb: with reporting(progress) as report: ...
    """Show progress as asked: a bar for True, a call of the callable, nothing otherwise."""

    def __init__(self, progress: bool | Report | None, total_rows: int | None = None) -> None:
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise InvalidArgument(f"progress: expected True, False or a callable, found {shown(progress)}")
        self._progress = progress
        self._total = total_rows
        self._start = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> Callable[[int, int, int], None]:
        if self._progress is True:
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            text = TextColumn("{task.completed:,} rows  {task.fields[sizes]}  {task.fields[rate]}")
            self._bar = Bar(TextColumn("amudai"), BarColumn(), text, TimeElapsedColumn(), transient=False)
            self._task = self._bar.add_task("", total=self._total, sizes="", rate="")
            self._bar.start()
        return self._report

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _report(self, rows: int, bytes_in: int, bytes_out: int) -> None:
        seconds = time.monotonic() - self._start
        if self._bar is not None:
            rate = f"{bytes_in / max(seconds, 1e-9) / 1e6:,.0f} MB/s"
            sizes = f"{bytes_in / 1e6:,.1f} MB in, {bytes_out / 1e6:,.1f} MB out"
            self._bar.update(self._task, completed=rows, sizes=sizes, rate=rate)
        elif callable(self._progress):
            self._progress(Progress(rows, bytes_in, bytes_out, seconds, self._total))
