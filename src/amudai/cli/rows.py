"""Printing rows as a table, as JSON lines or as CSV.

Writers take batches one by one and know only the names of the columns, so that rows of several shards can follow each
other. A column that is missing from a batch is null. The library writes JSON lines and CSV; tables are for people.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

import pyarrow as pa
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from amudai import CsvWriter, InvalidArgument, JsonLinesWriter
from amudai.asking import count_text, texts
from amudai.cli.options import FORMATS
from amudai.cli.terminal import output

__all__ = ["RowWriter", "TableWriter", "row_writer"]

# The widths of columns are chosen from the first rows, this many.
_LOOK: Final = 200
# A column is left out rather than made narrower than this.
_NARROWEST: Final = 10
_GAP: Final = 2
_ZEROS: Final = re.compile(r"(?:\.0+|(?<=\.\d{3})000|(?<=\.\d{6})000)(?=(?:Z|[+-]\d\d:\d\d)?$)")
_CONTROL: Final = {code: repr(chr(code))[1:-1] for code in [*range(32), *range(127, 160)]}


class RowWriter(Protocol):
    """Prints rows."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Print the rows of a batch."""

    def close(self) -> None:
        """Print what is still to be printed."""


def row_writer(
    format: str,  # noqa: A002 - the word for it
    names: Sequence[str],
    marks: re.Pattern[str] | None = None,
) -> RowWriter:
    """The writer of a format to standard output. A table highlights what `marks` finds."""
    match format:
        case "table":
            return TableWriter(names, output(), marks)
        case "jsonl":
            return JsonLinesWriter(sys.stdout.buffer, names)
        case "csv":
            return CsvWriter(sys.stdout.buffer, names)
    raise InvalidArgument(f"--format: expected {', '.join(FORMATS)}, found {format!r}")


def _columns(batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[pa.Array]:
    left = {name: iter(batch.schema.get_all_field_indices(name)) for name in set(names)}
    for name in names:
        index = next(left[name], None)  # the second of two equal names is the second column of that name
        yield pa.nulls(batch.num_rows) if index is None else batch.column(index)


class TableWriter:
    """Columns side by side, as wide as the first rows need and the terminal allows. A cut text ends in `…`."""

    def __init__(self, names: Sequence[str], console: Console, marks: re.Pattern[str] | None = None) -> None:
        self._names = list(names)
        self._console = console
        self._marks = marks
        self._waiting: list[list[str | None]] = []
        self._right: list[bool] | None = None
        self._layout: list[tuple[int, int]] | None = None  # of each column that is shown: which, and how wide

    def write(self, batch: pa.RecordBatch) -> None:
        """Print the rows of a batch, or keep them until enough are known to lay out the table."""
        columns = list(_columns(batch, self._names))
        if self._right is None:
            self._right = [_is_number(column.type) for column in columns]
        rows = [
            [None if cell is None else cell.translate(_CONTROL) for cell in row]
            for row in zip(*map(_shown, columns), strict=True)
        ]
        if self._layout is None:
            self._waiting += rows
            if len(self._waiting) >= _LOOK:
                self._begin()
        else:
            for row in rows:
                self._row(row)

    def close(self) -> None:
        """Print what was kept."""
        if self._layout is None and self._waiting:
            self._begin()

    def _begin(self) -> None:
        right = self._right or [False] * len(self._names)
        natural = [
            max([cell_len(name), *(cell_len(row[at] or "null") for row in self._waiting)])
            for at, name in enumerate(self._names)
        ]
        marked = [
            self._marks is not None and any(self._marks.search(row[at] or "") for row in self._waiting)
            for at in range(len(self._names))
        ]
        self._right = right
        self._layout, left_out = _laid_out(natural, marked, self._console.width)
        header = Text()
        for index, (at, width) in enumerate(self._layout):
            last = index + 1 == len(self._layout)
            header.append(_padded(self._names[at], width, right[at], last), style="bold")
            header.append("" if last else " " * _GAP)
        self._print(header)
        for row in self._waiting:
            self._row(row)
        self._waiting = []
        if left_out:
            names = ", ".join(self._names[at] for at in left_out)
            shown = f"{count_text(len(left_out), 'more column')} (choose with --columns): {names}"
            self._print(Text(_padded(shown, self._console.width, right=False, last=True), style="dim"))

    def _row(self, row: list[str | None]) -> None:
        assert self._layout is not None
        assert self._right is not None
        line = Text()
        for index, (at, width) in enumerate(self._layout):
            last = index + 1 == len(self._layout)
            cell = row[at]
            if cell is None:
                line.append(_padded("null", width, self._right[at], last), style="dim")
            else:
                shown = Text(_padded(_cut(cell, width, self._marks), width, self._right[at], last))
                if self._marks is not None:
                    for found in self._marks.finditer(shown.plain):
                        shown.stylize("bold red", *found.span())
                line.append_text(shown)
            line.append("" if last else " " * _GAP)
        self._print(line)

    def _print(self, line: Text) -> None:
        if self._console.is_terminal:
            self._console.print(line, soft_wrap=True)
        else:
            self._console.file.write(line.plain + "\n")


def _laid_out(natural: list[int], marked: list[bool], room: int) -> tuple[list[tuple[int, int]], list[int]]:
    """Which columns are shown and how wide, and which are left out. Columns with marks are shown first.

    >>> _laid_out([5, 100, 8], [False, True, False], 60)
    ([(0, 5), (1, 43), (2, 8)], [])
    >>> _laid_out([20, 20, 20, 30], [False, False, False, True], 40)
    ([(0, 14), (3, 24)], [1, 2])
    """
    # Columns with matches must be seen, with some text around each match. The others follow, from the left.
    share = max(_NARROWEST, room // 2 // max(1, sum(marked)))
    least = [min(width, share if found else _NARROWEST) for width, found in zip(natural, marked, strict=True)]
    chosen: list[int] = []
    used = -_GAP
    for at in sorted(range(len(natural)), key=lambda at: (not marked[at], at)):
        if not chosen or used + _GAP + least[at] <= room:
            chosen.append(at)
            used += _GAP + least[at]
    chosen.sort()
    widths = {at: min(least[at], room) for at in chosen}
    spare = room - used
    # Spare room goes to the columns that need more, narrow ones first, so that few columns are cut.
    wanting = sorted((at for at in chosen if natural[at] > widths[at]), key=lambda at: natural[at])
    for index, at in enumerate(wanting):
        more = min(natural[at] - widths[at], max(0, spare) // (len(wanting) - index))
        widths[at] += more
        spare -= more
    return [(at, widths[at]) for at in chosen], [at for at in range(len(natural)) if at not in widths]


def _padded(text: str, width: int, right: bool, last: bool) -> str:
    text = text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"
    blank = " " * (width - cell_len(text))
    return blank + text if right else text if last else text + blank


def _cut(text: str, width: int, marks: re.Pattern[str] | None) -> str:
    """The part of a long text that shows the first match."""
    if cell_len(text) <= width or marks is None:
        return text
    found = marks.search(text)
    if found is None or cell_len(text[: found.end()]) < width:
        return text
    # A third of the room before the match, the rest after it.
    start = max(0, found.start() - width // 3)
    start = min(start, max(0, len(text) - width + 1))
    return "…" + text[start + 1 :] if start else text


def _shown(column: pa.Array) -> list[str | None]:
    """The texts of a column, with trailing zeros removed from times."""
    if not pa.types.is_timestamp(column.type):
        return texts(column)
    return [None if text is None else _ZEROS.sub("", text).replace("T", " ", 1) for text in texts(column)]


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
