"""The language KQL: text to a tree, and a tree to DuckDB's SQL. All use of the package `duckdb_kql` is in this module.

The package is pinned, because its tree is not a public interface. It refuses some operators that users of logs need. In
the text that it gets, those stand as `where` with a call of a function that only this module knows (`REWRITTEN`); the
planner puts operators of the package in their place.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.interop.kql_size import require_moderate
from amudai.interop.packages import required

__all__ = [
    "KqlText",
    "SqlText",
    "constant_sql",
    "kql_errors",
    "lowered",
    "nodes",
    "output_names",
    "text_call",
    "translated",
]

# Names of functions that the tree calls and that no text can spell, with the SQL that they stand for.
_TEXT: Final = "CASE WHEN typeof({0}) = 'JSON' THEN CAST({0} AS VARCHAR) ->> '$' ELSE CAST({0} AS VARCHAR) END"
_WORDS: Final = ("has", "has_cs", "hasprefix", "hasprefix_cs", "hassuffix", "hassuffix_cs")
_FUNCTIONS: Final = {
    **{name: (f"{name}({_TEXT}, {{1}})", 2) for name in _WORDS},
    "any of": ("coalesce(list_bool_or(list_transform({0}, lambda _each: {1})), FALSE)", 2),
    "member": ("struct_extract({0}, {1})", 2),
    "random": ("random()", 0),
}
# Operators that a text may begin with: the rows then come from the table of this name.
TABLE: Final = "data"
# fmt: off
_OPERATORS: Final = frozenset([
    "as", "consume", "count", "distinct", "evaluate", "extend", "facet", "filter", "fork", "getschema", "invoke",
    "join", "limit", "lookup", "make-graph", "make-series", "mv-apply", "mv-expand", "mvexpand", "order", "parse",
    "parse-kv", "parse-where", "partition", "project", "project-away", "project-keep", "project-rename",
    "project-reorder", "reduce", "render", "sample", "sample-distinct", "scan", "search", "serialize", "sort",
    "summarize", "take", "top", "top-hitters", "top-nested", "where",
])
# Operators that are not in the grammar of the package, or only in some of their forms.
_UNREAD: Final = frozenset([
    "assert-schema", "execute-and-cache", "macro-expand", "parse-kv", "project-by-names", "serialize",
])
# fmt: on


@dataclass(frozen=True, slots=True)
class _TextEdit:
    """A part of a text, by its first character and the one after its last, and what replaces it."""

    start: int
    stop: int
    text: str


class KqlText:
    """A query as it was written, and as the package gets it."""

    def __init__(self, written: str) -> None:
        self.written = written
        self.sent = written
        self._rounds: list[list[_TextEdit]] = []

    def edit(self, edits: Sequence[_TextEdit]) -> None:
        """Replace parts of the text that the package gets."""
        if not edits:
            return
        ordered = sorted(edits, key=lambda edit: (edit.start, edit.stop))
        parts, at = [], 0
        for edit in ordered:
            parts += [self.sent[at : edit.start], edit.text]
            at = edit.stop
        self.sent = "".join([*parts, self.sent[at:]])
        self._rounds.append(ordered)

    def place(self, line: int, column: int) -> str:
        """A place of the text that the package got, as a place of the text that was written: line and column from 1."""
        lines = self.sent.split("\n")
        at = self._origin(sum(len(each) + 1 for each in lines[: line - 1]) + column)
        before = self.written[:at]
        return f"line {before.count(chr(10)) + 1}, column {at - (before.rfind(chr(10)) + 1) + 1}"

    def word(self, line: int, column: int) -> str:
        """The word that was written at a place of the text that the package got."""
        lines = self.sent.split("\n")
        at = self._origin(sum(len(each) + 1 for each in lines[: line - 1]) + column)
        found = re.match(r"[\w-]+|\S", self.written[at:])
        return found[0] if found else "the end"

    def after(self, line: int, column: int) -> str:
        """The text that the package got, from a place on."""
        lines = self.sent.split("\n")
        return self.sent[sum(len(each) + 1 for each in lines[: line - 1]) + column :]

    def place_of(self, word: str) -> str:
        """Where a word stands in the text that was written, as ` (line 1, column 7)`; nothing if it does not."""
        found = re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", self.written)
        if found is None:
            return ""
        before = self.written[: found.start()]
        return f" (line {before.count(chr(10)) + 1}, column {found.start() - (before.rfind(chr(10)) + 1) + 1})"

    def _origin(self, at: int) -> int:
        for edits in reversed(self._rounds):
            shift = 0
            for edit in edits:
                begin = edit.start + shift
                if at < begin:
                    break
                if at < begin + len(edit.text):
                    at = begin  # inside of what was put in: its beginning
                    break
                shift += len(edit.text) - (edit.stop - edit.start)
            at -= shift
        return max(0, min(at, len(self.written)))


@dataclass(frozen=True, slots=True)
class SqlText:
    """A query in DuckDB's SQL, with the values of its parameters."""

    sql: str
    parameters: dict[str, Any]


