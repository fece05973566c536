"""What is known without reading?

What the format notes about a field's values, computed from the values themselves. The classes of `collector` gather the
statistics of one field while a stripe is written, and `field.merge` folds those of stripes into a shard's. `hll` counts
distinct values, `bloom` refuses values that are not there; both use the hashes of `hashing`. Stored statistics are read
by `format`.
"""

from amudai.stats.bloom import probe
from amudai.stats.collector import BooleanCollector, BytesCollector, CountCollector, ListCollector, NumberCollector
from amudai.stats.field import FieldStatistics, merge
from amudai.stats.hashing import BLOOM_SEED, HLL_SEED, hash_value
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
    "hash_value",
    "merge",
    "probe",
]
