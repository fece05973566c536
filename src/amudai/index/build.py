"""Builders for the indexes that a user asks for."""

from __future__ import annotations

from collections.abc import Sequence

from amudai.arguments import shown
from amudai.errors import InvalidArgument, located
from amudai.index.catalog import index_type
from amudai.index.contract import LEVELS, BuildPlan, IndexSpec, IndexType
from amudai.shard import RowSink, Sinks
from amudai.threads import Crew
from amudai.types import BasicType, NodePath, SchemaNode, find_in

__all__ = ["index_sinks", "paths_for"]


def index_sinks(
    specs: Sequence[IndexSpec],
    nodes: Sequence[SchemaNode],
    *,
    memory: int,
    temp_folder: str | None,
    profile: str,
    crew: Crew,
) -> Sinks:
    """One builder for each of `specs`; together they use at most `memory` bytes.

    `crew` has the threads that they share.

    Raises an error if a column is missing or has a type that the index does not take.
    """
    if isinstance(specs, str) or not isinstance(specs, Sequence):
        raise InvalidArgument(f"indexes: expected a list such as [amudai.TermIndex(...)], found {shown(specs)}")
    sinks: dict[str, list[RowSink]] = {level: [] for level in LEVELS}
    for spec in specs:
        kind = index_type(getattr(spec, "index_type", ""))
        if kind is None or kind.build is None:
            raise InvalidArgument(f"indexes: expected a TermIndex or a HashIndex, found {shown(spec)}")
        if spec.level == "field" and len(spec.fields) != 1:
            raise InvalidArgument(f'{spec!r}: expected one field for level="field", found {len(spec.fields)}')
        share = max(1, memory // len(specs))
        plan = BuildPlan(paths_for(spec, kind, nodes), share, temp_folder, profile, crew)
        with located(index=kind.name):
            sinks[spec.level].append(kind.build(spec, plan))
    return Sinks(tuple(sinks["shard"]), tuple(sinks["stripe"]), tuple(sinks["field"]))


def paths_for(spec: IndexSpec, kind: IndexType, nodes: Sequence[SchemaNode]) -> tuple[NodePath, ...]:
    """The nodes from a top-level field down to each field of an index. A list is indexed by its items."""
    paths = []
    for name in spec.fields:
        path = find_in(nodes, name)
        while path[-1].basic_type in (BasicType.LIST, BasicType.FIXED_SIZE_LIST):
            path = (*path, path[-1].children[0])
        node = path[-1]
        if node.basic_type not in kind.capabilities.basic_types:
            raise InvalidArgument(f"{spec!r}: expected a column that the index can cover, found {node}", field=name)
        paths.append(path)
    return tuple(paths)