def package() -> Any:
    """The package, imported, with the functions of ours that the tree calls, and those of its own that we replace."""
    found = required("duckdb_kql", "kql")
    from duckdb_kql import translate
    from duckdb_kql.translate.functions import SCALAR_FUNCTIONS, FunctionSpec

    if _own("random") in SCALAR_FUNCTIONS:
        return found
    for name, (template, arity) in _FUNCTIONS.items():
        SCALAR_FUNCTIONS[_own(name)] = FunctionSpec(_own(name), "template", template, (arity,))
    # These replace names of the module, because its other functions call them by these names.
    translate.render_bin = _exact_bins(translate, translate.render_bin)
    translate.render_kql_tostring = _text_of_nested(translate, translate.render_kql_tostring)
    return found


def _exact_bins(translate: Any, numeric: Callable[..., str]) -> Callable[..., str]:
    """`bin` and `floor` of times in whole microseconds: the package divides seconds as doubles, which misses bins."""

    def bins(node: Any, name: str = "bin") -> str:
        if len(node.args) != 2 or not _is_timespan(node.args[1]):
            return numeric(node, name)
        value, size = map(translate.render_expr, node.args)
        # A time less a timespan is a time, and a timespan less another one is a timespan.
        return (
            f"({value} - to_microseconds((epoch_us({value}) % epoch_us({size}) + epoch_us({size})) % epoch_us({size})))"
        )

    return bins


def _is_timespan(node: Any) -> bool:
    """Whether an expression without columns is a timespan: 1h, 2 * 30m, totimespan("01:00:00")."""
    ir = nodes()
    if isinstance(node, (ir.Literal, ir.Parameter)):
        return bool(node.kind == "timespan")
    if isinstance(node, ir.FunctionCall):
        return node.name.lower() in ("timespan", "totimespan")
    if isinstance(node, ir.BinaryOp) and node.op in ("+", "-", "*"):
        return _is_timespan(node.left) or _is_timespan(node.right)
    return isinstance(node, ir.UnaryOp) and _is_timespan(node.operand)


def _text_of_nested(translate: Any, other: Callable[[Any], str]) -> Callable[[Any], str]:
    """`tostring` of a column of lists, structs or maps is JSON; the package casts those as DuckDB spells them."""

    def text(node: Any) -> str:
        plain = other(node)
        if not isinstance(node, nodes().ColumnRef):
            return plain
        value = translate.render_expr(node)
        return (
            f"CASE WHEN regexp_matches(typeof({value}), '\\]$|^(STRUCT|MAP|UNION)\\(') "
            f"THEN coalesce(CAST(to_json({value}) AS VARCHAR), '') ELSE {plain} END"
        )

    return text


def _own(name: str) -> str:
    return f"amudai {name}"  # a name with a space: no text can call it


def nodes() -> Any:
    """The classes of the tree."""
    package()
    from duckdb_kql import ir

    return ir


def text_call(name: str, *arguments: Any) -> Any:
    """A node of the tree that calls a function of ours: `has` and its kin, `member`, `any of`, `random`."""
    return nodes().FunctionCall(_own(name), arguments)


def lowered(text: KqlText) -> Any:
    """The tree of a query. What the package refuses and we run stands in it as calls of functions (`REWRITTEN`)."""
    package()
    from duckdb_kql.lower import lower

    with kql_errors(text):
        tokens = _tokens(text.sent)
        _refuse_unread(tokens, text)
        _refuse_assignments(tokens, text)
        text.edit([*_plain_literals(tokens), *_beginning(tokens)])
        text.edit(list(_rewritten(text)))
        tree = lower(text.sent)
        require_moderate(tree)
        return tree


