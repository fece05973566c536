"""How does a new root use old bytes?

`root.py` has `Root`, a frozen value with the whole content of a root, including fields that this version does not know.
`take_over.py` reads it from an open shard. An operation is a pure function from `Root` to `Root`: `indexes.py` has the
first, which adds indexes, and feeds the builders of indexes with the values of a shard; `columns.py` adds fields,
`deletes.py` marks rows as deleted, `merging.py` makes one root of several. `attaching.py` makes a root over Parquet
files, of which `parquet_footers.py` reads the footers; `materializing.py` stores such values in the shard itself.
`publish.py` is the only place where a root gets its URL; it says which files the root owns. `references.py` reads what
the roots of a folder refer to; `garbage.py` and `orphans.py` find and remove files that no root needs, and `copying.py`
copies a shard with all its files.

An operation that leaves positions unchanged keeps all indexes.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.edit.attaching import Attachment, attached_stripes
    from amudai.edit.columns import IndexChange, add_columns, first_free_id, with_fields
    from amudai.edit.copying import copy_shard, own_files
    from amudai.edit.deletes import with_deleted
    from amudai.edit.garbage import GRACE, collect_garbage
    from amudai.edit.indexes import feed, stored_batches, with_indexes
    from amudai.edit.materializing import with_stored_values
    from amudai.edit.merged_indexes import IndexPart, index_parts
    from amudai.edit.merging import DROP_HINT, MergedSource, Merging
    from amudai.edit.naming import Naming
    from amudai.edit.orphans import ORPHAN_GRACE, Orphan, orphans_below
    from amudai.edit.parquet_footers import AttachedFile
    from amudai.edit.publish import Publication
    from amudai.edit.root import Root
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.edit.attaching": "Attachment attached_stripes",
            "amudai.edit.columns": "IndexChange add_columns first_free_id with_fields",
            "amudai.edit.deletes": "with_deleted",
            "amudai.edit.copying": "copy_shard own_files",
            "amudai.edit.garbage": "GRACE collect_garbage",
            "amudai.edit.indexes": "feed stored_batches with_indexes",
            "amudai.edit.materializing": "with_stored_values",
            "amudai.edit.merged_indexes": "IndexPart index_parts",
            "amudai.edit.merging": "DROP_HINT MergedSource Merging",
            "amudai.edit.naming": "Naming",
            "amudai.edit.orphans": "ORPHAN_GRACE Orphan orphans_below",
            "amudai.edit.parquet_footers": "AttachedFile",
            "amudai.edit.publish": "Publication",
            "amudai.edit.root": "Root",
        },
    )

__all__ = [
    "DROP_HINT",
    "GRACE",
    "ORPHAN_GRACE",
    "AttachedFile",
    "Attachment",
    "IndexChange",
    "IndexPart",
    "MergedSource",
    "Merging",
    "Naming",
    "Orphan",
    "Publication",
    "Root",
    "add_columns",
    "attached_stripes",
    "collect_garbage",
    "copy_shard",
    "feed",
    "first_free_id",
    "index_parts",
    "orphans_below",
    "own_files",
    "stored_batches",
    "with_deleted",
    "with_fields",
    "with_indexes",
    "with_stored_values",
]
