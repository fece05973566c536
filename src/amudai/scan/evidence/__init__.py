"""What tells, before values are read, for which rows a predicate can be true?

One module for each kind of evidence, all of the same shape: they answer for the rows of one leaf's question, and what
none of them knows is checked on the values.
"""

from amudai.scan.evidence.bloom import BLOOM
from amudai.scan.evidence.contract import Evidence
from amudai.scan.evidence.dictionary import DICTIONARY
from amudai.scan.evidence.facts import Facts, Together
from amudai.scan.evidence.indexes import index_evidence
from amudai.scan.evidence.ranges import RANGES
from amudai.scan.evidence.statistics import STATISTICS

__all__ = ["BLOOM", "DICTIONARY", "RANGES", "STATISTICS", "Evidence", "Facts", "Together", "index_evidence"]