def translated(tree: Any, columns: Mapping[str, list[str]], text: KqlText, moment: dt.datetime) -> SqlText:
    """The SQL of a tree. `now()` is `moment`."""
    from duckdb_kql.lower import qualify
    from duckdb_kql.params import bind
    from duckdb_kql.translate import CLOCK_SLOT, clock, to_sql

    with kql_errors(text), clock(moment) as active:
        result = to_sql(qualify(tree, None, None), dict(columns))
        bound, unbound = bind(tree.parameters, None)
        if unbound:
            raise InvalidArgument(f"kql: expected a default for each query parameter, found none for {unbound[0]}")
        values = {slot: value for slot, value in bound.items() if slot in result.slots}
        if active.used:
            values[CLOCK_SLOT] = active.moment
        return SqlText(str(result), values)


def constant_sql(expression: Any, moment: dt.datetime) -> SqlText | None:
    """SQL that gives the value of an expression without columns; None if the package cannot translate it."""
    ir = nodes()
    from duckdb_kql import KqlError
    from duckdb_kql.translate import CLOCK_SLOT, clock, to_sql

    query = ir.Query(ir.PrintSource((ir.NamedExpr(expression, "value"),)))
    try:
        with clock(moment) as active:
            sql = str(to_sql(query))
            return SqlText(sql, {CLOCK_SLOT: active.moment} if active.used else {})
    except KqlError:
        return None


def output_names(tree: Any, columns: Mapping[str, list[str]], text: KqlText) -> list[str]:
    """The names of the columns of a tree's result."""
    from duckdb_kql.schema import output_columns

    with kql_errors(text):
        return [str(name) for name in output_columns(tree, dict(columns))]


# ---- the text ----


def _tokens(text: str) -> list[Any]:
    from antlr4 import InputStream, Token
    from duckdb_kql._antlr.KqlLexer import KqlLexer

    lexer = KqlLexer(InputStream(text))
    lexer.removeErrorListeners()
    return [token for token in lexer.getAllTokens() if token.channel == Token.DEFAULT_CHANNEL]


def _refuse_unread(tokens: Sequence[Any], text: KqlText) -> None:
    """Refuses operators that the package cannot even read: it would call them errors of syntax, at another place."""
    before = ";"
    for token in tokens:
        if before in ("|", ";"):
            found = re.match(r"[\w-]+", text.sent[token.start :])
            if found is not None and found[0] in _UNREAD:
                _refused(token, text, found[0])
        before = token.text


def _refuse_assignments(tokens: Sequence[Any], text: KqlText) -> None:
    """Refuses `where status = 500`. The grammar reads it as a condition with a name, which every row fulfils."""
    before, depth, wheres = ";", 0, list[int]()
    for token in tokens:
        if token.text in ("(", "{", "["):
            depth += 1
        elif token.text in (")", "}", "]"):
            depth -= 1
        if wheres and (depth < wheres[-1] or (depth == wheres[-1] and token.text in ("|", ";"))):
            wheres.pop()
        if before in ("|", ";", "(", "{") and token.text in ("where", "filter"):
            wheres.append(depth)
        elif wheres and depth == wheres[-1] and token.text == "=":
            place = text.place(token.line, token.column)
            raise InvalidArgument(f"kql: expected == in the condition at {place}, found =")
        before = token.text


def _beginning(tokens: Sequence[Any]) -> list[_TextEdit]:
    """Puts the name of the table before a query that begins with an operator or a bar."""
    last, depth = 0, 0
    for at, token in enumerate(tokens):
        depth += (token.text in ("(", "{", "[")) - (token.text in (")", "}", "]"))
        if token.text == ";" and not depth and at + 1 < len(tokens):
            last = at + 1
    if not tokens:
        raise InvalidArgument("kql: expected a query, found none")
    first, then = tokens[last], tokens[last + 1].text if last + 1 < len(tokens) else ""
    if first.text == "|":
        return [_TextEdit(first.start, first.start, f"{TABLE} ")]
    if first.text in _OPERATORS and (then != "|" or first.text in ("count", "serialize", "getschema")):
        return [_TextEdit(first.start, first.start, f"{TABLE} | ")]
    return []


