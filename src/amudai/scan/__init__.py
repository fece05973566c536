"""Which rows, columns and bytes?

`columns.py` selects the columns that were named, `execute.py` reads them, column by column and stripe by stripe, on
several threads. `evidence/` and `prune.py` rule out rows of a predicate without reading them, `check.py` reads what is
left, `search.py` puts it together, and `receipt.py` says why.
"""

from amudai.scan.columns import Selected, select, select_nodes
from amudai.scan.execute import read_table
from amudai.scan.receipt import Explanation, LeafReport
from amudai.scan.search import Search
from amudai.scan.threads import thread_count

__all__ = [
    "Explanation",
    "LeafReport",
    "Search",
    "Selected",
    "read_table",
    "select",
    "select_nodes",
    "thread_count",
]
