"""Conjunctions of conditions on several columns, which an index with a composite key looks up together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final

from amudai.index import CompositeKeys
from amudai.plan.leaf import LeafQuestion
from amudai.plan.open_indexes import OpenIndex

__all__ = ["ConjunctionOfKeys", "conjunctions_of_keys"]

# The most combinations of values that are looked up. More of them are better asked column by column.
_MOST: Final = 1024


@dataclass(frozen=True, slots=True)
class ConjunctionOfKeys:
    """Leaves that name the values of all fields of a composite key, joined by `and`."""

    leaves: tuple[LeafQuestion, ...]
    question: CompositeKeys


def conjunctions_of_keys(leaves: Sequence[LeafQuestion], indexes: Sequence[OpenIndex]) -> list[ConjunctionOfKeys]:
    """The conjunctions that indexes can look up. Each leaf is in at most one of them, keys of many fields first."""
    asked = {leaf.node.schema_id: leaf for leaf in leaves if _names_values(leaf)}
    keys = {tuple(ids) for index in indexes for ids in index.descriptor.indexed_fields if len(ids) > 1}
    found = []
    for key in sorted(keys, key=lambda ids: (-len(ids), ids)):
        if asked.keys() >= set(key):
            mine = tuple(asked[schema_id] for schema_id in key)
            values = [leaf.keys or () for leaf in mine]
            if prod(map(len, values)) <= _MOST:
                paths = tuple(leaf.leaf.nodes for leaf in mine)
                found.append(ConjunctionOfKeys(mine, CompositeKeys(paths, tuple(product(*values)))))
                for schema_id in key:
                    del asked[schema_id]
    return found


def _names_values(leaf: LeafQuestion) -> bool:
    return not leaf.inverted and leaf.is_single and leaf.keys is not None