def _plain_literals(tokens: Sequence[Any]) -> Iterator[_TextEdit]:
    """Literals that the package takes for text with their quotes: h"secret", which logs hide, and ```lines```."""
    for token in tokens:
        found = re.fullmatch(r"""[hH]?(```|~~~)(.*)\1""", token.text, re.DOTALL)
        if found is not None:
            yield _TextEdit(token.start, token.stop + 1, json.dumps(found[2], ensure_ascii=False))
        elif re.match(r"""[hH]@?['"]""", token.text):
            yield _TextEdit(token.start, token.start + 1, "")


# What the package refuses, and what stands for it in the text that it gets.
REWRITTEN: Final = {
    "SearchOperator": "amudai_search",
    "StringStarOperatorExpression": "amudai_any",
    "DistinctOperator": "amudai_distinct",
    "ProjectAwayOperator": "amudai_away",
    "ProjectKeepOperator": "amudai_keep",
    "ProjectReorderOperator": "amudai_reorder",
    "SampleOperator": "amudai_sample",
}
_MAY_NEED: Final = re.compile(r"search|distinct|project-|sample|\*")
_LOGICAL: Final = ("LogicalAnd", "LogicalOr", "Parenthesized", "SearchOperator", "UnnamedExpression")


def _rewritten(text: KqlText) -> Iterator[_TextEdit]:
    if not _MAY_NEED.search(text.sent):
        return
    from duckdb_kql import parse

    yield from _of_node(parse(text.sent).tree, text)


def _of_node(node: Any, text: KqlText) -> Iterator[_TextEdit]:
    kind = type(node).__name__.removesuffix("Context")
    if kind == "SearchOperator":
        yield from _search(node, text)
        return
    edit = None
    if kind == "StringStarOperatorExpression":
        edit = _star(node, text)
    elif kind == "DistinctOperator" and re.fullmatch(r"distinct\s*\*", _written(node, text)):
        edit = f"where {REWRITTEN[kind]}()"
    elif kind in ("ProjectKeepOperator", "ProjectReorderOperator") or (
        kind == "ProjectAwayOperator" and "*" in node.getText()
    ):
        edit = f"where {REWRITTEN[kind]}({_patterns(node, text)})"
    elif kind == "SampleOperator":
        edit = f"where {REWRITTEN[kind]}({_written(node, text).removeprefix('sample').strip()})"
    if edit is not None:
        yield _TextEdit(node.start.start, node.stop.stop + 1, edit)
        return
    for child in getattr(node, "children", None) or ():
        yield from _of_node(child, text)


def _written(node: Any, text: KqlText) -> str:
    return text.sent[node.start.start : node.stop.stop + 1]


def _refused(token: Any, text: KqlText, what: str) -> NoReturn:
    place = text.place(token.line, token.column)
    raise UnsupportedFeature(f"kql: expected an operator that amudai runs, found {what} at {place}")


def _star(node: Any, text: KqlText) -> str:
    found = re.fullmatch(r"\*\s*(\w+)\s*(.+)", _written(node, text), re.DOTALL)
    if found is None or found[1] not in (*_WORDS, "contains", "contains_cs"):
        _refused(node.start, text, _written(node, text))
    return f'{REWRITTEN["StringStarOperatorExpression"]}("{found[1]}", {found[2]})'


def _patterns(node: Any, text: KqlText) -> str:
    """The names of columns after `project-keep` and so on, as literals."""
    _, _, rest = _written(node, text).partition(node.start.text)
    found = []
    for part in rest.split(","):
        name = part.strip()
        quoted = re.fullmatch(r"""\[\s*(['"])(.*)\1\s*\]""", name)
        if quoted is None and not re.fullmatch(r"[\w*]+", name):
            _refused(node.start, text, f"{node.start.text} {name}")
        found.append(json.dumps(quoted[2] if quoted else name))
    return ", ".join(found)


