"""What a question asks of the rows: a scan, or a query for DuckDB."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

import amudai
from amudai import AmudaiError, Dataset, QueryLimits, QueryResult, Scan, Shard
from amudai.asking import Words
from amudai.web.conditions import kql_conditions, sql_conditions, where_conditions
from amudai.web.folder import Snapshot, quoted
from amudai.web.question import Question

__all__ = ["AskedScan", "asked_of", "kql_text", "marks_of", "query_of", "query_text", "sql_text"]

_QUOTED: Final = re.compile(
    r"""(?:has\w*|contains\w*|startswith\w*|endswith\w*|i?like|search|==?|=~|:|,|\(|and|or)\s*("([^"\\]+)"|'([^'\\]+)')""",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AskedScan:
    """A question about words or conditions, bound to a table."""

    table: Shard | Dataset
    words: str
    where: str | None
    columns: tuple[str, ...] | None

    def scan(self, columns: list[str] | None, rows: range | None = None, limit: int | None = None) -> Scan:
        """The rows that match."""
        return self.table.search(self.words, columns, self.where, rows, limit=limit)

    @property
    def is_any(self) -> bool:
        """Whether every row matches."""
        return not self.words and self.where is None

    def rows(self) -> Scan:
        """All columns of the rows that match, for a download."""
        return self.scan(self._paths())

    def take(self, positions: Any) -> pa.Table:
        """Rows by position."""
        return self.table.take(positions, self._paths())

    def _paths(self) -> list[str] | None:
        return None if self.columns is None else [quoted(name) for name in self.columns]


def asked_of(
    question: Question, snapshot: Snapshot, limits: QueryLimits, limit: int | None = None
) -> AskedScan | QueryResult:
    """What is asked of the rows, checked: a scan, or a query for DuckDB, which gives at most `limit` rows."""
    table = snapshot.table(question.shard)
    spoken = question.spoken
    if spoken in ("kql", "sql"):
        schema = pa.schema([])
        is_narrowed = question.filters or question.since or question.until or question.columns
        # SQL must be a query before it becomes a part of another. Steps of KQL only follow one another.
        if is_narrowed or spoken == "sql":
            schema = query_of(question, table, limits, question.text).schema
        try:
            return query_of(question, table, limits, query_text(question, schema, limit=limit))
        except AmudaiError:
            # A mistake of the question is told with its place in the question, not in what was added to it.
            query_of(question, table, limits, question.text)
            raise
    parts = where_conditions(question, table.schema)
    if spoken == "where" and question.text:
        parts = [f"({question.text})" if parts else question.text, *parts]
    asked = AskedScan(
        table,
        question.text if spoken == "words" else "",
        " and ".join(parts) or None,
        tuple(name for name in question.columns if name in table.schema.names) or None,
    )
    asked.scan([])  # a mistake is an error here
    return asked


def query_of(question: Question, table: Shard | Dataset, limits: QueryLimits, text: str) -> QueryResult:
    """The query of a question, with another text."""
    if question.spoken == "kql":
        return amudai.kql(text, table, limits=limits)
    return amudai.sql_result(text, limits=limits, data=table)


def query_text(question: Question, schema: pa.Schema, **changes: Any) -> str:
    """The text of a query with the filters, the stretch of time and the columns of the question."""
    return (kql_text if question.spoken == "kql" else sql_text)(question, schema, **changes)


def kql_text(question: Question, schema: pa.Schema, *, projected: str | None = None, limit: int | None = None) -> str:
    """The query with the filters, the stretch of time and the columns of the question."""
    steps = [f"where {each}" for each in kql_conditions(question, schema)]
    columns = [projected] if projected is not None else [name for name in question.columns if name in schema.names]
    if columns:
        steps.append(f"project {', '.join(_kql_name(name) for name in columns)}")
    if limit is not None:
        steps.append(f"take {limit}")
    return "\n| ".join([question.text.rstrip("; \n"), *steps]) if steps else question.text


def sql_text(question: Question, schema: pa.Schema, *, projected: str | None = None, limit: int | None = None) -> str:
    """The query with the filters, the stretch of time and the columns of the question."""
    conditions = sql_conditions(question, schema)
    columns = [projected] if projected is not None else [name for name in question.columns if name in schema.names]
    if not conditions and not columns and limit is None:
        return question.text
    names = ", ".join(_sql_name(name) for name in columns) or "*"
    where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
    inner = question.text.rstrip("; \n")
    most = "" if limit is None else f"\nLIMIT {limit}"
    return f"SELECT {names} FROM (\n{inner}\n) AS question{where}{most}"


def _kql_name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else "['" + name.replace("\\", "\\\\").replace("'", "\\'") + "']"


def _sql_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def marks_of(question: Question) -> re.Pattern[str] | None:
    """What finds the words of a question in a text, to mark them."""
    if question.spoken == "words":
        return Words(tuple(question.text.split())).pattern()
    found = [match[2] or match[3] for match in _QUOTED.finditer(question.text)]
    return Words(tuple(dict.fromkeys(found)), "contains").pattern()
