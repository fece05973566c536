"""All terms of a column, from its term indexes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from amudai.index import Vocabulary
from amudai.plan.open_indexes import OpenIndex, covering, open_indexes
from amudai.plan.unusable import UnusableIndexes
from amudai.shard import ShardReader
from amudai.types import NodePath

__all__ = ["vocabularies"]


def vocabularies(shard: ShardReader, path: NodePath) -> Iterator[Vocabulary]:
    """The words of a column, and its whole values, as far as term indexes of all rows have them."""
    found = [(index, index.vocabulary(path)) for index in open_indexes(shard, UnusableIndexes("raise"), path)]
    for whole in (False, True):
        able = {index: known for index, known in found if known is not None and known.whole is whole}
        chosen = covering(shard, list(able))
        if chosen is not None:
            yield Vocabulary(whole, _all(able, chosen))


def _all(known: dict[OpenIndex, Vocabulary], chosen: list[OpenIndex]) -> Iterator[npt.NDArray[np.uint64]]:
    for index in chosen:
        yield from known[index].hashes
