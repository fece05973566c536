"""Expressions of pyarrow as predicates.

Pyarrow has no visitor for expressions, but it can pickle them. The pickled form is an Arrow file: the metadata of its
schema spells the tree, and its columns hold the literals and the options of functions, each in its own type.

`Expression.to_substrait` would be a documented form, but it does not say enough (pyarrow 26):

- `is_in` loses `null_matching_behavior`: it becomes an `or` of equalities, and its negation returns other rows.
- `match_substring_regex` has no form in Substrait.
- The expression is bound to a whole schema first. A column of a duration, a UUID or a decimal of 256 bits in that
  schema is an error, even if the expression does not name it.
- Binding casts columns and literals to a common type, as in `n < 5.5` for integers, and Substrait refuses these casts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NoReturn, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from amudai.arguments import shown
from amudai.errors import AmudaiError, CorruptedData, InvalidArgument, UnsupportedFeature
from amudai.format import FlatTable
from amudai.predicate.plain_values import plain_value
from amudai.predicate.regex import quoted
from amudai.predicate.tree import (
    Always,
    Compare,
    CompareOp,
    IsIn,
    IsNull,
    IsValid,
    Matches,
    Predicate,
    Text,
    Value,
    all_of,
    any_of,
)
from amudai.types import parse_path, quote_name

__all__ = ["expression_columns", "from_conjunction", "from_expression"]

_COMPARE: Final[dict[str, tuple[CompareOp, CompareOp]]] = {  # the operator, and the operator with its sides swapped
    "equal": ("==", "=="),
    "not_equal": ("!=", "!="),
    "less": ("<", ">"),
    "less_equal": ("<=", ">="),
    "greater": (">", "<"),
    "greater_equal": (">=", "<="),
}
# The numbers of pyarrow's `null_matching_behavior`.
_MATCH, _SKIP, _EMIT_NULL, _INCONCLUSIVE = range(4)


class _ColumnPath(str):
    """The path of a column."""


class _Call:
    """A function with its arguments and options."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.arguments: list[_ExpressionNode] = []
        self.options: dict[str, Any] = {}
        self.types: pa.DataType | None = None

    def set_options(self, column: pa.StructArray) -> None:
        """The options, which are the members of a struct."""
        self.options = {field.name: column.field(at)[0] for at, field in enumerate(column.type)}
        self.types = column.type


_ExpressionNode: TypeAlias = _ColumnPath | _Call | pa.Scalar


def from_expression(expression: pc.Expression) -> Predicate:
    """The predicate that is equivalent to an expression of pyarrow.

    Examples
    --------
    >>> import pyarrow.compute as pc
    >>> from_expression((pc.field("status") >= 500) & pc.field("http", "path").is_valid())
    (col("status") >= 500) & col("http.path").is_valid()
    """
    if not isinstance(expression, pc.Expression):
        raise InvalidArgument(f"where: expected an expression of pyarrow, found {shown(expression)}")
    return _predicate(_tree(expression))


# ---- the tree ----


def _tree(expression: pc.Expression) -> _ExpressionNode:
    try:
        _, (buffer,) = expression.__reduce__()
    except pa.ArrowNotImplementedError as error:
        raise UnsupportedFeature(f"expression {expression}: expected columns by their names, found: {error}") from None
    with pa.ipc.open_file(buffer) as file:
        batch = file.get_batch(0)
    entries = _entries(memoryview(buffer))
    node = _node(entries, batch)
    if next(entries, None) is not None:
        raise UnsupportedFeature(f"expression {expression}: expected one tree in its pickled form, found more")
    return node


