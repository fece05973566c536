"""Output for people: tables, notes, sizes, times and progress bars."""

from __future__ import annotations

import json
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from amudai.asking import count_text, rate_text, size_text

if TYPE_CHECKING:  # rich is imported when something is shown with it
    from rich.console import Console
    from rich.table import Table

    from amudai import Progress

__all__ = [
    "Bar",
    "fitted",
    "note",
    "output",
    "print_json",
    "table",
    "warnings_as_notes",
]

# The width of output that does not go to a terminal: nothing is cut.
_WIDE = 100_000
_NARROWEST = 6


def output(*, stderr: bool = False) -> Console:
    """Standard output or standard error: as wide as the terminal, or without a limit."""
    from amudai.cli.console import PlainConsole

    console = PlainConsole(stderr=stderr, highlight=False, emoji=False, markup=False, soft_wrap=False)
    if not console.is_terminal:
        console = PlainConsole(stderr=stderr, highlight=False, emoji=False, markup=False, width=_WIDE, no_color=True)
    return console


def note(text: str) -> None:
    """A remark on standard error."""
    from rich.text import Text

    output(stderr=True).print(Text(text, style="dim"))


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Show the library's warnings as notes while the `with` block runs."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: note(f"note: {message}")
        yield


def print_json(document: object) -> None:
    """Print a JSON document, indented on a terminal."""
    indent = 2 if sys.stdout.isatty() else None
    print(json.dumps(document, ensure_ascii=False, indent=indent, allow_nan=False))


def table(columns: Mapping[str, str], rows: Iterable[Iterable[object]]) -> Table:
    """A table. `columns` maps names to `left`, `right`, or `fold`: left, and long texts on several lines."""
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    cells = [
        [each if isinstance(each, Text) else Text("" if each is None else str(each)) for each in row] for row in rows
    ]
    widest = [
        max([len(name), *(max(map(cell_len, row[at].plain.split("\n"))) for row in cells)])
        for at, name in enumerate(columns)
    ]
    is_fixed = [side == "right" for side in columns.values()]
    # Rich puts one space at either edge of this kind of table, and three between its columns.
    widths = fitted(widest, is_fixed, output().width - 3 * len(columns) + 1)
    made = Table(box=SIMPLE_HEAD, pad_edge=False)
    for (name, side), width in zip(columns.items(), widths, strict=True):
        made.add_column(
            Text(name),
            justify="right" if side == "right" else "left",
            overflow="fold" if side == "fold" else "ellipsis",
            no_wrap=side != "fold",
            width=width,
        )
    for row in cells:
        made.add_row(*row)
    return made


def fitted(widths: Sequence[int], is_fixed: Sequence[bool], room: int) -> list[int]:
    """Widths that fit into `room`. Fixed columns (numbers) are never cut; of the others, the widest are cut first.

    >>> fitted([10, 20, 8, 50], [False, False, True, False], 58)
    [10, 20, 8, 20]
    """
    found = list(widths)
    flexible = sorted((at for at, fixed in enumerate(is_fixed) if not fixed), key=lambda at: widths[at])
    spare = room - sum(width for width, fixed in zip(widths, is_fixed, strict=True) if fixed)
    for index, at in enumerate(flexible):
        found[at] = min(widths[at], max(_NARROWEST, spare // (len(flexible) - index)))
        spare -= found[at]
    return found


class Bar:
    """A progress bar on standard error. It appears after one second, and only on a terminal.

    Call it with a `Progress`, as the API does, or call `rows`.
    """

    def __init__(self, doing: str, total: int | None = None) -> None:
        self._doing = doing
        self._total = total
        self._bar: Any = None
        self._lock = threading.Lock()
        self._ended = False
        self._seen = (0, total, "")
        self._timer = threading.Timer(1.0, self._start)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, progress: Progress) -> None:
        """Show the progress of an operation of the API."""
        sizes = size_text(progress.bytes_in)
        if progress.bytes_out:
            sizes += f" → {size_text(progress.bytes_out)}"
        rate = rate_text(progress.bytes_in, progress.seconds)
        self.rows(progress.rows, progress.total_rows, f"{sizes}, {rate}")

    def rows(self, done: int, total: int | None = None, text: str = "") -> None:
        """Show that `done` rows are done."""
        self._seen = (done, total if total is not None else self._total, text)
        if self._bar is not None:
            self._update()

    def close(self) -> None:
        """Remove the bar."""
        self._timer.cancel()
        with self._lock:
            self._ended = True
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def _start(self) -> None:
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        with self._lock:
            if self._ended:
                return
            columns = (TextColumn(self._doing), BarColumn(24), TextColumn("{task.fields[text]}"), TimeElapsedColumn())
            bar = RichProgress(*columns, console=output(stderr=True), transient=True, refresh_per_second=8)
            self._task = bar.add_task("", total=self._total, text="")
            bar.start()
            self._bar = bar
        self._update()

    def _update(self) -> None:
        done, total, text = self._seen
        bar = self._bar
        if bar is not None:
            shown = f"{count_text(done, 'row')}{f', {text}' if text else ''}" if done or text else ""
            bar.update(self._task, completed=done, total=total, text=shown)
