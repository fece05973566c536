"""How does a new root use old bytes?

`root.py` has `Root`, a frozen value with the whole content of a root, including fields that this version does not know.
`take_over.py` reads it from an open shard. An operation is a pure function from `Root` to `Root`: `indexes.py` has the
first, which adds indexes, and feeds the builders of indexes with the values of a shard; `columns.py` adds fields,
`deletes.py` marks rows as deleted, `merging.py` makes one root of several; `lost_fields.py` says what is left of an
index whose fields go or are stored again. `attaching.py` makes a root over Parquet files, of which `parquet_footers.py`
reads the footers; `refreshing.py` says what is left of it when files changed, and `materializing.py` stores such values
in the shard itself.
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
    from amudai.edit.lost_fields import index_of_other_fields, require_optional
    from amudai.edit.materializing import with_stored_values
    from amudai.edit.merged_indexes import IndexPart, index_parts
    from amudai.edit.merging import DROP_HINT, MergedSource, Merging
    from amudai.edit.naming import Naming
    from amudai.edit.orphans import ORPHAN_GRACE, Orphan, orphans_below
    from amudai.edit.parquet_footers import AttachedFile, RowGroups, fingerprint_of_parquet
    from amudai.edit.publish import Publication
    from amudai.edit.references import urls_of
    from amudai.edit.refreshing import ComparedFiles, SavedBytes, with_saved_bytes
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
            "amudai.edit.lost_fields": "index_of_other_fields require_optional",
            "amudai.edit.materializing": "with_stored_values",
            "amudai.edit.merged_indexes": "IndexPart index_parts",
            "amudai.edit.merging": "DROP_HINT MergedSource Merging",
            "amudai.edit.naming": "Naming",
            "amudai.edit.orphans": "ORPHAN_GRACE Orphan orphans_below",
            "amudai.edit.parquet_footers": "AttachedFile RowGroups fingerprint_of_parquet",
            "amudai.edit.publish": "Publication",
            "amudai.edit.references": "urls_of",
            "amudai.edit.refreshing": "ComparedFiles SavedBytes with_saved_bytes",
            "amudai.edit.root": "Root",
        },
    )

__all__ = [
    "DROP_HINT",
    "GRACE",
    "ORPHAN_GRACE",
    "AttachedFile",
    "Attachment",
    "ComparedFiles",
    "IndexChange",
    "IndexPart",
    "MergedSource",
    "Merging",
    "Naming",
    "Orphan",
    "Publication",
    "Root",
    "RowGroups",
    "SavedBytes",
    "add_columns",
    "attached_stripes",
    "collect_garbage",
    "copy_shard",
    "feed",
    "fingerprint_of_parquet",
    "first_free_id",
    "index_of_other_fields",
    "index_parts",
    "orphans_below",
    "own_files",
    "require_optional",
    "stored_batches",
    "urls_of",
    "with_deleted",
    "with_fields",
    "with_indexes",
    "with_saved_bytes",
    "with_stored_values",
]