def _entries(file: memoryview) -> Iterator[tuple[str, str]]:
    """The keys and values of the schema's metadata, in order. Keys repeat. The schema is the first message."""
    try:
        size = int.from_bytes(file[12:16], "little")
        header = FlatTable.root(file[16 : 16 + size]).table(2)
        pairs = header.tables(2) if header is not None else None
        if bytes(file[:6]) != b"ARROW1" or bytes(file[8:12]) != b"\xff" * 4 or pairs is None:
            raise UnsupportedFeature("expression: expected its pickled form to be an Arrow file, found something else")
        message = file[16 : 16 + size]
        for at in range(len(pairs)):
            key, value = pairs[at].text(0) or (0, 0), pairs[at].text(1) or (0, 0)
            yield bytes(message[slice(*key)]).decode(), bytes(message[slice(*value)]).decode()
    except CorruptedData as error:
        raise UnsupportedFeature(f"expression: expected its pickled form to be an Arrow file, found {error}") from error


def _node(entries: Iterator[tuple[str, str]], batch: pa.RecordBatch) -> _ExpressionNode:
    """The tree that the first entries spell. It may be deep: a chain of conditions is a level for each of them."""
    calls: list[_Call] = []  # those that have not ended, the innermost last
    for entry in entries:
        match entry:
            case ("call", name):
                calls.append(_Call(name))
                continue
            case ("options", column) if calls:
                calls[-1].set_options(batch.column(int(column)))
                continue
            case ("end", _) if calls:
                node: _ExpressionNode = calls.pop()
            case ("field_ref", name):
                node = _ColumnPath(quote_name(name))
            case ("nested_field_ref", count):
                node = _ColumnPath(".".join(quote_name(next(entries)[1]) for _ in range(int(count))))
            case ("literal", column):
                node = batch.column(int(column))[0]
            case _:
                raise UnsupportedFeature(f"expression: expected a column, a literal or a function, found {entry}")
        if not calls:
            return node
        calls[-1].arguments.append(node)
    raise UnsupportedFeature("expression: expected a whole tree in its pickled form, found a part")


# ---- its meaning ----


def _predicate(node: _ExpressionNode) -> Predicate:
    """The meaning of a tree, without recursion: chains of conditions may be long."""
    found: list[Predicate] = []
    waiting: list[tuple[_ExpressionNode, int]] = [(node, 0)]  # with the number of operands that are translated already
    while waiting:
        each, count = waiting.pop()
        if count:
            assert isinstance(each, _Call)
            operands = found[-count:]
            found[-count:] = [_JOINS[each.name](operands)]
        elif isinstance(each, _Call) and each.name in _JOINS:
            below = _operands(each)
            waiting += [(each, len(below)), *((operand, 0) for operand in reversed(below))]
        else:
            found.append(_condition(each))
    return found[0]


def _operands(call: _Call) -> list[_ExpressionNode]:
    """The operands of a chain of conditions that are joined by the same function."""
    if call.name == "invert":
        return call.arguments
    found: list[_ExpressionNode] = []
    waiting: list[_ExpressionNode] = [call]
    while waiting:
        each = waiting.pop()
        if isinstance(each, _Call) and each.name == call.name:
            waiting += reversed(each.arguments)
        else:
            found.append(each)
    return found


def _condition(node: _ExpressionNode) -> Predicate:
    if isinstance(node, _ColumnPath):
        return Compare(node, "==", True)
    if isinstance(node, pa.Scalar):
        if not pa.types.is_boolean(node.type) or not node.is_valid:
            raise UnsupportedFeature(f"expression: expected a condition, found the literal {node}")
        return Always(node.as_py())
    if node.name in _COMPARE:
        return _comparison(node)
    translate = _FUNCTIONS.get(node.name)
    if translate is None:
        _unsupported(node)
    return translate(node)


def _comparison(call: _Call) -> Predicate:
    left, right = (_folded(each) for each in call.arguments)
    straight, turned = _COMPARE[call.name]
    if isinstance(left, _ColumnPath) and isinstance(right, pa.Scalar):
        return Compare(left, straight, _value(call, right))
    if isinstance(right, _ColumnPath) and isinstance(left, pa.Scalar):
        return Compare(right, turned, _value(call, left))
    raise UnsupportedFeature(f"expression: {call.name}: expected a column and a literal, found other arguments")


