"""How the times and decimals of a shard are stored."""

from __future__ import annotations

from itertools import product
from typing import Any, get_args

from amudai.api.shard import Shard
from amudai.arrow import Decimals, Timestamps, schema_nodes

__all__ = ["storing_options"]


def storing_options(shard: Shard) -> dict[str, Any]:
    """The options of a writer that stores times and decimals as the shard does."""
    stored = [(node.name, str(node)) for node in shard._fields.visible()]
    for timestamps, decimals in product(get_args(Timestamps), get_args(Decimals)):
        nodes = schema_nodes(shard.schema, timestamps=timestamps, decimals=decimals)
        if [(node.name, str(node)) for node in nodes] == stored:
            return {"timestamps": timestamps, "decimals": decimals}
    return {}
