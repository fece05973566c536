"""The command `shell`: ask one query after the other."""

from __future__ import annotations

import io
import os
import pydoc
import shutil
import sys
import time
from pathlib import Path
from typing import Annotated, Any, Final

import pyarrow as pa
import typer
from rich.console import Console

import amudai
from amudai import AmudaiError, Dataset, QueryResult, Shard, UnsupportedFeature
from amudai.asking import KqlWords, count_text, time_text
from amudai.cli.guard import error_line
from amudai.cli.options import Allow, opened_rows
from amudai.cli.rows import TableWriter

__all__ = ["Session", "run"]

# More rows than these are not shown: nobody pages through them.
_SHOWN: Final = 10_000
# How wide a table may be that is shown page by page: one can go to the right there.
_WIDE: Final = 2_000
_HELP: Final = """\
A line is a query in KQL, as in: where status >= 500 | count
A line that begins with SELECT, WITH or FROM is SQL; the rows are the table data.
.schema    the columns
.explain   who ran what in the last query, and what was read
.help      this text
.quit      leave, as Ctrl-D does"""


def run(
    locations: Annotated[
        list[str],
        typer.Argument(
            metavar="SHARDS...", help="Paths or URLs of shards, or of folders of shards.", show_default=False
        ),
    ],
    allow: Allow = None,
) -> int:
    """Ask one query after the other, in KQL or SQL, with history and completion (Tab). .help says more."""
    with opened_rows(locations, allow) as table:
        session = Session(table)
        if not sys.stdin.isatty():
            for line in sys.stdin:
                if not session.answer(line):
                    break
            return 0
        ask = _prompt(table)
        print(f"{count_text(table.num_rows, 'row')}, {count_text(len(table.schema), 'column')}; .help for help")
        while True:
            try:
                if not session.answer(ask()):
                    return 0
            except EOFError:
                return 0
            except KeyboardInterrupt:
                continue  # the line, or the query, is given up


class Session:
    """The queries of one shell, and the last of them."""

    def __init__(self, table: Shard | Dataset) -> None:
        self._table = table
        self._last: QueryResult | None = None

    def answer(self, line: str) -> bool:
        """Answer a line. Returns whether there may be another."""
        asked = line.strip()
        match asked:
            case "":
                pass
            case ".quit" | ".exit":
                return False
            case ".help":
                print(_HELP)
            case ".schema":
                print(self._table.schema.to_string(show_field_metadata=False, show_schema_metadata=False))
            case ".explain":
                print("no query yet" if self._last is None else self._last.explain())
            case _:
                try:
                    self._query(asked)
                except AmudaiError as error:
                    error_line(str(error))
        return True

    def _query(self, asked: str) -> None:
        begin = time.perf_counter()
        is_sql = asked.split(maxsplit=1)[0].lower() in ("select", "with", "from")
        found = amudai.sql_result(asked, data=self._table) if is_sql else amudai.kql(asked, self._table)
        rows, is_cut, batches = 0, False, list[pa.RecordBatch]()
        for batch in found:
            batches.append(batch.slice(0, _SHOWN - rows))
            rows += batches[-1].num_rows
            is_cut = rows == _SHOWN
            if is_cut:
                break
        self._last = found
        seconds = time.perf_counter() - begin
        width, height = shutil.get_terminal_size()
        if sys.stdout.isatty() and rows + 2 > height:
            _page(_table(found.schema.names, batches, _WIDE))
        else:
            print(_table(found.schema.names, batches, width), end="")
        more = " or more: the first are shown" if is_cut else ""
        print(f"{count_text(rows, 'row')}{more} in {time_text(seconds)}")


def _table(names: list[str], batches: list[pa.RecordBatch], width: int) -> str:
    text = io.StringIO()
    writer = TableWriter(names, Console(file=text, width=width, highlight=False))
    for batch in batches:
        writer.write(batch)
    writer.close()
    return text.getvalue()


def _page(text: str) -> None:
    """Show a long text page by page. Lines are not folded: the arrow keys show what is to the right."""
    before = os.environ.get("LESS")
    os.environ["LESS"] = "-S" if before is None else before
    try:
        pydoc.pager(text)
    finally:
        if before is None:
            del os.environ["LESS"]


def _prompt(table: Shard | Dataset) -> Any:
    """What asks for a line, with history and completion."""
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
        from prompt_toolkit.completion import ThreadedCompleter
        from prompt_toolkit.history import FileHistory
    except ImportError as error:
        advice = "pip install 'amudai[kql]'"
        raise UnsupportedFeature(f"shell: expected the package prompt_toolkit, found none: {advice}") from error
    from amudai.asking import completer

    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "amudai"
    state.mkdir(parents=True, exist_ok=True)
    session: Any = PromptSession(
        "amudai> ",
        history=FileHistory(str(state / "history")),
        completer=ThreadedCompleter(completer(KqlWords(table))),
        auto_suggest=AutoSuggestFromHistory(),
        complete_while_typing=False,
    )
    return session.prompt
