"""Filters and stretches of time as conditions, in the text of `where`, in KQL and in SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import pyarrow as pa

from amudai import InvalidArgument
from amudai.web.folder import quoted, time_column
from amudai.web.question import Filter, Question

__all__ = ["can_filter", "kql_conditions", "sql_conditions", "time_text_of", "where_conditions"]

_NUMBER: Final = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?")
_ESCAPES: Final = {
    **{code: f"\\u{code:04x}" for code in range(32)},
    **{ord(sign): f"\\{sign}" for sign in "\\\"'"},
}
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?(Z|[+-]\d\d:?\d\d)?")


@dataclass(frozen=True, slots=True)
class _ConditionSyntax:
    """How a language writes what conditions are made of."""

    name: Callable[[str], str]
    text: Callable[[str], str]
    time: Callable[[str], str]
    equal: str
    null: str


def where_conditions(question: Question, schema: pa.Schema) -> list[str]:
    """The filters and the stretch of time of a question, in the text of `where`.

    >>> schema = pa.schema([("ts", pa.timestamp("us")), ("level", pa.string()), ("n", pa.int64())])
    >>> where_conditions(Question.parse("is=level:ERROR&not=n:5&is=n&from=2026-01-31"), schema)
    ['level = "ERROR"', 'not n = 5', 'n is null', 'ts >= datetime(2026-01-31)']
    """
    return list(_conditions(question, schema, _WHERE))


def kql_conditions(question: Question, schema: pa.Schema) -> list[str]:
    """The filters and the stretch of time of a question, in KQL.

    >>> schema = pa.schema([("ts", pa.timestamp("us")), ("the level", pa.string())])
    >>> print(*kql_conditions(Question.parse("is=the level:ERROR&not=the level"), schema), sep="; ")
    ['the level'] == "ERROR"; not(isnull(['the level']))
    """
    return list(_conditions(question, schema, _KQL))


def sql_conditions(question: Question, schema: pa.Schema) -> list[str]:
    """The filters and the stretch of time of a question, in SQL.

    >>> schema = pa.schema([("ts", pa.timestamp("us")), ("level", pa.string())])
    >>> print(*sql_conditions(Question.parse("is=level:it's&to=2026-01-31T10:00"), schema), sep="; ")
    "level" = 'it''s'; "ts" < TIMESTAMP '2026-01-31T10:00'
    """
    return list(_conditions(question, schema, _SQL))


def can_filter(kind: pa.DataType) -> bool:
    """Whether a click on a value of this type can filter by it."""
    return bool(_is_text(kind) or pa.types.is_boolean(kind) or _is_number(kind) or pa.types.is_timestamp(kind))


def time_text_of(micros: int) -> str:
    """A time in UTC as text that all languages take.

    >>> time_text_of(1_769_853_600_000_000)
    '2026-01-31T10:00:00'
    """
    found = datetime.fromtimestamp(micros // 1_000_000, UTC).replace(microsecond=micros % 1_000_000)
    return found.replace(tzinfo=None).isoformat()


def _conditions(question: Question, schema: pa.Schema, language: _ConditionSyntax) -> Iterator[str]:
    for each in question.filters:
        yield _filter(each, schema, language)
    column = time_column(schema)
    for text, operator, name in ((question.since, ">=", "from"), (question.until, "<", "to")):
        if text:
            if column is None:
                raise InvalidArgument(f"{name}: expected rows with a column of times, found none")
            kind = schema.field(column).type
            yield f"{language.name(column)} {operator} {_time(text, name, kind, language)}"


def _filter(asked: Filter, schema: pa.Schema, language: _ConditionSyntax) -> str:
    at = schema.get_field_index(asked.column)
    if at < 0:
        raise InvalidArgument(f"filter: expected one of the columns {', '.join(schema.names)}, found {asked.column}")
    kind, name = schema.field(at).type, language.name(asked.column)
    if asked.value is None:
        found = language.null.format(name)
    else:
        found = f"{name} {language.equal} {_literal(asked, kind, language)}"
    if not asked.excludes:
        return found
    return f"not({found})" if language is _KQL else f"not {found}"


def _literal(asked: Filter, kind: pa.DataType, language: _ConditionSyntax) -> str:
    value = asked.value or ""
    if _is_text(kind):
        return language.text(value)
    if pa.types.is_boolean(kind) and value in ("true", "false"):
        return value
    if _is_number(kind) and _NUMBER.fullmatch(value):
        return value
    if pa.types.is_timestamp(kind):
        return _time(value, asked.column, kind, language)
    raise InvalidArgument(f"filter: expected a value of the type {kind}, found {value!r}")


def _time(text: str, what: str, kind: pa.DataType, language: _ConditionSyntax) -> str:
    if not _TIME.fullmatch(text):
        raise InvalidArgument(f"{what}: expected a time such as 2026-01-31T10:00:00, found {text!r}")
    zoned = text.endswith("Z") or re.search(r"[+-]\d\d:?\d\d$", text[10:]) is not None
    if kind.tz is None and zoned:
        raise InvalidArgument(f"{what}: expected a time without a zone, as the column has, found {text!r}")
    return language.time(text if zoned or kind.tz is None or language is _KQL else f"{text}{_utc(text)}")


def _utc(text: str) -> str:
    return "Z" if len(text) > 10 else ""  # a day alone has no zone, and means UTC


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _name(name: str) -> str:
    plain = re.fullmatch(r"[A-Za-z_]\w*", name) and name.lower() not in ("and", "or", "not", "true", "false", "null")
    return name if plain else quoted(name)


def _kql_name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else f"['{name.translate(_ESCAPES)}']"


def _text(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _sql_text(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _sql_time(text: str) -> str:
    zoned = text.endswith("Z") or "+" in text or text.count("-") > 2
    return f"TIMESTAMP{'TZ' if zoned else ''} '{text}'"


_WHERE: Final = _ConditionSyntax(_name, _text, "datetime({})".format, "=", "{} is null")
_KQL: Final = _ConditionSyntax(_kql_name, _text, "datetime({})".format, "==", "isnull({})")
_SQL: Final = _ConditionSyntax(
    lambda name: '"{}"'.format(name.replace('"', '""')), _sql_text, _sql_time, "=", "{} IS NULL"
)
