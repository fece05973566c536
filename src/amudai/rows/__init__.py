"""Which rows, counted from where?

`origin.py` says what positions are counted from: a dataset, a shard, a stripe, or the slots of a field. `rows.py` has
the one set of positions that every room uses, `windows.py` cuts such a set into many, `positions.py` has the algebra of
yes, maybe and no over such sets, `named.py` turns what a user passes as `rows` into a set, and `visibility.py` says
which rows are not deleted.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.rows.named import row_range, row_ranges
    from amudai.rows.origin import SLOTS, Origin
    from amudai.rows.positions import Positions
    from amudai.rows.rows import Rows
    from amudai.rows.visibility import Visibility
    from amudai.rows.windows import rows_in_windows
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.rows.named": "row_range row_ranges",
            "amudai.rows.origin": "SLOTS Origin",
            "amudai.rows.positions": "Positions",
            "amudai.rows.rows": "Rows",
            "amudai.rows.visibility": "Visibility",
            "amudai.rows.windows": "rows_in_windows",
        },
    )

__all__ = [
    "SLOTS",
    "Origin",
    "Positions",
    "Rows",
    "Visibility",
    "row_range",
    "row_ranges",
    "rows_in_windows",
]
