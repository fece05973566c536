"""Does a predicate make sense for this shard, and what must be true of its columns?

Binding finds each column, checks that its type can be compared so, and writes values in that type, exactly. In the
result negations stand at the leaves alone, so that whoever prunes or evaluates sees what must be true.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from amudai.arrow import ArrowFields, child_type
from amudai.errors import InvalidArgument, MissingColumn, UnsupportedFeature
from amudai.scan.columns import find
from amudai.scan.predicate.column import plain_value
from amudai.scan.predicate.tree import (
    And,
    Compare,
    CompareOp,
    Constant,
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
)
from amudai.scan.predicate.values import comparison, is_text, value_type
from amudai.shard import ShardReader
from amudai.types import BasicType, SchemaNode, quote_name

__all__ = ["LISTS", "Bound", "BoundAnd", "BoundConstant", "BoundLeaf", "BoundOr", "bind"]

Path: TypeAlias = tuple[SchemaNode, ...]

LISTS: Final = (BasicType.LIST, BasicType.FIXED_SIZE_LIST, BasicType.MAP)
_OPPOSITE: Final[dict[CompareOp, CompareOp]] = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
}


@dataclass(frozen=True, slots=True)
class BoundLeaf:
    """A question about one column, with what it is asked of.

    It is true for a row whose value makes `leaf` true or, where it is `negated`, false: a null does neither. A path
    through a list asks about all items of a row: `leaf` is true where any of them makes it true and false where none
    does; only a list that is null itself leaves it open.

    Attributes
    ----------
    leaf
        The question; comparisons are those that the column's type can hold.
    nodes
        From the top-level field down to the values, items of lists included.
    type
        The Arrow type of the values at the end of the path.
    scalars
        The values of a comparison or `isin`, of the type behind dictionaries, runs and extensions.
    """

    leaf: Leaf
    negated: bool
    nodes: tuple[SchemaNode, ...]
    type: pa.DataType
    scalars: tuple[pa.Scalar, ...] = ()

    @property
    def lists(self) -> bool:
        """Whether the path leads through a list, so that a row may have many values or none."""
        return any(node.basic_type in LISTS for node in self.nodes[:-1])

    def __str__(self) -> str:
        shown = f"({self.leaf})" if self.negated and isinstance(self.leaf, Compare) else str(self.leaf)
        return f"~{shown}" if self.negated else shown


@dataclass(frozen=True, slots=True)
class BoundAnd:
    """All of two or more terms."""

    terms: tuple[Bound, ...]

    def __str__(self) -> str:
        return " & ".join(f"({term})" if _joins(term) else str(term) for term in self.terms)


@dataclass(frozen=True, slots=True)
class BoundOr:
    """Any of two or more terms."""

    terms: tuple[Bound, ...]

    def __str__(self) -> str:
        return " | ".join(f"({term})" if _joins(term) else str(term) for term in self.terms)


@dataclass(frozen=True, slots=True)
class BoundConstant:
    """All rows, or none."""

    value: bool

    def __str__(self) -> str:
        return str(self.value)


Bound: TypeAlias = BoundLeaf | BoundAnd | BoundOr | BoundConstant


def _joins(bound: Bound) -> bool:
    compares = isinstance(bound, BoundLeaf) and isinstance(bound.leaf, Compare) and not bound.negated
    return compares or isinstance(bound, BoundAnd | BoundOr)


def bind(predicate: Predicate, reader: ShardReader, fields: ArrowFields) -> Bound:
    """The predicate for the columns of this shard, without negations but at its leaves."""
    if not isinstance(predicate, Predicate):
        raise InvalidArgument(f"where: expected a predicate, found {predicate!r}")
    return _Binder(reader, fields).bind(predicate, False)


class _Binder:
    def __init__(self, reader: ShardReader, fields: ArrowFields) -> None:
        self._reader = reader
        self._fields = fields

    def bind(self, predicate: Predicate, negated: bool) -> Bound:
        match predicate:
            case And(terms):
                return _joined(tuple(self.bind(term, negated) for term in terms), all_of=not negated)
            case Or(terms):
                return _joined(tuple(self.bind(term, negated) for term in terms), all_of=negated)
            case Not(term):
                return self.bind(term, not negated)
            case Constant(value):
                return BoundConstant(value is not negated)
            case Compare() | IsIn() | IsNull() | IsValid() | Text() | Matches():
                return self._leaf(predicate, negated)
        raise InvalidArgument(f"where: expected a predicate, found {predicate!r}")

    def _leaf(self, leaf: Leaf, negated: bool) -> Bound:
        nodes = self._find(leaf.path)
        for node in nodes[:-1]:
            if node.basic_type is BasicType.UNION:
                raise UnsupportedFeature(f"column {leaf.path!r}: expected no union on the way to it, found one")
        if isinstance(leaf, IsNull | IsValid):
            return self._null(leaf, negated, nodes)
        while nodes[-1].basic_type in (BasicType.LIST, BasicType.FIXED_SIZE_LIST):
            nodes = (*nodes, nodes[-1].children[0])
        kinds = self._types(nodes)
        kind = kinds[-1]
        target = _Target(leaf.path, nodes, kinds)
        if pa.types.is_null(kind):
            return target.unknown(negated)
        match leaf:
            case Compare(path, op, value):
                found = comparison(op, value, kind, path)
                if isinstance(found, bool):
                    return target.everything(negated) if found else target.nothing(negated)
                # The user's own value is shown as long as the question is the user's.
                shown = value if found[0] == op else plain_value(found[1])
                return target.compare(Compare(path, found[0], shown), found[1], negated)
            case IsIn(path, values):
                converted = [comparison("==", value, kind, path) for value in values]
                scalars = tuple(each[1] for each in converted if not isinstance(each, bool))
                kept = tuple(each for each, of in zip(values, converted, strict=True) if not isinstance(of, bool))
                if not kept:
                    return target.nothing(negated)
                return BoundLeaf(IsIn(path, kept), negated, nodes, kind, scalars)
            case Text(path, op, text, _):
                _require_text(path, kind, op, text)
                if not text and op != "equals":
                    return target.everything(negated)
            case Matches(path, pattern):
                _require_text(path, kind, "matches", pattern)
                _require_pattern(path, pattern)
        return BoundLeaf(leaf, negated, nodes, kind)

    def _null(self, leaf: IsNull | IsValid, negated: bool, nodes: Path) -> Bound:
        if nodes[-1].basic_type is BasicType.UNION:
            raise UnsupportedFeature(f"column {leaf.path!r}: expected a type with nulls of its own, found a union")
        bound = BoundLeaf(leaf, negated, nodes, self._types(nodes)[-1])
        if negated and not bound.lists:
            other = IsValid(leaf.path) if isinstance(leaf, IsNull) else IsNull(leaf.path)
            return BoundLeaf(other, False, nodes, bound.type)
        return bound

    def _types(self, nodes: Path) -> tuple[pa.DataType, ...]:
        """The Arrow types of the values of each node."""
        kinds = [self._fields.field(nodes[0]).type]
        for parent, child in pairwise(nodes):
            kind = child_type(parent, child, kinds[-1])
            if kind is None:
                raise MissingColumn(f"column {_path(nodes)!r}: expected it in the schema, found it left out")
            kinds.append(kind)
        return tuple(kinds)

    def _find(self, path: str) -> Path:
        try:
            return find(self._reader, path)
        except MissingColumn as error:
            near = get_close_matches(path, self._names(), 3) or _same_but_for_case(path, self._names())
            if not near or error.near:
                raise
            raise MissingColumn(error.message, near=near, **error.place) from None

    def _names(self) -> list[str]:
        return [name for node in self._fields.visible() for name in _paths(node, quote_name(node.name))]


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a leaf is asked: what becomes of it when its answer is known for every value."""

    path: str
    nodes: Path
    kinds: tuple[pa.DataType, ...]

    @property
    def kind(self) -> pa.DataType:
        """The type of the values."""
        return self.kinds[-1]

    def compare(self, leaf: Compare, scalar: pa.Scalar, negated: bool) -> Bound:
        """A comparison. Where each row has one value, the negation is the opposite; but a NaN is not even less."""
        bound = BoundLeaf(leaf, negated, self.nodes, self.kind, (scalar,))
        plain = leaf.op in ("==", "!=") or not pa.types.is_floating(value_type(self.kind))
        if negated and plain and not bound.lists:
            opposite = Compare(self.path, _OPPOSITE[leaf.op], leaf.value)
            return BoundLeaf(opposite, False, self.nodes, self.kind, (scalar,))
        return bound

    def everything(self, negated: bool) -> Bound:
        """True for every value: asked of the items where the path names a list."""
        bound = BoundLeaf(IsValid(_path(self.nodes)), negated, self.nodes, self.kind)
        return BoundConstant(False) if negated and not bound.lists else bound

    def nothing(self, negated: bool) -> Bound:
        """False for every value: its negation is true where there is one, or where there is a list of them."""
        if not negated:
            return BoundConstant(False)
        first = next((at for at, node in enumerate(self.nodes[:-1]) if node.basic_type in LISTS), None)
        if first is None:
            return BoundLeaf(IsValid(self.path), False, self.nodes, self.kind)
        nodes = self.nodes[: first + 1]
        return BoundLeaf(IsValid(_path(nodes)), False, nodes, self.kinds[first])

    def unknown(self, negated: bool) -> Bound:
        """Nothing is known, for there are only nulls."""
        bound = BoundLeaf(IsValid(self.path), negated, self.nodes, self.kind)
        return self.nothing(negated) if bound.lists else BoundConstant(False)


