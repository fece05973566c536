"""What is asked of the rows?

Users write predicates with `col()` of `column.py`, whose text operators are in `text_operators.py` and `strings.py`. It
makes the nodes of `tree.py`. `parse.py` reads predicates written as text, `from_arrow.py` the expressions of pyarrow.
`binding.py` checks a predicate against a table's columns (`schema.py`), with the help of `comparison.py`; the result is
in `bound.py`. `evaluation.py` evaluates a leaf on arrays, `terms.py` translates it into questions for an index,
`regex.py`, `rust_regex.py` and `like.py` read patterns, and `words.py` makes the predicate of a search for words.

A predicate knows no schema. It is a small value that compares, hashes and pickles. Another process gets the predicate
and binds it to the columns of the shard that it opens. A bound predicate pickles too, but its leaves carry their
columns with everything below them, including all members of a wide struct.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.predicate.binding import bind
    from amudai.predicate.bound import LISTS, Bound, BoundAlways, BoundAnd, BoundLeaf, BoundOr
    from amudai.predicate.column import Column, col
    from amudai.predicate.comparison import is_text
    from amudai.predicate.evaluation import evaluate, evaluate_values
    from amudai.predicate.from_arrow import expression_columns, from_conjunction, from_expression
    from amudai.predicate.matching import match_texts
    from amudai.predicate.parse import parse_where
    from amudai.predicate.schema import TableSchema
    from amudai.predicate.terms import Alternative, term_questions
    from amudai.predicate.tree import (
        EVERYTHING,
        Always,
        And,
        Compare,
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
        all_of,
        any_of,
    )
    from amudai.predicate.words import WordMatch, text_columns, words_predicate
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.predicate.binding": "bind",
            "amudai.predicate.bound": "LISTS Bound BoundAlways BoundAnd BoundLeaf BoundOr",
            "amudai.predicate.column": "Column col",
            "amudai.predicate.comparison": "is_text",
            "amudai.predicate.evaluation": "evaluate evaluate_values",
            "amudai.predicate.matching": "match_texts",
            "amudai.predicate.from_arrow": "expression_columns from_conjunction from_expression",
            "amudai.predicate.parse": "parse_where",
            "amudai.predicate.schema": "TableSchema",
            "amudai.predicate.terms": "Alternative term_questions",
            "amudai.predicate.tree": (
                "EVERYTHING Always And Compare Interval IsIn IsNull IsValid Leaf Matches Not Or Predicate Text all_of "
                "any_of"
            ),
            "amudai.predicate.words": "WordMatch text_columns words_predicate",
        },
    )

__all__ = [
    "EVERYTHING",
    "LISTS",
    "Alternative",
    "Always",
    "And",
    "Bound",
    "BoundAlways",
    "BoundAnd",
    "BoundLeaf",
    "BoundOr",
    "Column",
    "Compare",
    "Interval",
    "IsIn",
    "IsNull",
    "IsValid",
    "Leaf",
    "Matches",
    "Not",
    "Or",
    "Predicate",
    "TableSchema",
    "Text",
    "WordMatch",
    "all_of",
    "any_of",
    "bind",
    "col",
    "evaluate",
    "evaluate_values",
    "expression_columns",
    "from_conjunction",
    "from_expression",
    "is_text",
    "match_texts",
    "parse_where",
    "term_questions",
    "text_columns",
    "words_predicate",
]
