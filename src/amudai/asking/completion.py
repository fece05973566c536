"""What may come next in a query: operators, columns, functions, and values of the rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
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
# Columns without a dictionary and a term index: only the first rows are looked at, so that a key press never reads a
# whole shard.
_ROWS: Final = 200_000
_FOUND: Final = 2_000
_MOST: Final = 50
# So many shards of a dataset are asked for values and words.
_SHARDS: Final = 8


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
        paths = {path for shard in self._asked for path in _term_columns(shard, whole=False)}
        found = self._indexed(sorted(paths), begun, whole=False)
        return (
            found or [word for path in self._table.text_columns[:3] for word in self._read(path, begun, True)][:_MOST]
        )

    def _values(self, column: str, operator: str, begun: str) -> list[str]:
        """Values or words of a column that begin with a text: from dictionaries and term indexes, or else from rows."""
        if column not in self._columns:
            return []
        is_word = operator.lstrip("!").startswith("has") or operator == ":"
        found = [] if is_word else self._stored(column, begun)
        return found or self._indexed([column], begun, whole=not is_word) or self._read(column, begun, is_word)

    @cached_property
    def _asked(self) -> list[Shard]:
        """The shards that are asked: some of a dataset, from its beginning to its end."""
        table = self._table
        if isinstance(table, Shard):
            return [table]
        return [table.shard(name) for name in table.shards[:: -(-len(table.shards) // _SHARDS)]]

    def _stored(self, column: str, begun: str) -> list[str]:
        """Values of a column by its dictionaries, in their order; none if it has no dictionary."""
        found: set[str] = set()
        for shard in self._asked:
            with suppress(AmudaiError):  # no dictionary, or no such column in this shard
                found.update(shard[column].dictionary(begun, _MOST).to_pylist())
        return sorted(found)[:_MOST]

    def _indexed(self, columns: list[str], begun: str, *, whole: bool) -> list[str]:
        """Words, or whole values, of columns by term indexes, the most frequent first; none if there is no index."""
        counts: Counter[str] = Counter()
        if not begun:
            return []  # all terms would be read, which may be millions: the first rows have frequent ones
        for shard in self._asked:
            able = _term_columns(shard, whole=whole)
            for column in columns:
                if column in able:
                    with suppress(AmudaiError):  # an index that cannot list its terms
                        found = shard[column].terms(begun, _FOUND)
                        counts.update(dict(zip(found["term"].to_pylist(), found["rows"].to_pylist(), strict=True)))
        return [word for word, _ in counts.most_common(_MOST)]

    def _read(self, column: str, begun: str, is_word: bool) -> list[str]:
        """Values or words of a column in the first rows, the most frequent first. Indexes find their rows."""
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


def _term_columns(shard: Shard, *, whole: bool) -> set[str]:
    """The columns whose term indexes have words or, if `whole`, values as a whole."""
    found: dict[str, set[bool]] = {}
    for index in shard.indexes:
        if index.type == TermIndex.index_type:
            stated = index.properties.get("tokenizers")
            one = [index.properties.get("tokenizer_name")] * len(index.fields)
            for path, name in zip(index.fields, stated if isinstance(stated, list) else one, strict=False):
                found.setdefault(path, set()).add(name == "trivial")
    return {path for path, kinds in found.items() if kinds == {whole}}


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
