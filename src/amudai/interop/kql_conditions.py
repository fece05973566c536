"""Conditions of a KQL query as predicates of a scan.

A predicate is true for each row for which its condition is true. It is exact if it is true for no other row.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa

from amudai.api import Tabular
from amudai.errors import AmudaiError, UnsupportedFeature
from amudai.interop.kql_language import KqlText, nodes
from amudai.interop.kql_scope import ColumnScope, is_node
from amudai.interop.kql_words import WORDS, joined, search_of, searched_columns, words_of
from amudai.interop.prefilter import in_any_case
from amudai.predicate import EVERYTHING, Matches, Predicate, Text, all_of, any_of, col, is_text, text_columns

__all__ = ["KqlConditions"]

_FLIPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!=", "<>": "<>"}
_ANY_CASE: Final = ("contains", "startswith", "endswith", "=~")
# Whole numbers up to here are the same as doubles.
_EXACT_DOUBLE: Final = 1 << 52


class KqlConditions:
    """Makes predicates of the conditions of a query.

    Parameters
    ----------
    evaluate
        The value of an expression without columns, as DuckDB has it; None if it has none.
    """

    def __init__(self, text: KqlText, evaluate: Callable[[Any], Any]) -> None:
        self._text = text
        self._evaluate = evaluate

    def split(self, condition: Any, scope: ColumnScope, table: Tabular) -> tuple[Predicate | None, Any]:
        """A predicate that is true wherever a condition is, and the part of the condition that it does not decide."""
        asked: list[Predicate] = []
        left: list[Any] = []
        for each in _conjuncts(condition):
            term, is_exact = self._term(each, scope)
            if term is not None and not _fits(term, table):
                term, is_exact = None, False
            if term is not None:
                asked.append(term)
            if not is_exact:
                left.append(each)
        predicate = None if not asked else asked[0] if len(asked) == 1 else all_of(asked)
        return predicate, joined(left, "and") if left else None

    def _term(self, node: Any, scope: ColumnScope) -> tuple[Predicate | None, bool]:
        try:
            return self._predicate(node, scope)
        except UnsupportedFeature:
            raise
        except AmudaiError:
            return None, False

    def _predicate(self, node: Any, scope: ColumnScope) -> tuple[Predicate | None, bool]:
        ir = nodes()
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
            words = [self._constant(word, scope) for word in words_of(node, scope, self._text)]
            if all(isinstance(word, str) for word in words):
                return getattr(col(path), "has_all" if node.require_all else "has_any")(words), True
            return None, False
        if isinstance(node, ir.FunctionCall):
            return self._called(node, scope)
        found = scope.column(node)
        if found is not None and pa.types.is_boolean(found[1]):
            return col(found[0]) == True, True  # noqa: E712 - a predicate
        return None, False

    def _both(self, node: Any, scope: ColumnScope) -> tuple[Predicate | None, bool]:
        left, right = self._term(node.left, scope), self._term(node.right, scope)
        if node.op == "or":
            return _any([left, right])
        known = [term for term, _ in (left, right) if term is not None]
        found = None if not known else known[0] if len(known) == 1 else all_of(known)
        return found, left[1] and right[1]

    def _all(self, parts: Iterable[tuple[str, Any, Any]], scope: ColumnScope) -> tuple[Predicate | None, bool]:
        found = [self._compared(op, left, right, scope) for op, left, right in parts]
        known = [term for term, _ in found if term is not None]
        return (all_of(known) if known else None), all(is_exact for _, is_exact in found)

    def _called(self, node: Any, scope: ColumnScope) -> tuple[Predicate | None, bool]:
        ir = nodes()
        if node.name.startswith("amudai_"):
            return self._search_predicate(node, scope)
        if len(node.args) != 1:
            return None, False
        if node.name == "not":
            inner = node.args[0]
            if isinstance(inner, ir.HasList) or (isinstance(inner, ir.BinaryOp) and inner.op in WORDS):
                # Words are functions of ours in DuckDB too: null for nulls, so that their negation agrees.
                term, is_exact = self._predicate(inner, scope)
                return (~term, True) if term is not None and is_exact else (None, False)
            return None, False
        found = scope.column(node.args[0])
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

    def _search_predicate(self, call: Any, scope: ColumnScope) -> tuple[Predicate | None, bool]:
        op, word, column = search_of(call, self._text)
        if op is None:
            return EVERYTHING, True
        if column is not None:
            return self._compared(op, column, word, scope)
        asked = self._constant(word, scope)
        if not isinstance(asked, str) or not asked:
            return None, False
        paths = [
            path + each.removeprefix("values")
            for path, kind in searched_columns(scope, self._text).values()
            for each in text_columns(pa.schema([("values", kind)]))
        ]
        if not paths:
            return None, False
        return _any([_text_term(path, op, asked) for path in paths])

    def _compared(self, op: str, left: Any, right: Any, scope: ColumnScope) -> tuple[Predicate | None, bool]:
        found = scope.column(left)
        if found is None and op in _FLIPPED:
            op, left, right = _FLIPPED[op], right, left
            found = scope.column(left)
        if found is None:
            return None, False
        value = self._constant(right, scope)
        if value is None:
            return None, False
        path, kind = found
        if is_text(kind):
            return _text_term(path, op, value) if isinstance(value, str) else (None, False)
        return _value_term(path, kind, op, value)

    def _text_path(self, node: Any, scope: ColumnScope) -> str | None:
        found = scope.column(node)
        return found[0] if found is not None and is_text(found[1]) else None

    def _constant(self, node: Any, scope: ColumnScope) -> Any:
        """The value of an expression without columns; None if it has columns, is null, or is not known."""
        ir = nodes()
        if isinstance(node, ir.LetRef):
            if scope.visible is None or node.name in scope.visible:
                return None
            return self._constant(node.value, scope)
        if isinstance(node, ir.Literal) and node.kind in ("long", "int", "real", "string", "bool"):
            return node.value
        if not scope.is_constant(node):
            return None
        return self._evaluate(_resolved(node))


def _conjuncts(node: Any) -> Iterator[Any]:
    if isinstance(node, nodes().BinaryOp) and node.op == "and":
        yield from _conjuncts(node.left)
        yield from _conjuncts(node.right)
    else:
        yield node


def _resolved(node: Any) -> Any:
    """A constant expression, with the values of names in their place."""
    if isinstance(node, nodes().LetRef):
        return _resolved(node.value)
    if isinstance(node, tuple):
        return tuple(_resolved(each) for each in node)
    if not is_node(node):
        return node
    return dataclasses.replace(
        node, **{field.name: _resolved(getattr(node, field.name)) for field in dataclasses.fields(node)}
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
    if op.removeprefix("!") in WORDS:
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
