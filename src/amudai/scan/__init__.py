"""Which rows, columns and bytes?

`columns.py` finds the columns that were named, `execute.py` reads them, column by column and stripe
by stripe, on several threads. `predicate/` says which rows are asked for, `evidence/` and `prune.py` rule rows out
without reading them, `check.py` reads what is left, `search.py` puts it together, and `receipt.py` says why.
"""

from amudai.scan.columns import Selected, find, select, select_nodes
from amudai.scan.execute import read_table
from amudai.scan.predicate import (
    EVERYTHING,
    Column,
    Predicate,
    WordMatch,
    bind,
    col,
    from_expression,
    parse_where,
    text_columns,
    words_predicate,
)
from amudai.scan.receipt import Explanation, LeafReport
from amudai.scan.search import Search
from amudai.scan.threads import thread_count

__all__ = [
    "EVERYTHING",
    "Column",
    "Explanation",
    "LeafReport",
    "Predicate",
    "Search",
    "Selected",
    "WordMatch",
    "bind",
    "col",
    "find",
    "from_expression",
    "parse_where",
    "read_table",
    "select",
    "select_nodes",
    "text_columns",
    "thread_count",
    "words_predicate",
]
