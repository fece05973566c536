"""What is known without reading?

What the format notes about a field's values, computed from the values themselves. The classes of `collector` gather the
statistics of one field while a stripe is written, and `field.merge` folds those of stripes into a shard's. `hll` counts
distinct values, `bloom` refuses values that are not there; both use the hashes of `hashing`. `sketching` collects
both. Stored statistics are read by `format`.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.stats.bloom import MOST_VALUES, build_filter, probe, probe_each
    from amudai.stats.collector import BooleanCollector, BytesCollector, CountCollector, ListCollector, NumberCollector
    from amudai.stats.field import FieldStatistics, merge
    from amudai.stats.hashing import BLOOM_SEED, HASH_ALGORITHM, HLL_SEED, hash_value
    from amudai.stats.hll import Hll
    from amudai.stats.sketching import MOST_REQUESTED, BloomRequest
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.stats.bloom": "MOST_VALUES build_filter probe probe_each",
            "amudai.stats.collector": "BooleanCollector BytesCollector CountCollector ListCollector NumberCollector",
            "amudai.stats.field": "FieldStatistics merge",
            "amudai.stats.hashing": "BLOOM_SEED HASH_ALGORITHM HLL_SEED hash_value",
            "amudai.stats.hll": "Hll",
            "amudai.stats.sketching": "MOST_REQUESTED BloomRequest",
        },
    )

__all__ = [
    "BLOOM_SEED",
    "HASH_ALGORITHM",
    "HLL_SEED",
    "MOST_REQUESTED",
    "MOST_VALUES",
    "BloomRequest",
    "BooleanCollector",
    "BytesCollector",
    "CountCollector",
    "FieldStatistics",
    "Hll",
    "ListCollector",
    "NumberCollector",
    "build_filter",
    "hash_value",
    "merge",
    "probe",
    "probe_each",
]
