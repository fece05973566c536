"""The union of the schemas of several shards, by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from amudai.errors import InvalidSchema
from amudai.types import INTEGERS, WIDTHS, BasicType, SchemaNode, quote_name

__all__ = ["MatchedColumn", "matched_columns", "united_nodes"]

_FLOATS: Final = frozenset({BasicType.FLOAT32, BasicType.FLOAT64})
_BY_WIDTH: Final = {WIDTHS[kind]: kind for kind in INTEGERS}
# A float holds every integer of up to this many bytes exactly.
_EXACT: Final = {BasicType.FLOAT32: 2, BasicType.FLOAT64: 4}
# The path of a node from the top: the role of an internal field or nothing, then names.
_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MatchedColumn:
    """A node of the united schema, and the node of one source that has its values.

    Attributes
    ----------
    node
        The node with its id in the united schema.
    stored
        The node of the source; None if the source has no such field, or only nulls.
    children
        The nodes below.
    """

    node: SchemaNode
    stored: SchemaNode | None
    children: tuple[MatchedColumn, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether the source has this node and all nodes below it."""
        return self.stored is not None and all(child.is_complete for child in self.children)

    @property
    def is_widened(self) -> bool:
        """Whether values must be stored again: those of this node, or of a node below it, have a narrower type."""
        if self.stored is not None and not self.children and not _same_values(self.stored, self.node):
            return True
        return any(child.is_widened for child in self.children)

    def walk(self) -> Iterator[MatchedColumn]:
        """The node itself and all nodes below it, depth first."""
        yield self
        for child in self.children:
            yield from child.walk()


def united_nodes(schemas: Sequence[tuple[str, Sequence[SchemaNode]]], *, widen: bool = False) -> tuple[SchemaNode, ...]:
    """The union of schemas, each with the URL of its shard: columns by name, internal fields by role and name.

    Columns are in the order in which they first occur, internal fields after all columns. Members of structs are united
    in the same way. A column of nulls only has the type that it has elsewhere.

    Parameters
    ----------
    widen
        Whether numbers of different types become the smallest type that holds all of them. Otherwise any two types of
        a column raise InvalidSchema, which names both shards.
    """
    found: dict[tuple[str, str], SchemaNode] = {}
    union = _Union(widen)
    for url, fields in schemas:
        for node in fields:
            key = node.internal, node.name
            known = found.get(key)
            found[key] = union.first(node, key, url) if known is None else union.of(known, node, key, url)
    columns = [node for node in found.values() if not node.internal]
    return _numbered([*columns, *(node for node in found.values() if node.internal)])


def matched_columns(nodes: Sequence[SchemaNode], fields: Sequence[SchemaNode]) -> tuple[MatchedColumn, ...]:
    """The nodes of a united schema, matched with the fields of one of its sources."""
    by_name = {(node.internal, node.name): node for node in fields}
    return tuple(_matched(node, by_name.get((node.internal, node.name))) for node in nodes)


class _Union:
    """Unites nodes, and remembers which shard a node came from."""

    def __init__(self, widen: bool) -> None:
        self._widen = widen
        self._shards: dict[_Path, str] = {}

    def first(self, node: SchemaNode, path: _Path, url: str) -> SchemaNode:
        """A node that no shard before had."""
        self._shards[path] = url
        for at, child in enumerate(node.children):
            self.first(child, (*path, _step(node, at, child)), url)
        return node

    def of(self, known: SchemaNode, node: SchemaNode, path: _Path, url: str) -> SchemaNode:
        """The union of a known node and the node of the shard at `url`."""
        if node.basic_type is BasicType.UNIT:
            return known
        if known.basic_type is BasicType.UNIT:
            return replace(self.first(node, path, url), name=known.name, aliases=_aliases(known, node))
        kind = self._type(known, node)
        if kind is None:
            raise self._conflict(known, node, path, url)
        children = self._children(known, node, path, url)
        return replace(kind, aliases=_aliases(known, node), children=children)

    def _type(self, known: SchemaNode, node: SchemaNode) -> SchemaNode | None:
        """The known node with a type that holds the values of both; None if there is none."""
        if _same_values(known, node):
            return known
        return _wider(known, node) if self._widen else None

    def _children(self, known: SchemaNode, node: SchemaNode, path: _Path, url: str) -> tuple[SchemaNode, ...]:
        if known.basic_type is not BasicType.STRUCT:
            pairs = zip(known.children, node.children, strict=True)
            return tuple(
                self.of(ours, theirs, (*path, _step(known, at, ours)), url) for at, (ours, theirs) in enumerate(pairs)
            )
        found = {child.name: child for child in known.children}
        for child in node.children:
            below = (*path, child.name)
            ours = found.get(child.name)
            found[child.name] = self.first(child, below, url) if ours is None else self.of(ours, child, below, url)
        return tuple(found.values())

    def _conflict(self, known: SchemaNode, node: SchemaNode, path: _Path, url: str) -> InvalidSchema:
        name = ".".join(quote_name(step) for step in path[1:])
        hint = "" if self._widen or _wider(known, node) is None else "; widen=True stores it as the wider type"
        found = f"{known} in {self._shards[path]} and {node} in {url}"
        return InvalidSchema(f"column {name!r}: expected one type in all shards, found {found}{hint}")


