"""What an address asks: a text in one of four languages, filters, a stretch of time, columns, and a page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self
from urllib.parse import parse_qsl, urlencode

from amudai import InvalidArgument
from amudai.asking import KQL_OPERATORS

__all__ = ["LANGUAGES", "PAGE_ROWS", "Filter", "Question"]

LANGUAGES: Final = ("auto", "words", "where", "kql", "sql")
PAGE_ROWS: Final = 100
_MOST_TEXT: Final = 20_000
_MOST_FILTERS: Final = 50
_MOST_PAGE: Final = 10_000
_SQL: Final = re.compile(r"\s*(select|with|from)\b", re.IGNORECASE)
_KQL: Final = re.compile(rf"\s*(\||data\s*\||let\s|({'|'.join(word.split()[0] for word in KQL_OPERATORS)})\b)")
# A column, or `not`, and an operator of `where`: a question about a column, though it may have mistakes.
_WHERE: Final = re.compile(
    r"""\s*(not\b|!|\()*\s*(`[^`]*`|[\w.@$]+)\s*(not\s+|!)?
    (=|!=|<|>|=~|!~|(is|between|in|in~|has\w*|contains\w*|startswith\w*|endswith\w*|matches|i?like)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_MEMBER: Final = re.compile(r"((?:`(?:[^`]|``)*`|[^:`])+)(?::(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Filter:
    """A value that a column must have, or must not have. `value` is its text; None for null."""

    column: str
    value: str | None
    excludes: bool = False

    @classmethod
    def of(cls, text: str, *, excludes: bool) -> Self:
        """The filter of an address, such as `level:ERROR`, or `level` for null."""
        found = _MEMBER.fullmatch(text)
        if found is None:
            raise InvalidArgument(f"filter: expected a column and a value, as in level:ERROR, found {text!r}")
        name = found[1]
        if name.startswith("`") and name.endswith("`") and len(name) > 1:
            name = name[1:-1].replace("``", "`")
        return cls(name, found[2], excludes)

    def __str__(self) -> str:
        name = self.column if re.fullmatch(r"[^:`]+", self.column) else f"`{self.column.replace('`', '``')}`"
        return name if self.value is None else f"{name}:{self.value}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, as an address has it.

    >>> Question.parse("q=timeout&is=level:ERROR&page=2").filters
    (Filter(column='level', value='ERROR', excludes=False),)
    >>> Question(text="where status >= 500 | count").spoken, Question(text="disk full").spoken
    ('kql', 'words')
    >>> Question(text="status >= 500").spoken, Question(text="select 1").spoken
    ('where', 'sql')
    >>> Question(text="a b", shard="x/y").url()
    'search?q=a+b&shard=x%2Fy'
    """

    text: str = ""
    language: str = "auto"
    shard: str = ""
    filters: tuple[Filter, ...] = ()
    since: str = ""
    until: str = ""
    columns: tuple[str, ...] = ()
    page: int = 0

    @classmethod
    def parse(cls, query: str) -> Self:
        """The question of the query part of an address."""
        return cls.of(parse_qsl(query, keep_blank_values=True))

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]]) -> Self:
        """The question of the parameters of an address. Parameters of other names are not looked at."""
        given: Mapping[str, str] = dict(pairs)
        language = given.get("lang") or "auto"
        if language not in LANGUAGES:
            raise InvalidArgument(f"lang: expected {', '.join(LANGUAGES)}, found {language!r}")
        page = given.get("page") or "1"
        if not page.isdecimal() or not 1 <= int(page) <= _MOST_PAGE:
            raise InvalidArgument(f"page: expected a number from 1 to {_MOST_PAGE}, found {page!r}")
        filters = [Filter.of(text, excludes=name == "not") for name, text in pairs if name in ("is", "not")]
        text = given.get("q", "").replace("\r\n", "\n").strip()
        if len(text) > _MOST_TEXT or len(filters) > _MOST_FILTERS:
            expected = f"at most {_MOST_TEXT} characters and {_MOST_FILTERS} filters"
            raise InvalidArgument(f"question: expected {expected}, found {len(text)} and {len(filters)}")
        return cls(
            text=text,
            language=language,
            shard=given.get("shard", ""),
            filters=tuple(dict.fromkeys(filters)),
            since=given.get("from", "").strip(),
            until=given.get("to", "").strip(),
            columns=tuple(dict.fromkeys(text for name, text in pairs if name == "col" and text)),
            page=int(page) - 1,
        )

    @property
    def spoken(self) -> str:
        """The language of the text: the one that was chosen, or the one that it looks like."""
        if self.language != "auto":
            return self.language
        if _SQL.match(self.text):
            return "sql"
        if _KQL.match(self.text):
            return "kql"
        return "where" if _WHERE.match(self.text) else "words"

    def with_(self, **changes: Any) -> Self:
        """The question with other parts. It begins with its first page, unless a page is named."""
        return replace(self, **{"page": 0, **changes})

    def pairs(self) -> list[tuple[str, str]]:
        """The parameters of its address."""
        found = [("q", self.text), ("lang", "" if self.language == "auto" else self.language), ("shard", self.shard)]
        found += [("not" if each.excludes else "is", str(each)) for each in self.filters]
        found += [("from", self.since), ("to", self.until), *(("col", name) for name in self.columns)]
        found += [("page", str(self.page + 1) if self.page else "")]
        return [(name, text) for name, text in found if text]

    def url(self, path: str = "search", **more: str) -> str:
        """The address of the question."""
        query = urlencode([*self.pairs(), *more.items()])
        return f"{path}?{query}" if query else path
