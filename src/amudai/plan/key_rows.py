"""The rows that may have one of many values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amudai.plan.evidence.indexes import rows_with
from amudai.plan.open_indexes import open_indexes
from amudai.plan.request import OnDamage
from amudai.plan.unusable import UnusableIndexes
from amudai.rows import Positions, Rows
from amudai.shard import ShardReader
from amudai.types import NodePath

if TYPE_CHECKING:
    from amudai.shard import StoredArray  # with what writes shards, which readers do not need

__all__ = ["rows_with_keys"]


def rows_with_keys(shard: ShardReader, nodes: NodePath, values: StoredArray, on_damage: OnDamage) -> Rows:
    """The rows of a shard, without deleted ones, that may have one of many values, as far as indexes tell.

    Parameters
    ----------
    values
        The values as the field stores them, without nulls.
    """
    indexes = open_indexes(shard, UnusableIndexes(on_damage), nodes)
    found = rows_with(values, nodes, indexes, Rows.all(shard.origin))
    return shard.visibility.of(Positions.surely(found)).yes
