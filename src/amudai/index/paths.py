"""The paths of the fields that an index covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amudai.format import IndexDescriptor
from amudai.shard import ShardReader
from amudai.types import BasicType, SchemaNode, quote_name

__all__ = ["field_paths", "paths_of"]

_ROLES = {BasicType.LIST: ("item",), BasicType.FIXED_SIZE_LIST: ("item",), BasicType.MAP: ("key", "value")}


def paths_of(descriptor: IndexDescriptor, shard: ShardReader) -> dict[int, str] | None:
    """The path of each indexed field, by the number of its entry in the descriptor.

    Entries of fields that were dropped are left out. None if an entry is not a single field of the shard.
    """
    known = field_paths(shard)
    found: dict[int, str] = {}
    for entry, ids in enumerate(descriptor.indexed_fields):
        if ids:
            if len(ids) > 1 or ids[0] not in known:
                return None
            found[entry] = known[ids[0]]
    return found or None


def field_paths(shard: ShardReader) -> dict[int, str]:
    """The path of every field by its schema id, as `shard[path]` takes it."""
    return dict(_paths(shard.schema.fields(), ""))


def _paths(nodes: Sequence[SchemaNode], before: str, roles: Sequence[str] = ()) -> Iterator[tuple[int, str]]:
    for at, node in enumerate(nodes):
        path = before + (roles[at] if roles else quote_name(node.name))
        yield node.schema_id, path
        yield from _paths(node.children, f"{path}.", _ROLES.get(node.basic_type, ()))
