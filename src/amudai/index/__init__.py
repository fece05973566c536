"""Where is this value?

`contract.py` says what a type of index is, `questions.py` what it can be asked, `positions.py` what it answers, and
`catalog.py` which types there are.
"""

from amudai.index.contract import BuildPlan, Capabilities, IndexReader, IndexSpec, IndexType
from amudai.index.positions import Positions
from amudai.index.questions import Between, Keys, Match, Question, Terms

__all__ = [
    "Between",
    "BuildPlan",
    "Capabilities",
    "IndexReader",
    "IndexSpec",
    "IndexType",
    "Keys",
    "Match",
    "Positions",
    "Question",
    "Terms",
]
