"""Statistics that the caller of a writer requests: distinct counts and Bloom filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from amudai.arguments import names, shown
from amudai.errors import InvalidArgument
from amudai.format import BloomFilter
from amudai.inspect import field_label
from amudai.shard import ShardReader
from amudai.stats import MOST_REQUESTED, MOST_VALUES, BloomRequest
from amudai.types import BYTES, WIDTHS, BasicType, SchemaNode, find_in

__all__ = ["Bloom", "kept_requests", "requested_distinct", "requested_filters"]

# Paths of columns, or the wanted share of false answers by path.
Bloom: TypeAlias = Sequence[str] | Mapping[str, float]

_KINDS: Final = "text, bytes, numbers, times, decimals or booleans"


def requested_filters(nodes: Sequence[SchemaNode], bloom: Bloom) -> dict[int, BloomRequest]:
    """The Bloom filters that the option `bloom` requests, by schema id."""
    if not isinstance(bloom, Mapping):
        return {_values(nodes, path, "bloom").schema_id: BloomRequest() for path in names(bloom, "bloom")}
    found = {}
    for path, share in bloom.items():
        is_number = isinstance(share, int | float) and not isinstance(share, bool)
        if not is_number or not 0 < share < 1:
            raise InvalidArgument(f"bloom: expected a number between 0 and 1 for {path!r}, found {shown(share)}")
        found[_values(nodes, path, "bloom").schema_id] = BloomRequest(float(share))
    return found


def requested_distinct(nodes: Sequence[SchemaNode], distinct: Sequence[str]) -> frozenset[int]:
    """The fields whose distinct values the option `distinct` wants counted, by schema id."""
    return frozenset(_values(nodes, path, "distinct").schema_id for path in names(distinct, "distinct"))


def _values(nodes: Sequence[SchemaNode], path: str, option: str) -> SchemaNode:
    found = find_in(nodes, path)[-1]
    if not _has_values(found):
        raise InvalidArgument(f"{option}: expected a column of {_KINDS}, found {shown(path)}, which is a {found}")
    return found


def _has_values(node: SchemaNode) -> bool:
    return node.basic_type in WIDTHS or node.basic_type in BYTES or node.basic_type is BasicType.BOOLEAN


def kept_requests(reader: ShardReader) -> dict[str, Any]:
    """The options `bloom` and `distinct` that give a new shard the sketches of an old one.

    Sketches that a writer makes without being asked are left out, as are filters that may become too large.
    """
    bloom: dict[str, float] = {}
    distinct: list[str] = []
    for path, node in _fields(reader.schema.fields(), None, ()):
        is_usual = node.basic_type in BYTES and not node.is_decimal
        known = [found.field for stripe in reader.stripes if (found := stripe.descriptor(node)) is not None]
        filters = [each.bloom_filter for each in known if each.bloom_filter is not None]
        unusual = [each for each in filters if not is_usual or _is_requested(each)]
        if unusual and sum(each.num_values for each in filters) <= MOST_REQUESTED:
            bloom[path] = min(each.target_fpp for each in unusual)
        if not is_usual and any(each.cardinality is not None for each in known):
            distinct.append(path)
    return {"bloom": bloom, "distinct": distinct}


def _is_requested(found: BloomFilter) -> bool:
    return found.target_fpp != BloomRequest().fpp or found.num_values > MOST_VALUES


def _fields(
    nodes: Sequence[SchemaNode], parent: SchemaNode | None, above: tuple[str, ...]
) -> Iterator[tuple[str, SchemaNode]]:
    """The fields with values that paths can name."""
    for node in nodes:
        path = (*above, field_label(parent, node))
        if node.internal or node.basic_type is BasicType.UNION:
            continue
        if _has_values(node):
            yield ".".join(path), node
        yield from _fields(node.children, node, path)
