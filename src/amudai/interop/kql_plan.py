"""What of a KQL query can indexes answer? The tree of the query, with its leading conditions as predicates.

A scan gets a predicate that is true for each row that the query can use. A condition that is exact, true for the same
rows in both engines, is taken out of the query; any other condition stays in it and DuckDB evaluates it once more, on
the rows that are left. `take` and `count` go to the scan only where every condition before them is exact.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

import pyarrow as pa

from amudai.api import Tabular
from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.interop.kql_conditions import KqlConditions
from amudai.interop.kql_language import KqlText, nodes, output_names, text_call
from amudai.interop.kql_scope import NOWHERE, ColumnScope, is_node, whole_scope
from amudai.interop.kql_words import WORDS, joined, search_of, searched_columns, words_of
from amudai.predicate import Predicate, all_of, is_text, text_columns

__all__ = ["KqlPlan", "QueryStep", "TableUse", "plan_of"]

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

# Literals that are kept as they were written, and what is expected in them.
_WRITTEN: Final = {
    "datetime": "a time, as in datetime(2026-01-31 10:00)",
    "timespan": "a stretch of time, as in 90m",
    "guid": "a GUID",
}
_SPAN: Final = re.compile(r"\d+(\.\d+)?(d|h|m|s|ms)")


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
    _refuse_bad_literals(tree, text, evaluate)
    planner = _KqlPlanner(tables, text, evaluate, is_labelled=_names_its_sources(tree))
    found = planner.query(tree, frozenset(), is_main=True)
    return KqlPlan(found, tuple(planner.uses), tuple(planner.steps))


def _refuse_bad_literals(node: Any, text: KqlText, evaluate: Callable[[Any], Any]) -> None:
    """Refuses `datetime(2026-13-01)` and its kin: DuckDB would take a literal that means nothing for null."""
    if isinstance(node, tuple | list):
        for each in node:
            _refuse_bad_literals(each, text, evaluate)
    elif isinstance(node, nodes().Literal):
        if node.kind in _WRITTEN and node.value is not None and not _is_plain(node) and evaluate(node) is None:
            place = text.place_of(str(node.value))
            raise InvalidArgument(f"kql: expected {_WRITTEN[node.kind]}, found {node.value}{place}")
    elif is_node(node):
        for field in dataclasses.fields(node):
            _refuse_bad_literals(getattr(node, field.name), text, evaluate)


def _is_plain(literal: Any) -> bool:
    """Whether a literal surely means something, without asking DuckDB."""
    if literal.kind == "timespan":
        return _SPAN.fullmatch(str(literal.value)) is not None
    try:
        return literal.kind == "datetime" and dt.datetime.fromisoformat(str(literal.value)) is not None
    except ValueError:
        return False


class _KqlPlanner:
    def __init__(
        self, tables: Mapping[str, Tabular], text: KqlText, evaluate: Callable[[Any], Any], *, is_labelled: bool
    ) -> None:
        self._tables = tables
        self._text = text
        self._conditions = KqlConditions(text, evaluate)
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
            lets.append((name, self.query(value, defined) if is_table else self._node(value, NOWHERE, defined)))
            defined |= {name} if is_table else set()
        found = dataclasses.replace(query, lets=lets)
        source, scope, table = query.source, NOWHERE, None
        if isinstance(source, ir.TableRef) and source.name not in defined:
            table = self._table(source)
            scope = whole_scope(table.schema)
        elif not isinstance(source, ir.TableRef):
            source = self._node(source, NOWHERE, defined)
        operators = list(self._expanded(query, defined))
        use = None if table is None else TableUse(source.name, table)
        kept: list[Any] = []
        steps = [QueryStep(name, "DuckDB") for name in self._graph_operators(query.source)]
        pushing = table is not None and not self._is_labelled
        exact = pushing
        for label, operator in operators:
            by = "DuckDB"
            if pushing and use is not None and isinstance(operator, ir.Where):
                asked, left = self._conditions.split(operator.predicate, scope, use.table)
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
                kept, scope, pushing = [], ColumnScope({}, frozenset([operator.name])), False
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

    def _graph_operators(self, source: Any) -> Iterator[str]:
        """The operators of a source that is made of a graph; none of any other source."""
        ir = self._ir
        if isinstance(source, ir.GraphSource):
            yield "make-graph"
            yield from ("graph-mark-components" for _ in source.graph.components)
            if isinstance(source.consumer, ir.GraphToTable):
                yield "graph-to-table"
            else:
                yield "graph-match" if source.consumer.shortest is None else "graph-shortest-paths"

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

    def _after(self, operator: Any, scope: ColumnScope) -> ColumnScope:
        """The columns after an operator."""
        ir = self._ir
        known = dict(scope.known)
        if isinstance(operator, ir.Where | ir.Take | ir.Sort | ir.Top):
            return scope
        if isinstance(operator, ir.ProjectAway):
            away = set(operator.columns)
            return ColumnScope(
                {name: each for name, each in known.items() if name not in away},
                None if scope.visible is None else scope.visible - away,
            )
        if isinstance(operator, ir.ProjectRename):
            names = dict(operator.renames)
            return ColumnScope(
                {names.get(name, name): each for name, each in known.items()},
                None if scope.visible is None else frozenset(names.get(name, name) for name in scope.visible),
            )
        if isinstance(operator, ir.Project | ir.Extend | ir.Distinct):
            made: dict[str, tuple[str, pa.DataType] | None] = {}
            for each in operator.expressions:
                name = _name(each, ir)
                if name is None:
                    return ColumnScope({}, None)
                made[name] = scope.column(each.expr)
            added = {name: column for name, column in made.items() if column is not None}
            if isinstance(operator, ir.Extend):
                kept = {name: column for name, column in known.items() if name not in made}
                return ColumnScope(kept | added, None if scope.visible is None else scope.visible | frozenset(made))
            return ColumnScope(added, frozenset(made))
        return NOWHERE

    # ---- expressions that DuckDB is to evaluate ----

    def _node(self, node: Any, scope: ColumnScope, defined: frozenset[str]) -> Any:
        """A part of the tree, with our functions for words and our members of structs."""
        ir = self._ir
        if isinstance(node, ir.Query):
            return self.query(node, defined)
        if isinstance(node, tuple | list):
            return type(node)(self._node(each, scope, defined) for each in node)
        if not is_node(node):
            return node
        if isinstance(node, ir.NamedExpr) and node.name is None and self._is_member(node.expr, scope):
            return ir.NamedExpr(self._node(node.expr, scope, defined), _name(node, ir))
        if isinstance(node, ir.PathAccess) and self._is_member(node, scope):
            found = node.base
            for step in node.steps:
                found = text_call("member", found, ir.Literal(step.name, "string"))
            return found
        if isinstance(node, ir.BinaryOp) and node.op.removeprefix("!") in WORDS:
            left, right = self._node(node.left, scope, defined), self._node(node.right, scope, defined)
            call = text_call(node.op.removeprefix("!"), left, right)
            return ir.FunctionCall("not", (call,)) if node.op.startswith("!") else call
        if isinstance(node, ir.HasList):
            words = words_of(node, scope, self._text)
            value = self._node(node.value, scope, defined)
            return joined([text_call("has", value, word) for word in words], "and" if node.require_all else "or")
        if isinstance(node, ir.FunctionCall) and node.name.startswith("amudai_"):
            return self._found(node, scope)
        changed = {
            field.name: new
            for field in dataclasses.fields(node)
            if (new := self._node(old := getattr(node, field.name), scope, defined)) is not old and new != old
        }
        return dataclasses.replace(node, **changed) if changed else node

    def _is_member(self, node: Any, scope: ColumnScope) -> bool:
        return isinstance(node, self._ir.PathAccess) and scope.column(node) is not None

    def _found(self, call: Any, scope: ColumnScope) -> Any:
        """`search "word"` and `* has "word"` for DuckDB."""
        ir = self._ir
        op, word, column = search_of(call, self._text)
        if op is None:
            return ir.Literal(True, "bool")
        if column is not None:
            return self._match(op, self._node(column, scope, frozenset()), word)
        terms = []
        for name, (_, kind) in searched_columns(scope, self._text).items():
            terms += list(self._matches(op, ir.ColumnRef(name), kind, word))
        return joined(terms, "or") if terms else ir.Literal(False, "bool")

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
        return text_call(op, value, word) if op in WORDS else self._ir.BinaryOp(op, value, word)

    # ---- conditions that a scan can answer ----


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
    if not is_node(node):
        return False
    if getattr(node, "with_source", None) is not None:
        return True
    return any(_names_its_sources(getattr(node, field.name)) for field in dataclasses.fields(node))
