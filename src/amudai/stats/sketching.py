"""Sketches of distinct values: how many there are, and a filter of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.errors import InvalidArgument
from amudai.format import BloomFilter, Cardinality, HllSketch
from amudai.stats import bloom
from amudai.stats.hashing import BLOOM_SEED, HASH_ALGORITHM, HLL_SEED
from amudai.stats.hll import BITS_PER_INDEX, Hll
from amudai.types import SchemaNode

__all__ = ["MOST_REQUESTED", "BloomRequest", "ValueSketches"]

# The most distinct values of a filter that was requested. Their hashes take 100 MB while a stripe is written.
MOST_REQUESTED: Final = 1 << 22

_STEP: Final = 4096  # values that are hashed at once for a filter


@dataclass(frozen=True, slots=True)
class BloomRequest:
    """A request for the Bloom filter of a field.

    Attributes
    ----------
    fpp
        The share of values that are not there and that the filter does not rule out.
    required
        Whether a filter that would be too large is an error. Otherwise there is none.
    """

    fpp: float = bloom.TARGET_FPP
    required: bool = True


class ValueSketches:
    """Collects the hashes of a field's values.

    Parameters
    ----------
    distinct
        Whether distinct values are counted.
    few
        Whether there is a filter if there are few distinct values, even without a request.
    """

    def __init__(
        self, node: SchemaNode, fixed: int | None, *, distinct: bool, few: bool, request: BloomRequest | None
    ) -> None:
        self._name = node.name
        self._fixed = fixed
        self._request = request
        self._registers = np.zeros(1 << BITS_PER_INDEX, np.uint8) if distinct else None
        self._limit = bloom.MOST_VALUES if request is None else MOST_REQUESTED
        self._hashes = _kernels.HashSet(self._limit) if few or request is not None else None

    def add(
        self,
        offsets: npt.NDArray[Any] | None,
        data: npt.NDArray[np.uint8],
        count: int,
        bits: npt.NDArray[np.uint8] | None,
    ) -> None:
        """Add values. `bits` says which are not null."""
        if self._registers is not None:
            _kernels.hll_update(offsets, data, self._fixed, bits, 0, count, self._registers)
        size = self._fixed or 0
        for start in range(0, count, _STEP):
            if self._hashes is None:
                return  # too many distinct values, usually found after the first few steps
            end = min(start + _STEP, count)
            some = None if offsets is None else offsets[start : end + 1]
            rows = data if offsets is not None else data[start * size : end * size]
            hashes = _kernels.hash_values(some, rows, self._fixed, bits, start, end - start, BLOOM_SEED)
            if not self._hashes.add(hashes):
                self._hashes = None
                self._refuse()

    def _refuse(self) -> None:
        if self._request is not None and self._request.required:
            raise InvalidArgument(
                f"bloom: expected at most {self._limit:,} distinct values in a stripe, found more: "
                "smaller stripes (stripe_rows=) or a HashIndex serve such a column",
                field=self._name,
            )

    def cardinality(self, exact: int | None) -> Cardinality | None:
        """How many distinct values there are. `exact` is their number if it is known."""
        if self._registers is None:
            return None
        counters = self._registers.tobytes()
        sketch = HllSketch(
            hash_algorithm=HASH_ALGORITHM, hash_seed=HLL_SEED, bits_per_index=BITS_PER_INDEX, counters=counters
        )
        count = Hll.from_counters(counters, BITS_PER_INDEX).estimate() if exact is None else exact
        return Cardinality(count=count, is_estimate=exact is None, sketch=sketch)

    def filter(self) -> BloomFilter | None:
        """The Bloom filter; None if there are too many values for it, or none at all."""
        if self._hashes is None:
            return None
        fpp = bloom.TARGET_FPP if self._request is None else self._request.fpp
        hashes = self._hashes.values()  # at most `_limit`
        if not len(hashes):
            return None
        data = bloom.filter_of_distinct(hashes, fpp)
        return BloomFilter(
            num_blocks=len(data) // bloom.BLOCK_SIZE,
            target_fpp=fpp,
            num_values=len(hashes),
            hash_algorithm=HASH_ALGORITHM,
            hash_seed=BLOOM_SEED,
            data=data,
        )
