"""Which rows of a table can a SQL query need? A predicate that holds for all of them, and perhaps for more.

DuckDB pushes comparisons down by itself, but not LIKE, ILIKE, `contains`, `regexp_matches`, `starts_with` and functions
of ours. This module finds such conditions in a query. DuckDB still runs the query unchanged, so a condition that is not
found costs time and never changes an answer. What is found must be true for each row that the query could use:

- Only conditions of the WHERE clause count, only those that are joined by AND, and only in the SELECT that names the
  table itself. They are false for nulls, so that they also hold where an outer join fills in nulls.
- If a query names a table several times, the conditions of all places are joined by OR.
- Joins that depend on which rows are there (ASOF, POSITIONAL), samples and pivots take all rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from amudai.errors import AmudaiError
from amudai.predicate import EVERYTHING, Always, Matches, Predicate, Text, all_of, any_of, col, is_text
from amudai.types import quote_name

__all__ = ["TEXT_FUNCTIONS", "in_any_case", "prefilters", "renamed", "table_names"]

# The functions of ours that SQL can call: those with a word, and those with a list of words.
TEXT_FUNCTIONS: Final = {
    **dict.fromkeys(["has", "has_cs", "hasprefix", "hasprefix_cs", "hassuffix", "hassuffix_cs"], "word"),
    **dict.fromkeys(["has_any", "has_all"], "words"),
}
# Letters whose lower case is an ASCII letter, for DuckDB's ILIKE: our operators tell them apart.
_LOWERED: Final = {"i": "\u0130", "k": "\u212a"}
_METHODS: Final = ("ASOF", "POSITIONAL")


def prefilters(query: str, schemas: Mapping[str, pa.Schema]) -> dict[str, Predicate]:
    """For each table, by its name in lower case, a predicate that is true for each row that the query can use.

    >>> schema = pa.schema([("message", pa.string()), ("n", pa.int64())])
    >>> prefilters("SELECT n FROM logs WHERE message LIKE '%time%out' AND n > 5", {"logs": schema})
    {'logs': col("message").contains_cs("time") & col("message").endswith_cs("out")}
    >>> prefilters("SELECT n FROM logs WHERE message NOT LIKE '%time%'", {"logs": schema})
    {'logs': Always(True)}
    """
    found = {name.lower(): EVERYTHING for name in schemas}
    tree = _parsed(query)
    if tree is None:
        return dict(found)
    by_name: dict[str, list[Predicate]] = {name: [] for name in found}
    uses = _uses(tree, found)
    if uses is None:
        return dict(found)
    wanted = {name.lower(): schema for name, schema in schemas.items()}
    for use in uses:
        by_name[use.table].append(use.condition(wanted[use.table]))
    return {
        name: EVERYTHING
        if not terms or any(isinstance(term, Always) for term in terms)
        else terms[0]
        if len(terms) == 1
        else any_of(terms)
        for name, terms in by_name.items()
    }


def renamed(query: str, names: Mapping[str, str]) -> str | None:
    """The same query with other names for some tables, which keep their names as aliases; None if that is not possible.

    >>> renamed("SELECT logs.n FROM logs JOIN Logs AS other USING (n)", {"logs": "x"})
    'SELECT logs.n FROM x AS logs JOIN x AS other USING (n)'
    """
    tree = _parsed(query)
    uses = None if tree is None else _uses(tree, names)
    if uses is None:
        return None
    places = []
    for use in uses:
        place = use.node.this.meta
        if "start" not in place:
            return None  # older versions of sqlglot do not say where a name is
        places.append((place["start"], place["end"] + 1, names[use.table], bool(use.node.alias)))
    for start, end, name, has_alias in sorted(places, reverse=True):
        query = f"{query[:start]}{name}{'' if has_alias else f' AS {query[start:end]}'}{query[end:]}"
    return query


def table_names(query: str) -> list[str]:
    """The names of tables in a query, as they are written, without those that the query defines itself."""
    tree = _parsed(query)
    if tree is None:
        return []
    from sqlglot import exp

    defined = {each.alias_or_name.lower() for each in tree.find_all(exp.CTE)}
    found = [table.name for table in tree.find_all(exp.Table) if not table.args.get("db")]
    return list(dict.fromkeys(name for name in found if name and name.lower() not in defined))


def _parsed(query: str) -> Any:
    """The query as a tree; None if sqlglot cannot read it."""
    import sqlglot

    try:
        trees = sqlglot.parse(query, read="duckdb")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return None
    return trees[0] if len(trees) == 1 else None


@dataclass(frozen=True, slots=True)
class _Use:
    """A place where a SELECT names a table: its node, its name, its alias, the SELECT, and whether it is alone."""

    node: Any
    table: str
    alias: str
    select: Any
    is_alone: bool

    def condition(self, schema: pa.Schema) -> Predicate:
        """What is known of the rows that this place can use."""
        where = self.select.args.get("where")
        if where is None or _depends_on_other_rows(self.select):
            return EVERYTHING
        found = [term for each in _conjuncts(where.this) if (term := _term(each, self, schema)) is not None]
        return EVERYTHING if not found else found[0] if len(found) == 1 else all_of(found)


def _uses(tree: Any, names: Mapping[str, object]) -> list[_Use] | None:
    """All places that name one of the tables; None if a place is not understood."""
    from sqlglot import exp
    from sqlglot.errors import SqlglotError
    from sqlglot.optimizer.scope import traverse_scope

    try:
        scopes = list(traverse_scope(tree))
    except (SqlglotError, RecursionError):
        return None
    seen: dict[int, _Use] = {}
    for scope in scopes:
        for alias, source in scope.sources.items():
            if not isinstance(source, exp.Table):
                continue
            name = source.name.lower()
            if name in names and not source.args.get("db") and isinstance(scope.expression, exp.Select):
                seen[id(source)] = _Use(source, name, alias.lower(), scope.expression, len(scope.sources) == 1)
    defined = {each.alias_or_name.lower() for each in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        is_wanted = table.name.lower() in names and not table.args.get("db")
        if is_wanted and id(table) not in seen and table.name.lower() not in defined:
            return None
    for use in seen.values():
        if use.table in defined and not _resolves(tree, seen):
            return None
    return list(seen.values())


def _resolves(tree: Any, seen: Mapping[int, _Use]) -> bool:
    """Whether a table with the name of a CTE is named only inside the CTE of that name, as a first definition."""
    from sqlglot import exp

    for table in tree.find_all(exp.Table):
        if id(table) in seen:
            above = table.find_ancestor(exp.CTE)
            if above is None or above.alias_or_name.lower() != table.name.lower():
                return False
    return True


def _depends_on_other_rows(select: Any) -> bool:
    from sqlglot import exp

    joins = select.args.get("joins") or ()
    if any((join.args.get("method") or "").upper() in _METHODS for join in joins):
        return True
    return any(select.find_all(exp.TableSample, exp.Pivot)) or any(
        column.name.lower() == "rowid" for column in select.find_all(exp.Column)
    )


def _conjuncts(node: Any) -> Iterator[Any]:
    from sqlglot import exp

    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.And):
        yield from _conjuncts(node.this)
        yield from _conjuncts(node.expression)
    else:
        yield node


def _term(node: Any, use: _Use, schema: pa.Schema) -> Predicate | None:
    """A predicate that is true wherever a condition is; None if nothing is known."""
    from sqlglot import exp

    node = node.unnest()
    if isinstance(node, exp.And):
        known = [term for each in _conjuncts(node) if (term := _term(each, use, schema)) is not None]
        return None if not known else known[0] if len(known) == 1 else all_of(known)
    if isinstance(node, exp.Or):
        both = [_term(node.this, use, schema), _term(node.expression, use, schema)]
        return None if any(term is None for term in both) else any_of([term for term in both if term is not None])
    found = _leaf(node, use, schema)
    try:
        return None if found is None else found()
    except AmudaiError:
        return None


def _leaf(node: Any, use: _Use, schema: pa.Schema) -> Callable[[], Predicate | None] | None:
    from sqlglot import exp

    escape = None
    if isinstance(node, exp.Escape):
        escape = _literal(node.expression)
        node = node.this
        if escape is None or len(escape) != 1:
            return None
    if isinstance(node, exp.Anonymous):
        return _call(str(node.this).lower(), node.expressions, use, schema)
    # Whatever else a node says, a negation above all, makes it another condition.
    if {name for name, value in node.args.items() if value} - {"this", "expression", "flag"}:
        return None
    kinds: dict[Any, Callable[[str, str], Predicate | None]] = {
        exp.Like: lambda path, text: _like(path, text, escape, case_sensitive=True),
        exp.ILike: lambda path, text: _like(path, text, escape, case_sensitive=False),
        exp.Contains: lambda path, text: Text(path, "contains", text, True),
        exp.StartsWith: lambda path, text: Text(path, "startswith", text, True),
        exp.EndsWith: lambda path, text: Text(path, "endswith", text, True),
        exp.RegexpLike: lambda path, text: _regex(path, text, node.args.get("flag")),
        exp.RegexpFullMatch: lambda path, text: _regex(path, text, node.args.get("flag")),
        exp.EQ: lambda path, text: col(path) == text,
    }
    make = next((make for kind, make in kinds.items() if type(node) is kind), None)
    if make is None:
        return None
    path, text = _text_column(node.this, use, schema), _literal(node.expression)
    return None if path is None or text is None else lambda: make(path, text)


def _call(name: str, arguments: list[Any], use: _Use, schema: pa.Schema) -> Callable[[], Predicate | None] | None:
    from sqlglot import exp

    path = _text_column(arguments[0], use, schema) if len(arguments) == 2 else None
    if path is None:
        return None
    if name in ("prefix", "suffix"):
        text = _literal(arguments[1])
        op: Any = "startswith" if name == "prefix" else "endswith"
        return None if text is None else lambda: Text(path, op, text, True)
    kind = TEXT_FUNCTIONS.get(name)
    if kind == "word":
        word = _literal(arguments[1])
        return None if word is None else lambda: getattr(col(path), name)(word)
    if kind == "words" and isinstance(arguments[1], exp.Array):
        words = [_literal(each) for each in arguments[1].expressions]
        return None if not words or None in words else lambda: getattr(col(path), name)(words)
    return None


def _text_column(node: Any, use: _Use, schema: pa.Schema) -> str | None:
    """The path of a text column of the table; None if a node is anything else, or may be a column of another table."""
    from sqlglot import exp

    if not isinstance(node, exp.Column) or node.args.get("db"):
        return None
    table = node.table.lower()
    if table != use.alias if table else not use.is_alone:
        return None
    names = [name for name in schema.names if name.lower() == node.name.lower()]
    return quote_name(names[0]) if len(names) == 1 and is_text(schema.field(names[0]).type) else None


def _literal(node: Any) -> str | None:
    from sqlglot import exp

    node = node.unnest() if node is not None else None
    return node.this if isinstance(node, exp.Literal) and node.is_string else None


def _like(path: str, pattern: str, escape: str | None, *, case_sensitive: bool) -> Predicate | None:
    """The texts between wildcards, which must all be there."""
    if escape is not None and (escape in "%_" or escape in pattern):
        return None  # rare, and not worth a reading of its own
    parts = re.split("[%_]", pattern)
    terms = []
    for at, part in enumerate(parts):
        if part:
            op: Any = "contains"
            if len(parts) > 1 and case_sensitive:
                op = "startswith" if at == 0 else "endswith" if at == len(parts) - 1 else "contains"
            elif len(parts) == 1 and case_sensitive:
                op = "equals"
            terms.append(Text(path, op, part, True) if case_sensitive else in_any_case(path, part))
    return None if not terms else terms[0] if len(terms) == 1 else all_of(terms)


def in_any_case(path: str, text: str) -> Predicate:
    """Contains a text in any case, as DuckDB lowers letters."""
    if not text.isascii():
        # Letters outside of ASCII have many ways to change case: only the ASCII parts are asked for.
        parts = [part for part in re.split(r"[^\x00-\x7f]+", text) if part]
        return EVERYTHING if not parts else all_of([in_any_case(path, part) for part in parts])
    asked: list[Predicate] = [Text(path, "contains", text, False)]
    asked += [Text(path, "contains", letter, True) for small, letter in _LOWERED.items() if small in text.lower()]
    return asked[0] if len(asked) == 1 else any_of(asked)


def _regex(path: str, pattern: str, flag: Any) -> Predicate | None:
    options = "" if flag is None else _literal(flag)
    if options not in ("", "c", "i"):
        return None
    return Matches(path, f"(?i){pattern}" if options == "i" else pattern)
