"""How a shard stores its columns, in the words of a writer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, get_args

import pyarrow as pa

from amudai.api.packing import kept_groups
from amudai.api.shard import Shard
from amudai.arrow import Decimals, Timestamps, aliases_of, annotated, extensions_of, schema_nodes
from amudai.errors import MissingColumn
from amudai.types import SchemaNode, find_in

__all__ = ["options_for", "storing_options"]


def storing_options(shard: Shard) -> dict[str, Any]:
    """The options of a writer that stores columns as the shard does: extension types, aliases, packed groups."""
    visible = shard._fields.visible()
    noted: dict[str, Any] = {"extensions": extensions_of(visible), "aliases": aliases_of(visible)}
    groups = kept_groups(shard._reader)
    stored = [(node.name, str(node)) for node in visible]
    for timestamps, decimals in product(get_args(Timestamps), get_args(Decimals)):
        nodes = annotated(schema_nodes(shard.schema, timestamps=timestamps, decimals=decimals), **noted)
        if [(node.name, str(node)) for node in nodes] == stored:
            return {"timestamps": timestamps, "decimals": decimals, **noted, **groups}
    return {**noted, **groups}


def options_for(schema: pa.Schema, shard: Shard) -> dict[str, Any]:
    """The options of a writer that stores rows of another schema as the shard stores the columns that both have."""
    kept = storing_options(shard)
    nodes = schema_nodes(schema)
    found: dict[str, Any] = {name: kept[name] for name in ("timestamps", "decimals") if name in kept}
    for name in ("extensions", "aliases"):
        found[name] = {path: each for path, each in kept[name].items() if _has(nodes, path)}
    return found


def _has(nodes: Sequence[SchemaNode], path: str) -> bool:
    try:
        return bool(find_in(nodes, path))
    except MissingColumn:
        return False