def _is_in(call: _Call) -> Predicate:
    """`isin`, with separate leaves for nulls.

    pyarrow's `is_in` can count null as a member, or as not a member. Our `isin` is neither true nor false for a null.
    """
    path = _path(call)
    found = call.options["value_set"].values
    behaviour = _option(call, "null_matching_behavior")
    values = tuple(_value(call, each) for each in found if each.is_valid)
    if any(value != value for value in values if isinstance(value, float)):
        raise UnsupportedFeature("expression: is_in: expected numbers, found NaN, which equals no number here")
    asked = IsIn(path, values)
    if behaviour == _EMIT_NULL or (behaviour == _INCONCLUSIVE and not found.null_count):
        return asked
    if behaviour == _MATCH and found.null_count:
        return asked | IsNull(path)
    if behaviour in (_MATCH, _SKIP):
        return IsValid(path) & asked
    raise UnsupportedFeature(
        "expression: is_in: expected no null among the values, found one, which makes every other row inconclusive"
    )


def _if_else(call: _Call) -> Predicate:
    """`if_else(is_valid(x), is_in(x, values), null)`, as DuckDB writes SQL's IN. Our `isin` is null for nulls, too."""
    test, inner, other = call.arguments
    if not isinstance(test, _Call) or not isinstance(inner, _Call) or not isinstance(other, pa.Scalar):
        _unsupported(call)
    if (test.name, inner.name) != ("is_valid", "is_in") or other.is_valid or _path(test) != _path(inner):
        _unsupported(call)
    if inner.options["value_set"].values.null_count:
        _unsupported(call)
    inner.options["null_matching_behavior"] = pa.scalar(_EMIT_NULL)
    return _is_in(inner)


def _is_null(call: _Call) -> Predicate:
    if _option(call, "nan_is_null"):
        raise UnsupportedFeature("expression: is_null: expected nan_is_null=False, found True")
    return IsNull(_path(call))


def _is_valid(call: _Call) -> Predicate:
    return IsValid(_path(call))


def _text(call: _Call) -> Predicate:
    path, pattern = _path(call), _option(call, "pattern")
    begin, op, end = _TEXT[call.name]
    if _option(call, "ignore_case"):
        # A regular expression, as in pyarrow: RE2 folds some letters that our operators do not.
        return Matches(path, f"(?i){begin}{quoted(pattern)}{end}")
    return Text(path, op, pattern, True)


def _regex(call: _Call) -> Predicate:
    path, pattern = _path(call), _option(call, "pattern")
    return Matches(path, f"(?i){pattern}" if _option(call, "ignore_case") else pattern)


_TEXT: Final[dict[str, tuple[str, Any, str]]] = {
    "starts_with": (r"\A", "startswith", ""),
    "ends_with": ("", "endswith", r"\z"),
    "match_substring": ("", "contains", ""),
}
_JOINS: Final[dict[str, Callable[[Sequence[Predicate]], Predicate]]] = {
    "and_kleene": all_of,
    "or_kleene": any_of,
    "invert": lambda terms: ~terms[0],
}
_FUNCTIONS: Final[dict[str, Callable[[_Call], Predicate]]] = {
    "if_else": _if_else,
    "is_in": _is_in,
    "is_null": _is_null,
    "is_valid": _is_valid,
    "starts_with": _text,
    "ends_with": _text,
    "match_substring": _text,
    "match_substring_regex": _regex,
}


def _option(call: _Call, name: str) -> Any:
    """An option of a function; None if pyarrow left out all options because they have their defaults."""
    return call.options[name].as_py() if call.options else None


def _path(call: _Call) -> str:
    node = call.arguments[0]
    if not isinstance(node, _ColumnPath):
        raise UnsupportedFeature(f"expression: {call.name}: expected a column, found an expression")
    return str(node)


