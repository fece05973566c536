"""How does a new root use old bytes?

`root.py` has `Root`, a frozen value with the whole content of a root, including fields that this version does not know.
`take_over.py` reads it from an open shard. An operation is a pure function from `Root` to `Root`: `indexes.py` has the
first, which adds indexes, and feeds the builders of indexes with the values of a shard. `publish.py` is the only place
where a root gets its URL; it says which files the root owns. `garbage.py` finds and removes files that no root needs.

An operation that leaves positions unchanged keeps all indexes. So far that is true of all operations.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.edit.garbage import GRACE, collect_garbage, folder_garbage, references_in
    from amudai.edit.indexes import feed, with_indexes
    from amudai.edit.publish import Publication
    from amudai.edit.root import Root
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.edit.garbage": "GRACE collect_garbage folder_garbage references_in",
            "amudai.edit.indexes": "feed with_indexes",
            "amudai.edit.publish": "Publication",
            "amudai.edit.root": "Root",
        },
    )

__all__ = [
    "GRACE",
    "Publication",
    "Root",
    "collect_garbage",
    "feed",
    "folder_garbage",
    "references_in",
    "with_indexes",
]