def _matched(node: SchemaNode, stored: SchemaNode | None) -> MatchedColumn:
    if stored is not None and stored.basic_type is BasicType.UNIT and node.basic_type is not BasicType.UNIT:
        stored = None  # nothing but nulls, as if the source had no such column
    below: list[SchemaNode | None]
    if stored is None:
        below = [None] * len(node.children)
    elif node.basic_type is BasicType.STRUCT:
        by_name = {child.name: child for child in stored.children}
        below = [by_name.get(child.name) for child in node.children]
    else:
        below = list(stored.children)
    return MatchedColumn(node, stored, tuple(map(_matched, node.children, below)))


def _same_values(a: SchemaNode, b: SchemaNode) -> bool:
    """Whether blocks of one node can be read as blocks of the other. Children are not compared."""
    if a.basic_type is not b.basic_type or a.extension != b.extension or a.fixed_size != b.fixed_size:
        return False
    if a.basic_type in INTEGERS and a.signed != b.signed:
        return False
    if a.basic_type is BasicType.UNION:
        # A position names its variant by number.
        return [child.name for child in a.children] == [child.name for child in b.children]
    return True


def _wider(a: SchemaNode, b: SchemaNode) -> SchemaNode | None:
    """The first node with the smallest type of numbers that holds the values of both exactly; None if there is none."""
    kinds = {a.basic_type, b.basic_type}
    if a.extension or b.extension or not kinds <= INTEGERS | _FLOATS:
        return None
    if kinds <= _FLOATS:
        return replace(a, basic_type=BasicType.FLOAT64, signed=False)
    if kinds & _FLOATS:
        number, integer = (a, b) if a.basic_type in _FLOATS else (b, a)
        width = WIDTHS[integer.basic_type]
        fitting = (kind for kind in (number.basic_type, BasicType.FLOAT64) if width <= _EXACT[kind])
        kind = next(fitting, None)
        return None if kind is None else replace(a, basic_type=kind, signed=False)
    if a.signed == b.signed:
        return replace(a, basic_type=max(kinds, key=WIDTHS.__getitem__))
    signed, unsigned = (a, b) if a.signed else (b, a)
    width = max(WIDTHS[signed.basic_type], 2 * WIDTHS[unsigned.basic_type])
    return replace(a, basic_type=_BY_WIDTH[width], signed=True) if width in _BY_WIDTH else None


def _aliases(a: SchemaNode, b: SchemaNode) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*a.aliases, *b.aliases)))


def _step(node: SchemaNode, at: int, child: SchemaNode) -> str:
    """A child in a path: its name, or its number where names mean nothing."""
    return child.name if node.basic_type in (BasicType.STRUCT, BasicType.UNION) and child.name else str(at)


def _numbered(nodes: Sequence[SchemaNode]) -> tuple[SchemaNode, ...]:
    """The nodes with ids from 0 on, depth first."""
    count = 0

    def number(node: SchemaNode) -> SchemaNode:
        nonlocal count
        schema_id, count = count, count + 1
        return replace(node, schema_id=schema_id, children=tuple(map(number, node.children)))

    return tuple(map(number, nodes))
