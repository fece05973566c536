"""What may come next in a query: operators, columns, functions, and values of the rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from amudai import AmudaiError, Dataset, Shard, TermIndex, col

__all__ = ["KQL_OPERATORS", "KqlWords", "completer"]

KQL_OPERATORS: Final = (
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
_WHERE_WORDS: Final = (
    "and", "or", "not", "has", "hasprefix", "hassuffix", "has_any (", "has_all (", "contains", "startswith", "endswith",
    "matches regex", "like", "ilike", "in (", "between", "is null", "is not null", "datetime(", "true", "false",
)  # fmt: skip
_SQL_WORDS: Final = (
    "SELECT", "FROM data", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "HAVING", "DISTINCT", "AS", "AND", "OR", "NOT",
    "IN", "LIKE", "ILIKE", "BETWEEN", "IS NULL", "IS NOT NULL", "CASE WHEN", "JOIN", "ON", "WITH", "DESC", "ASC",
    "count(*)", "sum(", "avg(", "min(", "max(", "quantile_cont(", "date_trunc(", "has(", "has_any(", "has_all(",
    "hasprefix(", "TIMESTAMP",
)  # fmt: skip
_LANGUAGES: Final[dict[str, tuple[str, ...]]] = {"kql": _WORDS, "where": _WHERE_WORDS, "sql": _SQL_WORDS}
# A text that is not closed yet, after a column and an operator, or after a function of ours in SQL and its column.
_TEXT: Final = re.compile(
    r"""([\w.]+)\s*(!?\w+|[=!]?=|=~|:)\s*\(?(?:(["'])(?:(?!\3).)*\3\s*,\s*)*(["'])((?:(?!\4).)*)$"""
)
_CALL: Final = re.compile(r"""(has\w*)\(\s*"?([\w.]+)"?\s*,\s*'([^']*)$""", re.IGNORECASE)
_LAST: Final = re.compile(r"[\w.!()-]*$")
# Only the first rows are looked at for values, so that a key press never reads a whole shard.
_ROWS: Final = 200_000
_FOUND: Final = 2_000
_MOST: Final = 50
# Only the first shards of a dataset are asked for words.
_SHARDS: Final = 3


class KqlWords:
    """What may come next in a query over a shard or dataset."""

    def __init__(self, table: Shard | Dataset) -> None:
        self._table = table
        self._columns = [path for field in table.schema for path in _paths(field, "")]

    def after(self, text: str, language: str = "kql") -> tuple[str, list[str]]:
        """The word that a text ends with, and the words that may stand in its place.

        `language` is `kql`, `sql`, `where` for the text of `where=`, or `words` for words to look for.

        >>> words = KqlWords(amudai.open("tests/fixtures/sample.amudai.shard"))
        >>> words.after("where sta")
        ('sta', ['status', 'startswith'])
        >>> words.after('where level == "E')
        ('E', ['ERROR'])
        >>> words.after("where status >= 500 | su")
        ('su', ['summarize'])
        >>> words.after("level = 'E", "where"), words.after("SELECT sta", "sql")
        (('E', ['ERROR']), ('sta', ['status']))
        """
        if language == "words":
            begun = re.findall(r"\S*$", text)[0]
            return begun, self._terms(begun) if begun else []
        called = _CALL.search(text) if language == "sql" else None
        if called is not None:
            return called[3], self._values(called[2], called[1], called[3])
        inside = _TEXT.search(text)
        if inside is not None:
            return inside[5], self._values(inside[1], inside[2], inside[5])
        found = _LAST.search(text)
        begun = found[0] if found else ""
        before = text[: len(text) - len(begun)].rstrip()
        known = (*self._columns, *_LANGUAGES[language])
        if language == "kql" and (not before or before.endswith("|")):
            known = KQL_OPERATORS
        return begun, [word for word in known if word.lower().startswith(begun.lower())]

    def _terms(self, begun: str) -> list[str]:
        """Words that begin with a text, the most frequent first: from term indexes, or else from the first rows."""
        counts: Counter[str] = Counter()
        table = self._table
        first = [table] if isinstance(table, Shard) else [table.shard(name) for name in table.shards[:_SHARDS]]
        for shard in first:
            indexed = {path for each in shard.indexes if each.type == TermIndex.index_type for path in each.fields}
            for path in sorted(indexed):
                try:
                    found = shard[path].terms(begun.lower(), _FOUND)
                except AmudaiError:
                    continue  # an index that cannot list its terms
                counts.update(dict(zip(found["term"].to_pylist(), found["rows"].to_pylist(), strict=True)))
        if counts:
            return [word for word, _ in counts.most_common(_MOST)]
        return [word for path in table.text_columns[:3] for word in self._values(path, "has", begun)][:_MOST]

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
