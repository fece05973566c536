"""What tells, before values are read, for which rows a leaf can be true?

There is one module for each kind of evidence, all of the same shape: they answer for the rows of one leaf, and what
none of them knows is checked on the values.
"""

from amudai.plan.evidence.bloom import BLOOM
from amudai.plan.evidence.contract import Evidence
from amudai.plan.evidence.dictionary import DICTIONARY
from amudai.plan.evidence.indexes import index_evidence
from amudai.plan.evidence.ranges import RANGES
from amudai.plan.evidence.statistics import STATISTICS

__all__ = ["BLOOM", "DICTIONARY", "RANGES", "STATISTICS", "Evidence", "index_evidence"]
