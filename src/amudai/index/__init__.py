"""Where is this value?

`contract.py` says what a type of index is, `questions.py` what it can be asked, and `catalog.py` which types there are.
Answers are `rows.Positions`.
"""

from amudai.index.artifacts import open_artifact
from amudai.index.build import index_sinks
from amudai.index.catalog import index_type
from amudai.index.contract import BuildPlan, Capabilities, IndexReader, IndexSpec, IndexType
from amudai.index.hash import HashIndex
from amudai.index.questions import Between, Every, Keys, Match, Number, Question, Terms
from amudai.index.range import RangeProbe, open_range
from amudai.index.statistics import Share, bloom_rules_out, could_hold
from amudai.index.term import TERM, TermIndex

__all__ = [
    "TERM",
    "Between",
    "BuildPlan",
    "Capabilities",
    "Every",
    "HashIndex",
    "IndexReader",
    "IndexSpec",
    "IndexType",
    "Keys",
    "Match",
    "Number",
    "Question",
    "RangeProbe",
    "Share",
    "TermIndex",
    "Terms",
    "bloom_rules_out",
    "could_hold",
    "index_sinks",
    "index_type",
    "open_artifact",
    "open_range",
]
