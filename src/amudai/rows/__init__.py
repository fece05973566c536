"""Which rows, counted from where?

`origin.py` says what positions are counted from: a dataset, a shard, a stripe, or the slots of a field. `rows.py` has
the one set of positions that every room uses, `positions.py` the algebra of yes, maybe and no over such sets,
`named.py` turns what a user passes as `rows` into a set, and `visibility.py` says which rows are not deleted.
"""

from amudai.rows.named import row_range, row_ranges
from amudai.rows.origin import SLOTS, Origin
from amudai.rows.positions import Positions
from amudai.rows.rows import Rows
from amudai.rows.visibility import Visibility

__all__ = ["SLOTS", "Origin", "Positions", "Rows", "Visibility", "row_range", "row_ranges"]
