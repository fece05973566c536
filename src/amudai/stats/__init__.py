"""What is known without reading?

What the format notes about a field's values, computed from the values themselves. `field.collect` gives the statistics
of one schema node in a stripe and `field.merge` folds those of stripes into a shard's; `hll` counts distinct values,
`bloom` refuses values that are not there, both over the hashes of `hashing`. Stored statistics are read by `format`.
"""

from amudai.stats.bloom import probe
from amudai.stats.collector import BooleanCollector, BytesCollector, CountCollector, ListCollector, NumberCollector
from amudai.stats.field import FieldStatistics, collect, merge
from amudai.stats.hashing import BLOOM_SEED, HLL_SEED, hash_value, hash_values
from amudai.stats.hll import Hll

__all__ = [
    "BLOOM_SEED",
    "HLL_SEED",
    "BooleanCollector",
    "BytesCollector",
    "CountCollector",
    "FieldStatistics",
    "Hll",
    "ListCollector",
    "NumberCollector",
    "collect",
    "hash_value",
    "hash_values",
    "merge",
    "probe",
]
