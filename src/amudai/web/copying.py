"""A question as Python, as a command, and as KQL, to be copied."""

from __future__ import annotations

import re
import shlex
from typing import Final

import pyarrow as pa

from amudai.web.asked import kql_text, sql_text
from amudai.web.conditions import kql_conditions, where_conditions
from amudai.web.folder import Folder
from amudai.web.question import Question

__all__ = ["as_command", "as_kql", "as_python"]

_TOKEN: Final = re.compile(
    r"""@?"(?:[^"\\]|\\.)*"|@?'(?:[^'\\]|\\.)*'|`[^`]*`|<>|[=!<>]=|=~|!~|=|[A-Za-z_][\w.]*~?|\d[\w.]*|\s+|.""",
    re.DOTALL,
)
_WORDS: Final = "has|has_cs|hasprefix|hasprefix_cs|hassuffix|hassuffix_cs|contains|contains_cs|startswith|startswith_cs"
_NEGATED: Final = re.compile(rf"\bnot (?=(?:{_WORDS}|endswith|endswith_cs|in|in~|between)\b)", re.IGNORECASE)
_NULL: Final = re.compile(r"([\w.]+|\['[^']*'\]) is (not )?null\b", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"\bbetween (?!\()(\S+) and (\S+)", re.IGNORECASE)
# What KQL writes in another way than by another word.
_NOT_KQL: Final = re.compile(r"\b(i?like|not|has_any|has_all|matches)\b", re.IGNORECASE)


def as_python(question: Question, folder: Folder, schema: pa.Schema) -> str:
    """Python that asks the same."""
    opened = f"data = {_opening(question, folder)}"
    match question.spoken:
        case "kql":
            found = f"found = amudai.kql({_literal(_kql(question, schema))}, data)"
        case "sql":
            found = f"found = amudai.sql_result({_literal(_sql(question, schema))}, data=data)"
        case _:
            arguments = [f"columns={list(question.columns)!r}"] if question.columns else []
            where = _where(question, schema)
            arguments += [f"where={where!r}"] if where else []
            words = question.text if question.spoken == "words" else ""
            name = "search" if words else "scan"
            found = f"found = data.{name}({', '.join([*([repr(words)] if words else []), *arguments])})"
    return f"import amudai\n\n{opened}\n{found}\nprint(found.to_table())"


def as_command(question: Question, folder: Folder, schema: pa.Schema) -> str:
    """A command that asks the same."""
    place = shlex.quote(_place(question, folder))
    match question.spoken:
        case "kql":
            return f"amudai query {shlex.quote(_kql(question, schema))} {place}"
        case "sql":
            return f"amudai query --sql {shlex.quote(_sql(question, schema))} {place}"
    where = _where(question, schema)
    words = question.text if question.spoken == "words" else ""
    parts = ["amudai search", shlex.quote(words), place]
    parts += [f"--where {shlex.quote(where)}"] if where else []
    parts += [f"--columns {shlex.quote(','.join(question.columns))}"] if question.columns else []
    return " ".join(parts)


def as_kql(question: Question, schema: pa.Schema) -> str | None:
    """KQL that asks the same; None for SQL, and for conditions that KQL would have to turn round.

    >>> schema = pa.schema([("status", pa.int64()), ("message", pa.string())])
    >>> as_kql(Question(text="disk full"), schema)
    'search "disk" and "full"'
    >>> as_kql(Question(text="status = 500 and message is not null"), schema)
    'where status == 500 and isnotnull(message)'
    """
    match question.spoken:
        case "kql":
            return _kql(question, schema)
        case "sql":
            return None
        case "words":
            words = [f'"{word}"' for word in question.text.replace("\\", "\\\\").replace('"', '\\"').split()]
            steps = [f"search {' and '.join(words)}"] if words else []
        case _:
            found = _kql_condition(question.text)
            if found is None:
                return None
            steps = [f"where {found}"]
    steps += [f"where {each}" for each in kql_conditions(question, schema)]
    if question.columns:
        steps.append(f"project {', '.join(question.columns)}")
    return "\n| ".join(steps or ["take 100"])


def _kql_condition(text: str) -> str | None:
    """The text of `where` in KQL."""
    literals: list[str] = []
    parts = []
    for token in _TOKEN.findall(text):
        if token[0] in "\"'@" and len(token) > 1:
            literals.append(token)
            parts.append(f"\x00{len(literals) - 1}\x00")
        elif token[0] == "`":
            parts.append(f"['{token[1:-1]}']")
        else:
            parts.append({"=": "==", "<>": "!="}.get(token, " " if token.isspace() else token))
    found = _NEGATED.sub("!", "".join(parts))
    found = _NULL.sub(lambda match: f"{'isnotnull' if match[2] else 'isnull'}({match[1]})", found)
    found = _BETWEEN.sub(r"between (\1 .. \2)", found)
    if _NOT_KQL.search(found):
        return None
    return re.sub(r"\x00(\d+)\x00", lambda match: literals[int(match[1])], found)


def _kql(question: Question, schema: pa.Schema) -> str:
    return kql_text(question, schema)


def _sql(question: Question, schema: pa.Schema) -> str:
    return sql_text(question, schema)


def _where(question: Question, schema: pa.Schema) -> str:
    parts = where_conditions(question, schema)
    if question.spoken == "where" and question.text:
        parts = [f"({question.text})" if parts else question.text, *parts]
    return " and ".join(parts)


def _place(question: Question, folder: Folder) -> str:
    return folder.path_of(question.shard) if question.shard else folder.location


def _opening(question: Question, folder: Folder) -> str:
    name = "open" if question.shard or folder.single else "dataset"
    return f"amudai.{name}({_place(question, folder)!r})"


def _literal(text: str) -> str:
    return repr(text) if "\n" not in text or '"""' in text or "\\" in text else f'"""\n{text}\n"""'
