"""What does a user call?

`open` gives a `Shard`. A `Shard` gives tables, batches, rows, `Field`s, and a picture of itself; what it shares with
other sources of rows is in `tabular.py`. Everything here is thin: it checks arguments and asks the rooms below.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.api.appending import append, append_parts
    from amudai.api.arrow_dataset import ArrowDataset, ArrowTask
    from amudai.api.attaching import attach, materialize
    from amudai.api.columns import drop_columns, rename_columns, with_columns
    from amudai.api.compaction import compact
    from amudai.api.dataset_writing import new_shard_name, write_dataset
    from amudai.api.datasets import Dataset, dataset
    from amudai.api.deleting import delete, undelete
    from amudai.api.field import Field
    from amudai.api.field_stats import FieldStats
    from amudai.api.following import AtEnd, follow
    from amudai.api.frames import to_pandas, to_polars
    from amudai.api.garbage import collect_garbage
    from amudai.api.housekeeping import Garbage, copy, gc
    from amudai.api.indexing import add_indexes
    from amudai.api.ingestion import ingest
    from amudai.api.job_place import JobPlace, new_job_place
    from amudai.api.merging import merge, merged
    from amudai.api.opening import open  # noqa: A004
    from amudai.api.outcome import Outcome
    from amudai.api.parallel_work import PartWork, merged_parts, split_evenly
    from amudai.api.plugin_indexes import IndexAnswer, IndexPlugin, PluginBuilder, PluginIndex, register_index
    from amudai.api.progress import Progress
    from amudai.api.refreshing import refresh
    from amudai.api.salvaging import Salvage, salvage
    from amudai.api.scan import Scan
    from amudai.api.shard import Shard
    from amudai.api.stripe import Stripe
    from amudai.api.stripe_field import StripeField
    from amudai.api.tabular import Tabular
    from amudai.api.task import Task
    from amudai.api.upserting import upsert
    from amudai.api.where import Where, predicate_of
    from amudai.api.writing import ShardWriter, write
    from amudai.arrow import Extension
    from amudai.exports import CsvWriter, JsonLinesWriter
    from amudai.index import (
        Collation,
        HashIndex,
        IndexQuestion,
        TermIndex,
        Tokenizer,
        register_collation,
        register_tokenizer,
    )
    from amudai.inspect import (
        BlockLayout,
        BufferLayout,
        FieldLayout,
        Index,
        LostRows,
        Problem,
        ShardFile,
        ShardLayout,
        StripeLayout,
        Verification,
    )
    from amudai.limits import Limits
    from amudai.predicate import Column, Predicate, col
    from amudai.scan import Explanation
    from amudai.sources import BadRecord, Source, read_files
    from amudai.storage import CachedStore
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.api.attaching": "attach materialize",
            "amudai.api.datasets": "Dataset dataset",
            "amudai.api.appending": "append append_parts",
            "amudai.api.dataset_writing": "new_shard_name write_dataset",
            "amudai.api.arrow_dataset": "ArrowDataset ArrowTask",
            "amudai.api.tabular": "Tabular",
            "amudai.api.parallel_work": "PartWork merged_parts split_evenly",
            "amudai.api.where": "Where predicate_of",
            "amudai.api.deleting": "delete undelete",
            "amudai.api.columns": "drop_columns rename_columns with_columns",
            "amudai.api.field": "Field",
            "amudai.api.field_stats": "FieldStats",
            "amudai.api.frames": "to_pandas to_polars",
            "amudai.api.garbage": "collect_garbage",
            "amudai.api.housekeeping": "Garbage copy gc",
            "amudai.api.indexing": "add_indexes",
            "amudai.api.following": "AtEnd follow",
            "amudai.api.ingestion": "ingest",
            "amudai.api.compaction": "compact",
            "amudai.api.job_place": "JobPlace new_job_place",
            "amudai.api.merging": "merge merged",
            "amudai.api.opening": "open",
            "amudai.api.outcome": "Outcome",
            "amudai.api.plugin_indexes": "IndexAnswer PluginBuilder IndexPlugin PluginIndex register_index",
            "amudai.api.progress": "Progress",
            "amudai.api.refreshing": "refresh",
            "amudai.api.salvaging": "Salvage salvage",
            "amudai.api.scan": "Scan",
            "amudai.api.shard": "Shard",
            "amudai.api.stripe": "Stripe",
            "amudai.api.stripe_field": "StripeField",
            "amudai.api.task": "Task",
            "amudai.api.upserting": "upsert",
            "amudai.api.writing": "ShardWriter write",
            "amudai.arrow": "Extension",
            "amudai.exports": "CsvWriter JsonLinesWriter",
            "amudai.index": (
                "Collation HashIndex IndexQuestion TermIndex Tokenizer register_collation register_tokenizer"
            ),
            "amudai.inspect": (
                "BlockLayout BufferLayout FieldLayout Index LostRows Problem ShardFile ShardLayout StripeLayout "
                "Verification"
            ),
            "amudai.limits": "Limits",
            "amudai.predicate": "Column Predicate col",
            "amudai.scan": "Explanation",
            "amudai.sources": "BadRecord Source read_files",
            "amudai.storage": "CachedStore",
        },
    )

__all__ = [
    "ArrowDataset",
    "ArrowTask",
    "AtEnd",
    "BadRecord",
    "BlockLayout",
    "BufferLayout",
    "CachedStore",
    "Collation",
    "Column",
    "CsvWriter",
    "Dataset",
    "Explanation",
    "Extension",
    "Field",
    "FieldLayout",
    "FieldStats",
    "Garbage",
    "HashIndex",
    "Index",
    "IndexAnswer",
    "IndexPlugin",
    "IndexQuestion",
    "JobPlace",
    "JsonLinesWriter",
    "Limits",
    "LostRows",
    "Outcome",
    "PartWork",
    "PluginBuilder",
    "PluginIndex",
    "Predicate",
    "Problem",
    "Progress",
    "Salvage",
    "Scan",
    "Shard",
    "ShardFile",
    "ShardLayout",
    "ShardWriter",
    "Source",
    "Stripe",
    "StripeField",
    "StripeLayout",
    "Tabular",
    "Task",
    "TermIndex",
    "Tokenizer",
    "Verification",
    "Where",
    "add_indexes",
    "append",
    "append_parts",
    "attach",
    "col",
    "collect_garbage",
    "compact",
    "copy",
    "dataset",
    "delete",
    "drop_columns",
    "follow",
    "gc",
    "ingest",
    "materialize",
    "merge",
    "merged",
    "merged_parts",
    "new_job_place",
    "new_shard_name",
    "open",
    "predicate_of",
    "read_files",
    "refresh",
    "register_collation",
    "register_index",
    "register_tokenizer",
    "rename_columns",
    "salvage",
    "split_evenly",
    "to_pandas",
    "to_polars",
    "undelete",
    "upsert",
    "with_columns",
    "write",
    "write_dataset",
]
