"""The paths of the fields that an index covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amudai.format import IndexDescriptor
from amudai.shard import ShardReader
from amudai.types import BasicType, SchemaNode, quote_name

__all__ = ["paths_of"]

_ROLES = {BasicType.LIST: ("item",), BasicType.FIXED_SIZE_LIST: ("item",), BasicType.MAP: ("key", "value")}


def paths_of(descriptor: IndexDescriptor, shard: ShardReader) -> tuple[str, ...] | None:
    """The path of each indexed field; None if an entry is not a single field of the shard."""
    known = dict(_paths(shard.schema.fields(), ""))
    found = [known.get(ids[0]) if len(ids) == 1 else None for ids in descriptor.indexed_fields]
    paths = tuple(path for path in found if path is not None)
    return paths if paths and len(paths) == len(found) else None


def _paths(nodes: Sequence[SchemaNode], before: str, roles: Sequence[str] = ()) -> Iterator[tuple[int, str]]:
    for at, node in enumerate(nodes):
        path = before + (roles[at] if roles else quote_name(node.name))
        yield node.schema_id, path
        yield from _paths(node.children, f"{path}.", _ROLES.get(node.basic_type, ()))
