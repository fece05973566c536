"""What of a KQL query can indexes answer? The tree of the query, with its leading conditions as predicates.

A scan gets a predicate that is true for each row that the query can use. A condition that is exact, true for the same
rows in both engines, is taken out of the query; any other condition stays in it and DuckDB evaluates it once more, on
the rows that are left. `take` and `count` go to the scan only where every condition before them is exact.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

import numpy as np
import pyarrow as pa

from amudai.api import Tabular
from amudai.errors import AmudaiError, InvalidArgument, UnsupportedFeature
from amudai.interop.kql_language import KqlText, nodes, output_names, text_call
from amudai.interop.prefilter import in_any_case
from amudai.predicate import EVERYTHING, Matches, Predicate, Text, all_of, any_of, col, is_text, text_columns
from amudai.types import quote_name

__all__ = ["KqlPlan", "QueryStep", "TableUse", "plan_of"]

_WORDS: Final = ("has", "has_cs", "hasprefix", "hasprefix_cs", "hassuffix", "hassuffix_cs")
_FLIPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!=", "<>": "<>"}
_ANY_CASE: Final = ("contains", "startswith", "endswith", "=~")
# Whole numbers up to here are the same as doubles.
_EXACT_DOUBLE: Final = 1 << 52
# Operators that the text for the package has as calls.
_REFUSED: Final = {
    "amudai_sample": "sample",
    "amudai_distinct": "distinct",
    "amudai_away": "project-away",
    "amudai_keep": "project-keep",
    "amudai_reorder": "project-reorder",
}
_NAMES: Final = {
    "ProjectAway": "project-away",
    "ProjectRename": "project-rename",
    "MvExpand": "mv-expand",
    "GetSchema": "getschema",
}


@dataclass(frozen=True, slots=True)
class TableUse:
    """A place where a query reads a table: the name in SQL, and what the scan of it gets.

    Attributes
    ----------
    where, limit
        What rows the scan gives; None for all.
    count
        The column of a table with one row, the number of rows that match; None if the rows are wanted themselves.
    """

    name: str
    table: Tabular
    where: Predicate | None = None
    limit: int | None = None
    count: str | None = None


@dataclass(frozen=True, slots=True)
class QueryStep:
    """An operator of a query, and who runs it."""

    operator: str
    by: str


@dataclass(frozen=True, slots=True)
class KqlPlan:
    """The tree that DuckDB is to run, the tables that it reads, and the operators of the query."""

    tree: Any
    uses: tuple[TableUse, ...]
    steps: tuple[QueryStep, ...]

    @property
    def columns(self) -> dict[str, list[str]]:
        """The names of the columns of each table."""
        return {use.name: [use.count] if use.count else list(use.table.schema.names) for use in self.uses}


def plan_of(tree: Any, tables: Mapping[str, Tabular], text: KqlText, evaluate: Callable[[Any], Any]) -> KqlPlan:
    """Take out of a tree what scans of the tables can answer.

    Parameters
    ----------
    evaluate
        The value of an expression without columns, as DuckDB has it; None if it has none.
    """
    planner = _KqlPlanner(tables, text, evaluate, is_labelled=_names_its_sources(tree))
    found = planner.query(tree, frozenset(), is_main=True)
    return KqlPlan(found, tuple(planner.uses), tuple(planner.steps))


@dataclass(frozen=True)
class _ColumnScope:
    """The columns at one place of a query.

    Attributes
    ----------
    known
        Columns that are columns of the table or members of such: their paths and types in the table.
    visible
        All names; None if they are not known.
    """

    known: Mapping[str, tuple[str, pa.DataType]]
    visible: frozenset[str] | None

    @property
    def is_whole(self) -> bool:
        return self.visible is not None and self.visible == frozenset(self.known)


_NOWHERE: Final = _ColumnScope({}, None)


class _KqlPlanner:
    def __init__(
        self, tables: Mapping[str, Tabular], text: KqlText, evaluate: Callable[[Any], Any], *, is_labelled: bool
    ) -> None:
        self._tables = tables
        self._text = text
        self._evaluate = evaluate
        self._is_labelled = is_labelled
        self._ir = nodes()
        self._asked_for: list[TableUse] = []  # with the names of the query
        self.uses: list[TableUse] = []
        self.steps: list[QueryStep] = []

    # ---- a query and its operators ----

    def query(self, query: Any, defined: frozenset[str], *, is_main: bool = False) -> Any:
        """A query, with its own table and conditions."""
        ir = self._ir
        lets = []
        for name, value in query.lets:
            is_table = isinstance(value, ir.Query)
            lets.append((name, self.query(value, defined) if is_table else self._node(value, _NOWHERE, defined)))
            defined |= {name} if is_table else set()
        found = dataclasses.replace(query, lets=lets)
        source, scope, table = query.source, _NOWHERE, None
        if isinstance(source, ir.TableRef) and source.name not in defined:
            table = self._table(source)
            scope = _whole(table.schema)
        elif not isinstance(source, ir.TableRef):
            source = self._node(source, _NOWHERE, defined)
        operators = list(self._expanded(query, defined))
        use = None if table is None else TableUse(source.name, table)
        kept: list[Any] = []
        steps: list[QueryStep] = []
        pushing = table is not None and not self._is_labelled
        exact = pushing
        for label, operator in operators:
            by = "DuckDB"
            if pushing and use is not None and isinstance(operator, ir.Where):
                asked, left = self._conditions(operator.predicate, scope, use.table)
                exact = exact and left is None
                if asked is not None:
                    use = dataclasses.replace(use, where=asked if use.where is None else all_of([use.where, asked]))
                    by = "the scan" if left is None else "the scan, then DuckDB"
                operator = None if left is None else ir.Where(left)
            elif pushing and use is not None and exact and isinstance(operator, ir.Take):
                use = dataclasses.replace(use, limit=operator.count)
                by = "the scan"
            elif pushing and use is not None and exact and isinstance(operator, ir.Count):
                # What made columns before does not change the count, and is not run.
                use = dataclasses.replace(use, count=operator.name)
                steps = [QueryStep(step.operator, "the scan") for step in [*steps, QueryStep(label, "")]]
                kept, scope, pushing = [], _ColumnScope({}, frozenset([operator.name])), False
                continue
            elif isinstance(operator, ir.Project | ir.ProjectAway | ir.ProjectRename) and pushing:
                by = "the scan, then DuckDB"
            if label:
                steps.append(QueryStep(label, by))
            if operator is None:
                continue
            pushing = pushing and isinstance(
                operator, ir.Where | ir.Project | ir.Extend | ir.ProjectAway | ir.ProjectRename | ir.Sort
            )
            exact = exact and not isinstance(operator, ir.Sort)
            kept.append(self._node(operator, scope, defined))
            scope = self._after(operator, scope)
        if use is not None:
            source = ir.TableRef(self._used(use))
        if is_main:
            self.steps = steps
        return dataclasses.replace(found, source=source, operators=kept)

    def _table(self, source: Any) -> Tabular:
        if source.database is not None or source.cluster is not None:
            raise UnsupportedFeature(f"kql: expected a table of this query, found {source.qualified}")
        if source.name not in self._tables:
            expected = " or ".join(self._tables)
            place = self._text.place_of(source.name)
            raise InvalidArgument(f"kql: expected the table {expected}, found {source.name}{place}")
        return self._tables[source.name]

    def _used(self, use: TableUse) -> str:
        """The name of a table for one place of the query. Places that ask for the same rows share a name."""
        for asked, earlier in zip(self._asked_for, self.uses, strict=True):
            if asked == use:
                return earlier.name
        name, number = use.name, 1
        while any(earlier.name == name for earlier in self.uses) or (number > 1 and name in self._tables):
            number += 1
            name = f"{use.name}_{number}"
        self._asked_for.append(use)
        self.uses.append(dataclasses.replace(use, name=name))
        return name

    def _expanded(self, query: Any, defined: frozenset[str]) -> Iterator[tuple[str, Any]]:
        """The operators with their names, those that the package refuses replaced by others."""
        ir = self._ir
        before: list[Any] = []
        for operator in query.operators:
            call: Any = operator.predicate if isinstance(operator, ir.Where) else None
            name = call.name if isinstance(call, ir.FunctionCall) else ""
            if name == "amudai_sample":
                count = call.args[0] if len(call.args) == 1 else None
                if not isinstance(count, ir.Literal) or not isinstance(count.value, int):
                    raise InvalidArgument(f"kql: expected sample with a number{self._text.place_of('sample')}")
                made = [ir.Sort((ir.SortKey(text_call("random")),)), ir.Take(count.value)]
            elif name in ("amudai_distinct", "amudai_away", "amudai_keep", "amudai_reorder"):
                names = self._names(dataclasses.replace(query, operators=before), defined)
                made = [self._chosen(name, [str(each.value) for each in call.args], names)]
            else:
                made = [operator]
            before += made
            label = _REFUSED.get(name, _name_of(operator))
            yield from ((label if at == 0 else "", each) for at, each in enumerate(made))

    def _names(self, query: Any, defined: frozenset[str]) -> list[str]:
        columns = {name: list(table.schema.names) for name, table in self._tables.items() if name not in defined}
        return output_names(query, columns, self._text)

    def _chosen(self, name: str, patterns: list[str], names: list[str]) -> Any:
        ir = self._ir
        if name == "amudai_distinct":
            return ir.Distinct(tuple(ir.NamedExpr(ir.ColumnRef(each)) for each in names))
        for pattern in patterns:
            if not any(fnmatchcase(each, pattern) for each in names):
                place = self._text.place_of(pattern)
                raise InvalidArgument(f"kql: expected some of the columns {', '.join(names)}, found {pattern}{place}")
        found = [each for each in names if any(fnmatchcase(each, pattern) for pattern in patterns)]
        if name == "amudai_away":
            return ir.ProjectAway(tuple(found))
        if name == "amudai_reorder":
            first = [each for pattern in patterns for each in names if fnmatchcase(each, pattern)]
            found = list(dict.fromkeys([*first, *names]))
        return ir.Project(tuple(ir.NamedExpr(ir.ColumnRef(each)) for each in found))

    def _after(self, operator: Any, scope: _ColumnScope) -> _ColumnScope:
        """The columns after an operator."""
        ir = self._ir
        known = dict(scope.known)
        if isinstance(operator, ir.Where | ir.Take | ir.Sort | ir.Top):
            return scope
        if isinstance(operator, ir.ProjectAway):
            away = set(operator.columns)
            return _ColumnScope(
                {name: each for name, each in known.items() if name not in away},
                None if scope.visible is None else scope.visible - away,
            )
        if isinstance(operator, ir.ProjectRename):
            names = dict(operator.renames)
            return _ColumnScope(
                {names.get(name, name): each for name, each in known.items()},
                None if scope.visible is None else frozenset(names.get(name, name) for name in scope.visible),
            )
        if isinstance(operator, ir.Project | ir.Extend | ir.Distinct):
            made: dict[str, tuple[str, pa.DataType] | None] = {}
            for each in operator.expressions:
                name = _name(each, ir)
                if name is None:
                    return _ColumnScope({}, None)
                made[name] = self._column(each.expr, scope)
            added = {name: column for name, column in made.items() if column is not None}
            if isinstance(operator, ir.Extend):
                kept = {name: column for name, column in known.items() if name not in made}
                return _ColumnScope(kept | added, None if scope.visible is None else scope.visible | frozenset(made))
            return _ColumnScope(added, frozenset(made))
        return _NOWHERE

    # ---- expressions that DuckDB is to evaluate ----

    def _node(self, node: Any, scope: _ColumnScope, defined: frozenset[str]) -> Any:
        """A part of the tree, with our functions for words and our members of structs."""
        ir = self._ir
        if isinstance(node, ir.Query):
            return self.query(node, defined)
        if isinstance(node, tuple | list):
            return type(node)(self._node(each, scope, defined) for each in node)
        if not _is_node(node):
            return node
        if isinstance(node, ir.NamedExpr) and node.name is None and self._is_member(node.expr, scope):
            return ir.NamedExpr(self._node(node.expr, scope, defined), _name(node, ir))
        if isinstance(node, ir.PathAccess) and self._is_member(node, scope):
            found = node.base
            for step in node.steps:
                found = text_call("member", found, ir.Literal(step.name, "string"))
            return found
        if isinstance(node, ir.BinaryOp) and node.op.removeprefix("!") in _WORDS:
            left, right = self._node(node.left, scope, defined), self._node(node.right, scope, defined)
            call = text_call(node.op.removeprefix("!"), left, right)
            return ir.FunctionCall("not", (call,)) if node.op.startswith("!") else call
        if isinstance(node, ir.HasList):
            words = self._words(node, scope)
            value = self._node(node.value, scope, defined)
            return self._joined([text_call("has", value, word) for word in words], "and" if node.require_all else "or")
        if isinstance(node, ir.FunctionCall) and node.name.startswith("amudai_"):
            return self._found(node, scope)
        changed = {
            field.name: new
            for field in dataclasses.fields(node)
            if (new := self._node(old := getattr(node, field.name), scope, defined)) is not old and new != old
        }
        return dataclasses.replace(node, **changed) if changed else node

    def _joined(self, terms: list[Any], op: str) -> Any:
        found = terms[0]
        for term in terms[1:]:
            found = self._ir.BinaryOp(op, found, term)
        return found

    def _is_member(self, node: Any, scope: _ColumnScope) -> bool:
        return isinstance(node, self._ir.PathAccess) and self._column(node, scope) is not None

    def _words(self, node: Any, scope: _ColumnScope) -> list[Any]:
        """The words of `has_any` and `has_all`, one by one."""
        ir = self._ir
        found: list[Any] = []
        for item in node.items:
            if isinstance(item, ir.LetRef) and scope.visible is not None and item.name not in scope.visible:
                item = item.value
            if isinstance(item, ir.Literal) and item.kind == "dynamic":
                values = json.loads(str(item.value))
                found += [
                    ir.Literal(str(value), "string") for value in (values if isinstance(values, list) else [values])
                ]
            else:
                found.append(item)
        if node.subquery is not None or not found:
            what = "has_all" if node.require_all else "has_any"
            raise UnsupportedFeature(f"kql: expected {what} with words, found a query{self._text.place_of(what)}")
        return found

    def _found(self, call: Any, scope: _ColumnScope) -> Any:
        """`search "word"` and `* has "word"` for DuckDB."""
        ir = self._ir
        op, word, column = self._asked(call)
        if op is None:
            return ir.Literal(True, "bool")
        if column is not None:
            return self._match(op, self._node(column, scope, frozenset()), word)
        terms = []
        for name, (_, kind) in self._searched(scope).items():
            terms += list(self._matches(op, ir.ColumnRef(name), kind, word))
        return self._joined(terms, "or") if terms else ir.Literal(False, "bool")

    def _matches(self, op: str, value: Any, kind: pa.DataType, word: Any) -> Iterator[Any]:
        ir = self._ir
        if is_text(kind):
            yield self._match(op, value, word)
        elif pa.types.is_struct(kind):
            for field in kind:
                yield from self._matches(
                    op, text_call("member", value, ir.Literal(field.name, "string")), field.type, word
                )
        elif text_columns(pa.schema([("values", kind)])):
            each = ir.ColumnRef("_each")
            yield text_call("any of", value, self._match(op, each, word))

    def _match(self, op: str, value: Any, word: Any) -> Any:
        return text_call(op, value, word) if op in _WORDS else self._ir.BinaryOp(op, value, word)

    def _asked(self, call: Any) -> tuple[str | None, Any, Any]:
        """What `search` asks: the operator, the word, and the column; None for any text."""
        ir = self._ir
        arguments = list(call.args)
        column = arguments.pop(0) if call.name == "amudai_match" else None
        if call.name == "amudai_any":
            return str(arguments[0].value), arguments[1], None
        word, sensitive = arguments
        if not isinstance(word, ir.Literal) or word.kind != "string":
            raise UnsupportedFeature(f"kql: expected search with a text{self._text.place_of('search')}")
        asked = str(word.value)
        text = asked.strip("*")
        if "*" in text:
            raise UnsupportedFeature(
                f"kql: expected search with * at the ends of a text, found {asked!r}{self._text.place_of('search')}"
            )
        begins, ends = asked.startswith("*"), asked.endswith("*")
        op = "contains" if begins and ends else "hassuffix" if begins else "hasprefix" if ends else "has"
        if not text:
            return None, word, column
        return op + ("_cs" if sensitive.value else ""), ir.Literal(text, "string"), column

    def _searched(self, scope: _ColumnScope) -> Mapping[str, tuple[str, pa.DataType]]:
        if not scope.is_whole:
            place = self._text.place_of("search") or self._text.place_of("where *")
            expected = "search before operators that make columns"
            raise UnsupportedFeature(f"kql: expected {expected}, found it after one{place}")
        return scope.known

    # ---- conditions that a scan can answer ----

    def _conditions(self, condition: Any, scope: _ColumnScope, table: Tabular) -> tuple[Predicate | None, Any]:
        """A predicate that is true wherever a condition is, and the part of the condition that it does not decide."""
        asked: list[Predicate] = []
        left: list[Any] = []
        for each in _conjuncts(condition, self._ir):
            term, is_exact = self._term(each, scope)
            if term is not None and not _fits(term, table):
                term, is_exact = None, False
            if term is not None:
                asked.append(term)
            if not is_exact:
                left.append(each)
        predicate = None if not asked else asked[0] if len(asked) == 1 else all_of(asked)
        return predicate, self._joined(left, "and") if left else None

    def _term(self, node: Any, scope: _ColumnScope) -> tuple[Predicate | None, bool]:
        try:
            return self._predicate(node, scope)
        except UnsupportedFeature:
            raise
        except AmudaiError:
            return None, False

    def _predicate(self, node: Any, scope: _ColumnScope) -> tuple[Predicate | None, bool]:
        ir = self._ir
        if isinstance(node, ir.BinaryOp) and node.op in ("and", "or"):
            return self._both(node, scope)
        if isinstance(node, ir.BinaryOp):
            return self._compared(node.op, node.left, node.right, scope)
        if isinstance(node, ir.Between) and not node.negated:
            high = node.high
            if isinstance(high, ir.Literal) and high.kind == "timespan":
                high = ir.BinaryOp("+", node.low, high)
            return self._all([("<=", node.value, high), (">=", node.value, node.low)], scope)
        if isinstance(node, ir.InList) and not node.negated and node.subquery is None and node.items:
            op = "=~" if node.case_insensitive else "=="
            terms = [self._compared(op, node.value, item, scope) for item in node.items]
            return _any(terms)
        if isinstance(node, ir.HasList) and (path := self._text_path(node.value, scope)) is not None:
            words = [self._constant(word, scope) for word in self._words(node, scope)]
            if all(isinstance(word, str) for word in words):
                return getattr(col(path), "has_all" if node.require_all else "has_any")(words), True
            return None, False
        if isinstance(node, ir.FunctionCall):
            return self._called(node, scope)
        found = self._column(node, scope)
        if found is not None and pa.types.is_boolean(found[1]):
            return col(found[0]) == True, True  # noqa: E712 - a predicate
        return None, False

    def _both(self, node: Any, scope: _ColumnScope) -> tuple[Predicate | None, bool]:
        left, right = self._term(node.left, scope), self._term(node.right, scope)
        if node.op == "or":
            return _any([left, right])
        known = [term for term, _ in (left, right) if term is not None]
        found = None if not known else known[0] if len(known) == 1 else all_of(known)
        return found, left[1] and right[1]

    def _all(self, parts: Iterable[tuple[str, Any, Any]], scope: _ColumnScope) -> tuple[Predicate | None, bool]:
        found = [self._compared(op, left, right, scope) for op, left, right in parts]
        known = [term for term, _ in found if term is not None]
        return (all_of(known) if known else None), all(is_exact for _, is_exact in found)

    def _called(self, node: Any, scope: _ColumnScope) -> tuple[Predicate | None, bool]:
        ir = self._ir
        if node.name.startswith("amudai_"):
            return self._search_predicate(node, scope)
        if len(node.args) != 1:
            return None, False
        if node.name == "not":
            inner = node.args[0]
            if isinstance(inner, ir.HasList) or (isinstance(inner, ir.BinaryOp) and inner.op in _WORDS):
                # Words are functions of ours in DuckDB too: null for nulls, so that their negation agrees.
                term, is_exact = self._predicate(inner, scope)
                return (~term, True) if term is not None and is_exact else (None, False)
            return None, False
        found = self._column(node.args[0], scope)
        if found is None or pa.types.is_nested(found[1]):
            return None, False
        path, kind = found
        match node.name:
            case "isnull":
                return col(path).is_null(), True
            case "isnotnull":
                return col(path).is_valid(), True
            case "isnotempty" if is_text(kind):
                return col(path).is_valid(), False
        return None, False

    def _search_predicate(self, call: Any, scope: _ColumnScope) -> tuple[Predicate | None, bool]:
        op, word, column = self._asked(call)
        if op is None:
            return EVERYTHING, True
        if column is not None:
            return self._compared(op, column, word, scope)
        asked = self._constant(word, scope)
        if not isinstance(asked, str) or not asked:
            return None, False
        paths = [
            path + each.removeprefix("values")
            for path, kind in self._searched(scope).values()
            for each in text_columns(pa.schema([("values", kind)]))
        ]
        if not paths:
            return None, False
        return _any([_text_term(path, op, asked) for path in paths])

    def _compared(self, op: str, left: Any, right: Any, scope: _ColumnScope) -> tuple[Predicate | None, bool]:
        found = self._column(left, scope)
        if found is None and op in _FLIPPED:
            op, left, right = _FLIPPED[op], right, left
            found = self._column(left, scope)
        if found is None:
            return None, False
        value = self._constant(right, scope)
        if value is None:
            return None, False
        path, kind = found
        if is_text(kind):
            return _text_term(path, op, value) if isinstance(value, str) else (None, False)
        return _value_term(path, kind, op, value)

    def _text_path(self, node: Any, scope: _ColumnScope) -> str | None:
        found = self._column(node, scope)
        return found[0] if found is not None and is_text(found[1]) else None

    def _column(self, node: Any, scope: _ColumnScope) -> tuple[str, pa.DataType] | None:
        """The path and type of a column of the table, or of a member of a struct; None if a node is anything else."""
        ir = self._ir
        if isinstance(node, ir.ColumnRef | ir.LetRef):
            return scope.known.get(node.name)
        if not isinstance(node, ir.PathAccess) or not isinstance(node.base, ir.ColumnRef):
            return None
        found = scope.known.get(node.base.name)
        for step in node.steps:
            if found is None or step.name is None or not pa.types.is_struct(found[1]):
                return None
            path, kind = found
            at = kind.get_field_index(step.name)
            found = None if at < 0 else (f"{path}.{quote_name(step.name)}", kind.field(at).type)
        return found

    def _constant(self, node: Any, scope: _ColumnScope) -> Any:
        """The value of an expression without columns; None if it has columns, is null, or is not known."""
        ir = self._ir
        if isinstance(node, ir.LetRef):
            if scope.visible is None or node.name in scope.visible:
                return None
            return self._constant(node.value, scope)
        if isinstance(node, ir.Literal) and node.kind in ("long", "int", "real", "string", "bool"):
            return node.value
        if not _is_constant(node, scope, ir):
            return None
        return self._evaluate(_resolved(node, ir))


def _whole(schema: pa.Schema) -> _ColumnScope:
    return _ColumnScope(
        {field.name: (quote_name(field.name), field.type) for field in schema if schema.names.count(field.name) == 1},
        frozenset(schema.names),
    )


def _name_of(operator: Any) -> str:
    """The name of an operator in KQL."""
    kind = type(operator).__name__
    if kind == "Where" and _searches(operator.predicate):
        return "search"
    return _NAMES.get(kind, kind.lower())


def _searches(condition: Any) -> bool:
    if getattr(condition, "name", None) in ("amudai_search", "amudai_match"):
        return True
    return any(_searches(getattr(condition, side)) for side in ("left", "right") if hasattr(condition, side))


def _name(named: Any, ir: Any) -> str | None:
    """The name of a column that an operator makes; None if the package finds one."""
    if named.name is not None:
        return str(named.name)
    if isinstance(named.expr, ir.ColumnRef):
        return str(named.expr.name)
    if isinstance(named.expr, ir.PathAccess) and isinstance(named.expr.base, ir.ColumnRef):
        steps = [step.name for step in named.expr.steps]
        return None if None in steps else "_".join([named.expr.base.name, *steps])
    return None


def _names_its_sources(node: Any) -> bool:
    """Whether a query asks for the names of the tables of a union, which must then be those of the query."""
    if isinstance(node, tuple | list):
        return any(_names_its_sources(each) for each in node)
    if not _is_node(node):
        return False
    if getattr(node, "with_source", None) is not None:
        return True
    return any(_names_its_sources(getattr(node, field.name)) for field in dataclasses.fields(node))


def _is_node(value: Any) -> bool:
    return dataclasses.is_dataclass(value)


def _conjuncts(node: Any, ir: Any) -> Iterator[Any]:
    if isinstance(node, ir.BinaryOp) and node.op == "and":
        yield from _conjuncts(node.left, ir)
        yield from _conjuncts(node.right, ir)
    else:
        yield node


def _is_constant(node: Any, scope: _ColumnScope, ir: Any) -> bool:
    if isinstance(node, tuple | list):
        return all(_is_constant(each, scope, ir) for each in node)
    if isinstance(node, ir.ColumnRef | ir.Query | ir.Parameter | ir.PathAccess | ir.RowContext):
        return False
    if isinstance(node, ir.LetRef):
        hidden = scope.visible is not None and node.name not in scope.visible
        return hidden and _is_constant(node.value, scope, ir)
    if isinstance(node, ir.FunctionCall) and node.name in ("rand", "new_guid"):
        return False
    if not _is_node(node):
        return True
    return all(_is_constant(getattr(node, field.name), scope, ir) for field in dataclasses.fields(node))


def _resolved(node: Any, ir: Any) -> Any:
    """A constant expression, with the values of names in their place."""
    if isinstance(node, ir.LetRef):
        return _resolved(node.value, ir)
    if isinstance(node, tuple):
        return tuple(_resolved(each, ir) for each in node)
    if not _is_node(node):
        return node
    return dataclasses.replace(
        node, **{field.name: _resolved(getattr(node, field.name), ir) for field in dataclasses.fields(node)}
    )


def _any(terms: Iterable[tuple[Predicate | None, bool]]) -> tuple[Predicate | None, bool]:
    found = list(terms)
    known = [term for term, _ in found if term is not None]
    if len(known) < len(found):
        return None, False
    return (known[0] if len(known) == 1 else any_of(known)), all(is_exact for _, is_exact in found)


def _text_term(path: str, op: str, value: str) -> tuple[Predicate | None, bool]:
    """A predicate about a text. In any case, DuckDB changes more letters than we do: the term is a superset there."""
    column = col(path)
    if op == "==":
        return column == value, True
    if op in ("!=", "<>"):
        return (column != value) | column.is_null(), True  # KQL keeps the nulls
    if not value:
        return None, False
    if op.removeprefix("!") in _WORDS:
        asked = getattr(column, op.removeprefix("!"))(value)
        return (~asked if op.startswith("!") else asked), True
    if op in ("contains_cs", "startswith_cs", "endswith_cs"):
        kind: Any = op.removesuffix("_cs")
        return Text(path, kind, value, True), True
    if op in _ANY_CASE:
        return in_any_case(path, value), False
    if op == "matches regex":
        return Matches(path, value), False
    return None, False


def _value_term(path: str, kind: pa.DataType, op: str, value: Any) -> tuple[Predicate | None, bool]:
    """A predicate about a number, a boolean or a time."""
    types = pa.types
    is_exact = True
    if types.is_boolean(kind):
        if not isinstance(value, bool) or op not in ("==", "!=", "<>"):
            return None, False
    elif types.is_timestamp(kind):
        if not isinstance(value, dt.datetime):
            return None, False
        value = value.replace(tzinfo=None if kind.tz is None else dt.UTC)
    elif types.is_integer(kind):
        if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_DOUBLE:
            value = int(value)  # DuckDB compares doubles here: nearer to zero they are the whole numbers themselves
        if not isinstance(value, int) or isinstance(value, bool):
            return None, False
    elif types.is_floating(kind):
        # NaN is greater than every number in DuckDB, and equal to none here.
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or op not in ("<", "<=", "==") or float(value) != value:
            return None, False
        if kind.bit_width < 64 and float(np.dtype(f"f{kind.bit_width // 8}").type(value)) != value:
            return None, False
        value, is_exact = float(value), False
    else:
        return None, False
    column = col(path)
    match op:
        case "==":
            return column == value, is_exact
        case "!=" | "<>":
            return (column != value) | column.is_null(), is_exact  # KQL keeps the nulls
        case "<":
            return column < value, is_exact
        case "<=":
            return column <= value, is_exact
        case ">":
            return column > value, is_exact
        case ">=":
            return column >= value, is_exact
    return None, False


def _fits(predicate: Predicate, table: Tabular) -> bool:
    """Whether a predicate can be asked of a table: its values have the types of the columns."""
    try:
        table.scan([], predicate)
    except AmudaiError:
        return False
    return True
