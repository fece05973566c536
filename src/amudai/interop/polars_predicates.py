"""Predicates of polars as predicates of ours, which are true for at least the same rows."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any, Final

import pyarrow as pa

from amudai.errors import AmudaiError
from amudai.interop.comparisons import TURNED, Operator, compared, same_kind
from amudai.predicate import Predicate, all_of, any_of, col, is_text
from amudai.types import parse_path, quote_name

__all__ = ["MARK", "from_polars"]

# What the operators of ours put beside their column, so that they are found in a predicate: their name and their words.
MARK: Final = "amudai:"
_COMPARE: Final[dict[str, Operator]] = {"Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtEq": "le", "Gt": "gt", "GtEq": "ge"}
_UNITS: Final = {"Nanoseconds": "ns", "Microseconds": "us", "Milliseconds": "ms"}


class _Unknown(Exception):
    """A part of a predicate that is not understood."""


def from_polars(expression: Any, schema: pa.Schema) -> Predicate | None:
    """A predicate that is true wherever an expression of polars is; None if nothing is known.

    >>> import polars as pl
    >>> schema = pa.schema([("n", pa.int64()), ("s", pa.string())])
    >>> from_polars((pl.col("n") > 5) & (pl.col("s").str.len_chars() > 3), schema)
    col("n") > 5
    """
    try:
        tree = json.loads(expression.meta.serialize(format="json"))
    except Exception:  # the form is not stable: any error of polars or of JSON means that nothing is known
        return None
    return _Reader(schema).superset(tree)


class _Reader:
    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema

    def superset(self, node: Any) -> Predicate | None:
        """A predicate that is true wherever a node is; None if nothing is known."""
        sides = _joined(node)
        if sides is not None:
            op, left, right = sides
            both = [self.superset(left), self.superset(right)]
            known = [term for term in both if term is not None]
            if op == "Or":
                return any_of(known) if len(known) == 2 else None
            return None if not known else known[0] if len(known) == 1 else all_of(known)
        try:
            return self.exact(node)
        except (_Unknown, AmudaiError, KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
            return None

    def exact(self, node: Any) -> Predicate:
        """A predicate that is true, false and null exactly where a node is."""
        sides = _joined(node)
        if sides is not None:
            op, left, right = sides
            return (any_of if op == "Or" else all_of)([self.exact(left), self.exact(right)])
        match node:
            case {"BinaryExpr": dict(value)}:
                return self._comparison(value)
            case {"Function": {"function": function, "input": inputs}}:
                return self._function(function, inputs)
            case {"AnonymousFunction": {"input": inputs}}:
                return self._marked(inputs)
            case {"Column": str(name)} if pa.types.is_boolean(self._type(quote_name(name))):
                return self._compare(quote_name(name), "eq", True)
        raise _Unknown

    def _comparison(self, value: dict[str, Any]) -> Predicate:
        op, left, right = _COMPARE[value["op"]], value["left"], value["right"]
        if "Literal" in left:
            op, left, right = TURNED[op], right, left
        return self._compare(self._path(left), op, _literal(right))

    def _compare(self, path: str, op: Operator, value: Any) -> Predicate:
        found = compared(path, self._type(path), op, value)
        if found is None:
            raise _Unknown
        return found

    def _function(self, function: Any, inputs: list[Any]) -> Predicate:
        match function:
            case {"Boolean": "Not"}:
                return ~self.exact(inputs[0])
            case {"Boolean": "IsNull"}:
                return col(self._path(inputs[0])).is_null()
            case {"Boolean": "IsNotNull"}:
                return col(self._path(inputs[0])).is_valid()
            case {"Boolean": {"IsIn": {"nulls_equal": False}}}:
                return self._is_in(self._path(inputs[0]), _list(inputs[1]))
            case {"Boolean": {"IsBetween": {"closed": closed}}}:
                path = self._path(inputs[0])
                low: Operator = "ge" if closed in ("Both", "Left") else "gt"
                high: Operator = "le" if closed in ("Both", "Right") else "lt"
                if closed not in ("Both", "Left", "Right", "None"):
                    raise _Unknown
                return self._compare(path, low, _literal(inputs[1])) & self._compare(path, high, _literal(inputs[2]))
            case {"StringExpr": operator}:
                return self._text(operator, self._text_path(inputs[0]), inputs[1])
        raise _Unknown

    def _text(self, operator: Any, path: str, argument: Any) -> Predicate:
        match operator:
            case {"Contains": {"literal": bool(literal)}}:
                return col(path).str.contains(_word(argument), literal=literal)
            case "StartsWith":
                return col(path).str.starts_with(_word(argument))
            case "EndsWith":
                return col(path).str.ends_with(_word(argument))
            case {"ContainsAny": {"ascii_case_insensitive": False}}:
                terms = [col(path).contains_cs(word) for word in _list(argument)]
                if not terms:
                    raise _Unknown
                return terms[0] if len(terms) == 1 else any_of(terms)
        raise _Unknown

    def _is_in(self, path: str, values: list[Any]) -> Predicate:
        kind = self._type(path)
        if not values or None in values or not all(same_kind(kind, value) for value in values):
            raise _Unknown
        return col(path).isin(values)

    def _marked(self, inputs: list[Any]) -> Predicate:
        """An operator of ours: a struct of the column and of a literal that says what is asked."""
        struct = inputs[0]["Function"]
        if struct["function"] != "AsStruct":
            raise _Unknown
        column, mark = struct["input"]
        text = _word(mark["Alias"][0])
        if not text.startswith(MARK):
            raise _Unknown
        name, words = json.loads(text.removeprefix(MARK))
        found: Predicate = getattr(col(self._text_path(column)), name)(words)
        return found

    def _path(self, node: Any) -> str:
        if "Column" in node:
            return quote_name(node["Column"])
        function = node["Function"]
        return f"{self._path(function['input'][0])}.{quote_name(function['function']['StructExpr']['FieldByName'])}"

    def _text_path(self, node: Any) -> str:
        path = self._path(node)
        if not is_text(self._type(path)):
            raise _Unknown
        return path

    def _type(self, path: str) -> pa.DataType:
        first, *rest = parse_path(path)
        kind = self._schema.field(first).type
        for step in rest:
            kind = kind.field(step).type
        return kind.value_type if pa.types.is_dictionary(kind) else kind


def _joined(node: Any) -> tuple[str, Any, Any] | None:
    value = node.get("BinaryExpr") if isinstance(node, dict) else None
    if value is None or value["op"] not in ("And", "Or", "LogicalAnd", "LogicalOr"):
        return None
    return value["op"].removeprefix("Logical"), value["left"], value["right"]


def _literal(node: Any) -> Any:
    """The value of a literal, as our predicates take it."""
    match node["Literal"]:
        case {"Dyn": {"Int": value} | {"Float": value}}:
            return value
        case {"Scalar": {"Datetime": [value, unit, zone]}}:
            return pa.scalar(value, pa.timestamp(_UNITS[unit], None if zone is None else zone["inner"]))
        case {"Scalar": {"Date": value}}:
            return dt.date(1970, 1, 1) + dt.timedelta(days=value)
        case {"Scalar": {"String": value} | {"Boolean": value}}:
            return value
        case {"Scalar": {"Float64": value}}:
            return float(value)
        case {"Scalar": value} if isinstance(value, dict) and next(iter(value)).startswith(("Int", "UInt")):
            return int(next(iter(value.values())))
    raise _Unknown


def _word(node: Any) -> str:
    found = _literal(node)
    if not isinstance(found, str):
        raise _Unknown
    return found


def _list(node: Any) -> list[Any]:
    """The values of a list, which is written as an Arrow stream."""
    stored = node["Literal"]["Scalar"]["List"]
    table = pa.ipc.open_stream(pa.py_buffer(bytes(stored))).read_all()
    values = table.column(0).combine_chunks()
    found = values.flatten() if pa.types.is_list(values.type) or pa.types.is_large_list(values.type) else values
    if pa.types.is_timestamp(found.type):
        return [each if each.is_valid else None for each in found]  # all digits, and the zone
    return list(found.to_pylist())
