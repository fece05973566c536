"""Does beforehand what the first questions would have to wait for: opening shards, importing, and building parsers."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Final

import pyarrow as pa

from amudai import AmudaiError, QueryLimits
from amudai.web.answer import answer
from amudai.web.folder import Folder, Snapshot, time_column
from amudai.web.parts import Counted
from amudai.web.question import Question
from amudai.web.search_page import AnswerView
from amudai.web.workers import Job

__all__ = ["load_languages", "warm"]

# No row has it.
_WORD: Final = "amudai0warms0up"
# What questions in KQL and SQL need.
_PACKAGES: Final = ("duckdb", "duckdb_kql", "sqlglot", "pyarrow.dataset")


def load_languages() -> None:
    """Import the packages of KQL and SQL, as far as they are installed.

    To be called before the first question: while a library is loaded, no other thread runs.
    """
    for name in _PACKAGES:
        with suppress(ImportError):
            import_module(name)


def warm(folder: Folder, limits: QueryLimits) -> None:
    """Open all shards, and ask the first of them a question in each language, as a browser would."""
    with suppress(AmudaiError):
        snapshot = folder.now()
        readable = snapshot.readable("")
        if not readable:
            return
        table = snapshot.table("")
        _ = table.schema, table.num_positions
        first = snapshot.shard(readable[0].name)
        for text in _questions(first.schema, first.text_columns):
            _ask(Question(text=text, shard=readable[0].name), snapshot, limits)
    gc.collect()  # what imports and parsers left would otherwise be looked through during a question


def _ask(question: Question, snapshot: Snapshot, limits: QueryLimits) -> None:
    with suppress(AmudaiError):  # a shard without text has no words
        view = AnswerView(question, snapshot)
        for part in answer(question, snapshot, Job(), limits):
            for _ in view.shown(part):
                pass
            if isinstance(part, Counted):
                return  # the first rows are what one waits for


def _questions(schema: pa.Schema, texts: tuple[str, ...]) -> Iterator[str]:
    """No words, words, a condition, KQL and SQL: operators that people use, about columns that there are."""
    yield ""
    yield _WORD
    when = time_column(schema)
    by = f"bin({when}, 1h)" if when is not None and when.isidentifier() else "1"
    text = next((name for name in texts if name in schema.names and name.isidentifier()), None)
    if text is not None:
        yield f'{text} has "{_WORD}" and not {text} contains "{_WORD}"'
        steps = [
            f'where {text} has "{_WORD}" and {text} != "x"',
            f"extend more = strlen({text})",
            f"summarize n = count(), max(more) by {by}",
            "sort by n desc",
            "take 10",
        ]
        yield " | ".join(steps)
        yield f'SELECT "{text}", count(*) AS n FROM data WHERE "{text}" LIKE \'%{_WORD}%\' GROUP BY 1 ORDER BY n DESC'
    yield "take 1"
    yield "SELECT * FROM data LIMIT 1"