def _joined(terms: tuple[Bound, ...], *, all_of: bool) -> Bound:
    """All or any of the terms, without constants and without a tree of the same kind inside."""
    kind = BoundAnd if all_of else BoundOr
    found: list[Bound] = []
    for term in terms:
        if isinstance(term, BoundConstant):
            if term.value is not all_of:
                return term
        elif isinstance(term, kind):
            found += term.terms
        else:
            found.append(term)
    if not found:
        return BoundConstant(all_of)
    if all_of:
        found = _with_intervals(found)
    return found[0] if len(found) == 1 else kind(tuple(found))


def _with_intervals(terms: list[Bound]) -> list[Bound]:
    """The terms, with one for the two ends of a column's range where there were two."""
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
    return BoundLeaf(both, False, one.nodes, one.type, (low.scalars[0], high.scalars[0]))


def _require_text(path: str, kind: pa.DataType, op: str, text: str) -> None:
    if not is_text(kind):
        raise InvalidArgument(f"column {path!r} of type {kind}: expected text for {op}, found none")
    try:
        text.encode()
    except UnicodeEncodeError:
        found = f"expected a text that can be written as UTF-8, found {text!r}"
        raise InvalidArgument(f"column {path!r}: {op}: {found}") from None


def _require_pattern(path: str, pattern: str) -> None:
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
    except pa.ArrowInvalid as error:
        reason = str(error).splitlines()[0]
        raise InvalidArgument(f"column {path!r}: expected a regular expression, found {pattern!r}: {reason}") from None


def _paths(node: SchemaNode, path: str) -> Iterator[str]:
    """A field and what lies in its structs, as a user names them."""
    yield path
    inner = node
    while inner.basic_type in (BasicType.LIST, BasicType.FIXED_SIZE_LIST):
        inner = inner.children[0]
    if inner.basic_type is BasicType.STRUCT:
        for child in inner.children:
            yield from _paths(child, f"{path}.{quote_name(child.name)}")


def _path(nodes: Path) -> str:
    return ".".join(quote_name(node.name) or "item" for node in nodes)


def _same_but_for_case(path: str, names: list[str]) -> list[str]:
    return [name for name in names if name.casefold() == path.casefold()][:3]
