"""Binding of a predicate to the columns of a table.

Binding finds each column, checks that its type supports the comparison, and converts the values to that type, exactly.
In the result only leaves are negated, so that pruning and evaluation need not handle negated trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from typing import Final

import pyarrow as pa

from amudai.arguments import shown
from amudai.arrow import child_type, value_type
from amudai.errors import InvalidArgument, MissingColumn
from amudai.predicate.bound import LISTS, Bound, BoundAlways, BoundAnd, BoundLeaf, BoundOr
from amudai.predicate.comparison import can_be_text, comparison, is_text
from amudai.predicate.plain_values import plain_value
from amudai.predicate.regex import require_regex
from amudai.predicate.schema import TableSchema
from amudai.predicate.tree import (
    Always,
    And,
    Compare,
    CompareOp,
    Interval,
    IsIn,
    IsNull,
    IsValid,
    Leaf,
    Matches,
    Not,
    Or,
    Predicate,
    Text,
    Value,
)
from amudai.types import BasicType, NodePath, SchemaNode, quote_name

__all__ = ["bind"]

_OPPOSITE: Final[dict[CompareOp, CompareOp]] = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
}


def bind(predicate: Predicate, schema: TableSchema) -> Bound:
    """The predicate, bound to the columns of this schema. Only its leaves are negated."""
    if not isinstance(predicate, Predicate):
        raise InvalidArgument(f"where: expected a predicate, found {shown(predicate)}")
    return _Binder(schema).bind(predicate, False)


class _Binder:
    def __init__(self, schema: TableSchema) -> None:
        self._schema = schema
        self._leaves = 0

    def bind(self, predicate: Predicate, negated: bool) -> Bound:
        match predicate:
            case And(terms):
                return _joined(tuple(self.bind(term, negated) for term in terms), all_of=not negated)
            case Or(terms):
                return _joined(tuple(self.bind(term, negated) for term in terms), all_of=negated)
            case Not(term):
                return self.bind(term, not negated)
            case Always(value):
                return BoundAlways(value is not negated)
            case Compare() | IsIn() | IsNull() | IsValid() | Text() | Matches():
                return self._leaf(predicate, negated)
        raise InvalidArgument(f"where: expected a predicate, found {shown(predicate)}")

    def _leaf(self, leaf: Leaf, negated: bool) -> Bound:
        self._leaves += 1
        name = str(self._leaves)
        nodes = self._find(leaf.path)
        if isinstance(leaf, IsNull | IsValid):
            return self._null(name, leaf, negated, nodes)
        while nodes[-1].basic_type in (BasicType.LIST, BasicType.FIXED_SIZE_LIST):
            nodes = (*nodes, nodes[-1].children[0])
        kinds = self._types(nodes)
        kind = kinds[-1]
        target = _Target(name, leaf.path, nodes, kinds)
        if pa.types.is_null(kind):
            return target.unknown(negated)
        match leaf:
            case Compare(_, op, value):
                return target.compare(op, value, negated)
            case IsIn(path, values):
                converted = [comparison("==", value, kind, path) for value in values]
                scalars = tuple(each[1] for each in converted if not isinstance(each, bool))
                kept = tuple(each for each, of in zip(values, converted, strict=True) if not isinstance(of, bool))
                if not kept:
                    return target.nothing(negated)
                return BoundLeaf(name, IsIn(path, kept), negated, nodes, kind, scalars)
            case Text(path, "equals", text, True) if is_text(kind):
                _require_text(path, kind, "equals", text)
                return target.compare("==", text, negated)
            case Text(path, op, text, _):
                _require_text(path, kind, op, text)
                if not text and op != "equals":
                    return target.everything(negated)
            case Matches(path, pattern):
                _require_text(path, kind, "matches", pattern)
                require_regex(f"column {path!r}", pattern)
        return BoundLeaf(name, leaf, negated, nodes, kind)

    def _null(self, name: str, leaf: IsNull | IsValid, negated: bool, nodes: NodePath) -> Bound:
        bound = BoundLeaf(name, leaf, negated, nodes, self._types(nodes)[-1])
        if negated and not bound.lists:
            other = IsValid(leaf.path) if isinstance(leaf, IsNull) else IsNull(leaf.path)
            return BoundLeaf(name, other, False, nodes, bound.type)
        return bound

    def _types(self, nodes: NodePath) -> tuple[pa.DataType, ...]:
        """The Arrow types of the values of each node."""
        kinds = [self._schema.field(nodes[0]).type]
        for parent, child in pairwise(nodes):
            kind = child_type(parent, child, kinds[-1])
            if kind is None:
                raise MissingColumn(f"column {_path(nodes)!r}: expected it in the schema, found a schema without it")
            kinds.append(kind)
        return tuple(kinds)

    def _find(self, path: str) -> NodePath:
        try:
            return self._schema.find(path)
        except MissingColumn as error:
            near = get_close_matches(path, self._names(), 3) or _same_but_for_case(path, self._names())
            if not near or error.near:
                raise
            raise MissingColumn(error.message, near=near, **error.place) from None

    def _names(self) -> list[str]:
        return [name for node in self._schema.visible() for name in _paths(node, quote_name(node.name))]


@dataclass(frozen=True, slots=True)
class _Target:
    """The column of a leaf, and the bound leaf for answers that are the same for all values."""

    name: str
    path: str
    nodes: NodePath
    kinds: tuple[pa.DataType, ...]

    @property
    def kind(self) -> pa.DataType:
        """The type of the values."""
        return self.kinds[-1]

    def compare(self, op: CompareOp, value: Value, negated: bool) -> Bound:
        """A comparison. Without lists its negation is the opposite comparison, except for floats: NaN fails both."""
        found = comparison(op, value, self.kind, self.path)
        if isinstance(found, bool):
            return self.everything(negated) if found else self.nothing(negated)
        # Show the value that the user wrote, unless the operator had to change.
        leaf = Compare(self.path, found[0], value if found[0] == op else plain_value(found[1]))
        scalar = found[1]
        bound = BoundLeaf(self.name, leaf, negated, self.nodes, self.kind, (scalar,))
        plain = leaf.op in ("==", "!=") or not pa.types.is_floating(value_type(self.kind))
        if negated and plain and not bound.lists:
            opposite = Compare(self.path, _OPPOSITE[leaf.op], leaf.value)
            return BoundLeaf(self.name, opposite, False, self.nodes, self.kind, (scalar,))
        return bound

    def everything(self, negated: bool) -> Bound:
        """A leaf that is true for every value: for the items, if the path leads to a list."""
        bound = BoundLeaf(self.name, IsValid(_path(self.nodes)), negated, self.nodes, self.kind)
        return BoundAlways(False) if negated and not bound.lists else bound

    def nothing(self, negated: bool) -> Bound:
        """A leaf that is false for every value. Its negation is true for rows with a value, or with a list."""
        if not negated:
            return BoundAlways(False)
        first = next((at for at, node in enumerate(self.nodes[:-1]) if node.basic_type in LISTS), None)
        if first is None:
            return BoundLeaf(self.name, IsValid(self.path), False, self.nodes, self.kind)
        nodes = self.nodes[: first + 1]
        return BoundLeaf(self.name, IsValid(_path(nodes)), False, nodes, self.kinds[first])

    def unknown(self, negated: bool) -> Bound:
        """A leaf about a column that has only nulls: it is neither true nor false."""
        bound = BoundLeaf(self.name, IsValid(self.path), negated, self.nodes, self.kind)
        return self.nothing(negated) if bound.lists else BoundAlways(False)


def _joined(terms: tuple[Bound, ...], *, all_of: bool) -> Bound:
    """The terms joined by `and` or `or`, without constants, and with nested trees of the same kind flattened."""
    kind = BoundAnd if all_of else BoundOr
    found: list[Bound] = []
    for term in terms:
        if isinstance(term, BoundAlways):
            if term.value is not all_of:
                return term
        elif isinstance(term, kind):
            found += term.terms
        else:
            found.append(term)
    if not found:
        return BoundAlways(all_of)
    if all_of:
        found = _with_intervals(found)
    return found[0] if len(found) == 1 else kind(tuple(found))


def _with_intervals(terms: list[Bound]) -> list[Bound]:
    """The terms, with a lower and an upper bound of the same column joined to one interval."""
    found: list[Bound] = []
    open_ends: dict[tuple[bool, tuple[int, ...]], int] = {}
    for term in terms:
        if isinstance(term, BoundLeaf) and isinstance(term.leaf, Compare) and not (term.negated or term.lists):
            path = tuple(node.schema_id for node in term.nodes)
            is_low = term.leaf.op in (">", ">=")
            if is_low or term.leaf.op in ("<", "<="):
                other = open_ends.pop((not is_low, path), None)
                if other is not None:
                    found[other] = _interval(found[other], term)
                    continue
                open_ends[is_low, path] = len(found)
        found.append(term)
    return found


def _interval(one: Bound, other: Bound) -> BoundLeaf:
    assert isinstance(one, BoundLeaf)
    assert isinstance(other, BoundLeaf)
    low, high = (one, other) if isinstance(one.leaf, Compare) and one.leaf.op in (">", ">=") else (other, one)
    assert isinstance(low.leaf, Compare)
    assert isinstance(high.leaf, Compare)
    both = Interval(one.leaf.path, low.leaf, high.leaf)
    return BoundLeaf(f"{one.name}+{other.name}", both, False, one.nodes, one.type, (low.scalars[0], high.scalars[0]))


def _require_text(path: str, kind: pa.DataType, op: str, text: str) -> None:
    if not can_be_text(kind):
        raise InvalidArgument(f"column {path!r} of type {kind}: expected text for {op}")
    try:
        text.encode()
    except UnicodeEncodeError:
        found = f"expected a text that can be written as UTF-8, found {text!r}"
        raise InvalidArgument(f"column {path!r}: {op}: {found}") from None


def _paths(node: SchemaNode, path: str) -> Iterator[str]:
    """The paths of a field and of all members of its structs, as a user writes them."""
    yield path
    inner = node
    while inner.basic_type in (BasicType.LIST, BasicType.FIXED_SIZE_LIST):
        inner = inner.children[0]
    if inner.basic_type is BasicType.STRUCT:
        for child in inner.children:
            yield from _paths(child, f"{path}.{quote_name(child.name)}")


def _path(nodes: NodePath) -> str:
    return ".".join(quote_name(node.name) or "item" for node in nodes)


def _same_but_for_case(path: str, names: list[str]) -> list[str]:
    return [name for name in names if name.casefold() == path.casefold()][:3]
