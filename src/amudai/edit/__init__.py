"""How does a new root use old bytes?

`root.py` has `Root`, a frozen value with the whole content of a root, including fields that this version does not know.
`take_over.py` reads it from an open shard. An operation is a pure function from `Root` to `Root`: `indexes.py` has the
first, which adds indexes, and feeds the builders of indexes with the values of a shard; `columns.py` adds fields.
`publish.py` is the only place where a root gets its URL; it says which files the root owns. `garbage.py` removes files
that former roots owned.

An operation that leaves positions unchanged keeps all indexes. So far that is true of all operations.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.edit.columns import IndexChange, add_columns, first_free_id, with_fields
    from amudai.edit.garbage import GRACE, collect_garbage
    from amudai.edit.indexes import feed, with_indexes
    from amudai.edit.publish import Publication
    from amudai.edit.root import Root
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.edit.columns": "IndexChange add_columns first_free_id with_fields",
            "amudai.edit.garbage": "GRACE collect_garbage",
            "amudai.edit.indexes": "feed with_indexes",
            "amudai.edit.publish": "Publication",
            "amudai.edit.root": "Root",
        },
    )

__all__ = [
    "GRACE",
    "IndexChange",
    "Publication",
    "Root",
    "add_columns",
    "collect_garbage",
    "feed",
    "first_free_id",
    "with_fields",
    "with_indexes",
]
