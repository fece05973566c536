"""Which rows are asked for?

`column.py` is what a user writes, `tree.py` what it makes. `bind.py` checks that against the columns of a shard, where
`values.py` says what a value means in a column's type. `evaluate.py` finds the rows of arrays for which it is true,
`literals.py` what an index can be asked, `from_arrow.py` reads the expressions of pyarrow, `parse.py` those that are
written as text, and `words.py` makes a predicate of words that are searched for.
"""

from amudai.scan.predicate.bind import LISTS, Bound, BoundAnd, BoundConstant, BoundLeaf, BoundOr, bind
from amudai.scan.predicate.column import Column, col
from amudai.scan.predicate.evaluate import evaluate, evaluate_all, evaluate_values
from amudai.scan.predicate.from_arrow import from_expression
from amudai.scan.predicate.literals import Alternative, questions
from amudai.scan.predicate.parse import parse_where
from amudai.scan.predicate.tree import (
    And,
    Compare,
    Constant,
    Interval,
    IsIn,
    IsNull,
    IsValid,
    Leaf,
    Matches,
    Not,
    Or,
    Predicate,
    Text,
)
from amudai.scan.predicate.words import WordMatch, text_columns, words_predicate

# What a scan without a predicate asks for.
EVERYTHING = Constant(True)

__all__ = [
    "EVERYTHING",
    "LISTS",
    "Alternative",
    "And",
    "Bound",
    "BoundAnd",
    "BoundConstant",
    "BoundLeaf",
    "BoundOr",
    "Column",
    "Compare",
    "Constant",
    "Interval",
    "IsIn",
    "IsNull",
    "IsValid",
    "Leaf",
    "Matches",
    "Not",
    "Or",
    "Predicate",
    "Text",
    "WordMatch",
    "bind",
    "col",
    "evaluate",
    "evaluate_all",
    "evaluate_values",
    "from_expression",
    "parse_where",
    "questions",
    "text_columns",
    "words_predicate",
]