def _search(node: Any, text: KqlText) -> Iterator[_TextEdit]:
    """`search "word" and column:"text"` as `where`, each bare text as a call of `amudai_search`."""
    keyword, *rest = node.children
    sensitive, expressions = False, []
    for child in rest:
        kind = type(child).__name__.removesuffix("Context")
        if kind == "RelaxedQueryOperatorParameter":
            said = re.sub(r"\s", "", _written(child, text))
            if said not in ("kind=case_sensitive", "kind=case_insensitive", "kind=default"):
                _refused(child.start, text, f"search {said}")
            sensitive = said == "kind=case_sensitive"
            yield _TextEdit(child.start.start, child.stop.stop + 1, "")
        elif kind in ("SearchOperatorInClause", "DataScopeClause"):
            _refused(child.start, text, f"search {_written(child, text)}")
        else:
            expressions.append(child)
    symbol = keyword.symbol
    yield _TextEdit(symbol.start, symbol.stop + 1, "where")
    for expression in expressions:
        yield from _searched(expression, text, sensitive)


def _searched(node: Any, text: KqlText, sensitive: bool) -> Iterator[_TextEdit]:
    flag = "true" if sensitive else "false"
    if not hasattr(node, "children"):  # a word of the language
        if node.getText() == "*":
            yield _TextEdit(node.symbol.start, node.symbol.stop + 1, "true")
        return
    kind = type(node).__name__.removesuffix("Context")
    if kind == "StringBinaryOperatorExpression" and len(node.children) == 2:
        operation = node.children[1].children
        if operation[0].getText() == ":":
            colon = operation[0].symbol if hasattr(operation[0], "symbol") else operation[0].start
            yield _TextEdit(node.start.start, node.start.start, "amudai_match(")
            yield _TextEdit(colon.start, colon.stop + 1, ", ")
            yield _TextEdit(node.stop.stop + 1, node.stop.stop + 1, f", {flag})")
            return
        yield from _of_node(node, text)
        return
    if kind == "StringLiteralExpression":
        yield _TextEdit(node.start.start, node.stop.stop + 1, f"amudai_search({_written(node, text)}, {flag})")
        return
    called = kind == "NamedFunctionCallExpression" and node.start.text == "not"
    if called or len(node.children) == 1 or kind.startswith(_LOGICAL):
        for child in node.children:
            yield from _searched(child, text, sensitive)
        return
    yield from _of_node(node, text)


# ---- errors ----


@contextmanager
def kql_errors(text: KqlText) -> Iterator[None]:
    """Turns errors of the package into ours, with the place in the text that was written."""
    from duckdb_kql import KqlError, KqlSyntaxError, KqlUnsupportedError

    try:
        yield
    except KqlSyntaxError as error:
        where, said = "", str(error)
        if error.diagnostics:
            first = error.diagnostics[0]
            where = f" at {text.place(first.span.line, first.span.column)}"
            said = _at_bar(text.after(first.span.line, first.span.column)) or first.message
        raise InvalidArgument(f"kql: expected a query{where}, found {_short(said)}") from error
    except KqlUnsupportedError as error:
        what, where = error.construct, ""
        if error.span is not None:
            where = f" at {text.place(error.span.line, error.span.column)}"
            what = text.word(error.span.line, error.span.column)
            if ":" in error.construct and not error.construct.startswith(("source:", "expression:")):
                what = error.construct.replace(":", " ", 1)
        elif ":" in what:
            kind, _, name = what.partition(":")
            what, where = f"{kind} {name}", text.place_of(name)
        hint = "" if error.hint is None or "in this wave" in error.hint else f": {error.hint}"
        raise UnsupportedFeature(f"kql: expected an operator that amudai runs, found {what}{where}{hint}") from error
    except KqlError as error:
        raise InvalidArgument(f"kql: {error}") from error
    except RecursionError as error:
        raise InvalidArgument("kql: expected a query of less depth, found one that is nested too deeply") from error


def _at_bar(rest: str) -> str:
    """What is wrong with a text that the parser refuses from a bar on; nothing if it refuses another character.

    The parser names the bar, but what stands behind it is wrong.
    """
    if not rest.startswith("|"):
        return ""
    found = re.match(r"\|\s*([\w-]*)", rest)
    name = "" if found is None else found[1]
    if not name:
        return "a bar without an operator behind it"
    known = name in _OPERATORS
    return f"{name} in a form that is not KQL" if known else f"{name}, which is not an operator, behind a bar"


def _short(said: str) -> str:
    """The message of the parser, without its long lists of what may follow."""
    if "mismatched input '<EOF>'" in said:
        return "the end of the text"
    return re.sub(r" expecting \{[^}]{60,}\}?.*", "", said, flags=re.DOTALL)