def _folded(node: _ExpressionNode) -> _ExpressionNode:
    """The node, with a cast of a literal replaced by a literal of the other type."""
    casts: list[_Call] = []
    while isinstance(node, _Call):
        if node.name != "cast":
            _unsupported(node)
        casts.append(node)
        node = node.arguments[0]
    for cast in reversed(casts):
        if not isinstance(node, pa.Scalar) or cast.types is None:
            raise UnsupportedFeature("expression: cast: expected a literal, found a column")
        node = node.cast(cast.types.field("to_type").type)
    return node


def _value(call: _Call, scalar: pa.Scalar) -> Value:
    if not scalar.is_valid:
        raise UnsupportedFeature(f"expression: {call.name}: expected a value, found a null: use is_null")
    value: Value = plain_value(scalar)
    return value


def _unsupported(call: _Call) -> NoReturn:
    known = ", ".join([*_COMPARE, *_JOINS, *_FUNCTIONS])
    raise UnsupportedFeature(f"expression: expected functions among {known}, found {call.name}")


# ---- parts of an expression ----


def from_conjunction(expression: pc.Expression, type_of: Callable[[str], pa.DataType | None]) -> tuple[Predicate, bool]:
    """A predicate that is true wherever an expression is, and whether it is false or null everywhere else.

    It has the conditions that are joined by `and` and that mean the same to pyarrow and to a scan. Comparisons of
    different kinds of values are left out, because pyarrow converts them as a scan does not.

    Parameters
    ----------
    type_of
        The type of the column at a path; None if there is no such column.

    Examples
    --------
    >>> n, types = pc.field("n"), {"n": pa.int64()}
    >>> from_conjunction((n > 5) & (n + 1 < 9), types.get)
    (col("n") > 5, False)
    >>> from_conjunction(n > 5.5, types.get)
    (Always(True), False)
    """
    try:
        node = _tree(expression)
    except UnsupportedFeature:
        return Always(True), False
    terms = _operands(node) if isinstance(node, _Call) and node.name == "and_kleene" else [node]
    kept: list[Predicate] = []
    for term in terms:
        try:
            if all(_same_kind(type_of(path), kind) for path, kind in _compared(term)):
                kept.append(_predicate(term))
        except AmudaiError:
            continue
    found = Always(True) if not kept else kept[0] if len(kept) == 1 else all_of(kept)
    return found, len(kept) == len(terms)


def expression_columns(expression: pc.Expression) -> set[str] | None:
    """The names of the top-level columns that an expression uses; None if it cannot be read."""
    try:
        waiting: list[_ExpressionNode] = [_tree(expression)]
    except UnsupportedFeature:
        return None
    found = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, _ColumnPath):
            found.add(parse_path(node)[0])
        elif isinstance(node, _Call):
            waiting += node.arguments
    return found


def _compared(node: _ExpressionNode) -> Iterator[tuple[str, pa.DataType]]:
    """The columns of comparisons in a tree, each with the type that it is compared with."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, _ColumnPath):
            yield each, pa.bool_()
        if not isinstance(each, _Call):
            continue
        if each.name in _COMPARE:
            left, right = (_folded(argument) for argument in each.arguments)
            if isinstance(left, _ColumnPath) and isinstance(right, pa.Scalar):
                yield left, right.type
            elif isinstance(right, _ColumnPath) and isinstance(left, pa.Scalar):
                yield right, left.type
        elif each.name == "is_in":
            yield _path(each), each.options["value_set"].values.type
        elif each.name in _JOINS or each.name == "if_else":
            waiting += each.arguments
        elif each.name in _TEXT or each.name == "match_substring_regex":
            yield _path(each), pa.string()


def _same_kind(column: pa.DataType | None, literal: pa.DataType) -> bool:
    return column is not None and _kind(column) == _kind(literal)


def _kind(kind: pa.DataType) -> str:
    """Types of one kind are compared alike by pyarrow and by a scan."""
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind):
        return "integer"
    if types.is_floating(kind):
        return "float16" if types.is_float16(kind) else "float"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        return "binary"
    if types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "instant"
    return str(kind)
