"""Which rows, columns and bytes?

`columns.py` finds the columns that were named, `rows.py` the rows, `execute.py` reads them, column by column and stripe
by stripe, on several threads.
"""

from amudai.scan.columns import Selected, find, select
from amudai.scan.execute import read_batches, read_table
from amudai.scan.rows import row_range, row_ranges
from amudai.scan.threads import thread_count

__all__ = ["Selected", "find", "read_batches", "read_table", "row_range", "row_ranges", "select", "thread_count"]
