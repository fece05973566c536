"""What may come next in a query: operators, columns, functions, and values of the rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from amudai import AmudaiError, Dataset, Shard, col

__all__ = ["KqlWords", "completer"]

OPERATORS: Final = (
    "where", "search", "project", "project-away", "project-keep", "project-rename", "project-reorder", "extend",
    "summarize", "count", "take", "top", "sort by", "distinct", "join", "lookup", "union", "mv-expand", "parse",
    "parse-where", "sample", "getschema", "render",
)  # fmt: skip
_WORDS: Final = (
    "and", "or", "not(", "has", "has_cs", "!has", "hasprefix", "hassuffix", "has_any", "has_all", "contains",
    "startswith", "endswith", "matches regex", "in", "in~", "between", "by", "asc", "desc", "count()", "countif(",
    "sum(", "avg(", "min(", "max(", "dcount(", "percentile(", "bin(", "ago(", "now()", "datetime(", "strlen(",
    "tostring(", "isnull(", "isnotempty(",
)  # fmt: skip
# A text that is not closed yet, after a column and an operator.
_TEXT: Final = re.compile(r"""([\w.]+)\s*(!?\w+|[=!]=|=~|:)\s*\(?(?:"[^"]*"\s*,\s*)*"([^"]*)$""")
_LAST: Final = re.compile(r"[\w.!()-]*$")
# Only the first rows are looked at for values, so that a key press never reads a whole shard.
_ROWS: Final = 200_000
_FOUND: Final = 2_000
_MOST: Final = 50


class KqlWords:
    """What may come next in a query over a shard or dataset."""

    def __init__(self, table: Shard | Dataset) -> None:
        self._table = table
        self._columns = [path for field in table.schema for path in _paths(field, "")]

    def after(self, text: str) -> tuple[str, list[str]]:
        """The word that a text ends with, and the words that may stand in its place.

        >>> words = KqlWords(amudai.open("tests/fixtures/sample.amudai.shard"))
        >>> words.after("where sta")
        ('sta', ['status', 'startswith'])
        >>> words.after('where level == "E')
        ('E', ['ERROR'])
        >>> words.after("where status >= 500 | su")
        ('su', ['summarize'])
        """
        inside = _TEXT.search(text)
        if inside is not None:
            column, operator, begun = inside.groups()
            return begun, self._values(column, operator, begun)
        found = _LAST.search(text)
        begun = found[0] if found else ""
        before = text[: len(text) - len(begun)].rstrip()
        known = OPERATORS if not before or before.endswith("|") else (*self._columns, *_WORDS)
        return begun, [word for word in known if word.lower().startswith(begun.lower())]

    def _values(self, column: str, operator: str, begun: str) -> list[str]:
        """Values or words of a column that begin with a text, the most frequent first. Indexes find their rows."""
        if column not in self._columns:
            return []
        is_word = operator.lstrip("!").startswith("has") or operator == ":"
        asked = col(column).hasprefix(begun) if is_word else col(column).startswith(begun)
        rows = slice(0, min(_ROWS, self._table.num_positions))
        try:
            found = self._table.scan([column], asked if begun else None, rows, limit=_FOUND).to_table()
        except AmudaiError:
            return []  # not a text, or a file that cannot be read: a query will say so
        counts: Counter[str] = Counter()
        for text in _leaves(found.column(0)):
            counts.update(re.findall(r"\w+", text) if is_word else [text])
        right = [word for word, _ in counts.most_common() if word.lower().startswith(begun.lower())]
        return right[:_MOST]


def completer(words: KqlWords) -> Any:
    """The completer of prompt_toolkit that offers these words."""
    from prompt_toolkit.completion import Completer, Completion

    class _Completer(Completer):  # type: ignore[misc]
        def get_completions(self, document: Any, complete_event: Any) -> Iterator[Any]:  # noqa: ARG002
            begun, offered = words.after(document.text_before_cursor)
            yield from (Completion(word, start_position=-len(begun)) for word in offered)

    return _Completer()


def _paths(field: pa.Field, before: str) -> Iterator[str]:
    """The names of a column and of the members of a struct, as KQL writes them."""
    name = f"{before}{field.name}"
    if re.fullmatch(r"\w+", field.name):
        yield name
        if pa.types.is_struct(field.type):
            for member in field.type:
                yield from _paths(member, f"{name}.")


def _leaves(column: pa.ChunkedArray) -> Iterator[str]:
    for chunk in column.chunks:
        while pa.types.is_struct(chunk.type):  # a path has one member on each level
            chunk = chunk.field(0)
        yield from (text for text in chunk.to_pylist() if isinstance(text, str))
