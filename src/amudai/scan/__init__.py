"""Which rows, columns and bytes?

`columns.py` finds the columns that were named, `execute.py` reads them, column by column and stripe
by stripe, on several threads. `predicate/` says which rows are asked for, `evidence/` and `prune.py` rule rows out
without reading them, `check.py` reads what is left, `search.py` puts it together, and `receipt.py` says why.
"""

from amudai.scan.columns import Selected, find, select
from amudai.scan.execute import read_batches, read_table
from amudai.scan.predicate import EVERYTHING, Column, Predicate, bind, col, from_expression, parse_where
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
    "bind",
    "col",
    "find",
    "from_expression",
    "parse_where",
    "read_batches",
    "read_table",
    "select",
    "thread_count",
]
