"""Amudai: columnar shards that carry their own indexes, read as Arrow.

>>> import amudai
>>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
>>> shard.read(["status"]).num_rows
400
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.api import (
        BadRecord,
        BlockLayout,
        BufferLayout,
        CachedStore,
        Column,
        CsvWriter,
        Dataset,
        Explanation,
        Extension,
        Field,
        FieldLayout,
        FieldStats,
        Garbage,
        HashIndex,
        Index,
        JsonLinesWriter,
        Limits,
        LostRows,
        Predicate,
        Problem,
        Progress,
        Salvage,
        Scan,
        Shard,
        ShardFile,
        ShardLayout,
        ShardWriter,
        Source,
        Stripe,
        StripeField,
        StripeLayout,
        Task,
        TermIndex,
        Verification,
        add_indexes,
        append,
        attach,
        col,
        collect_garbage,
        compact,
        copy,
        dataset,
        delete,
        drop_columns,
        follow,
        gc,
        ingest,
        materialize,
        merge,
        open,  # noqa: A004
        read_files,
        refresh,
        rename_columns,
        salvage,
        undelete,
        upsert,
        with_columns,
        write,
        write_dataset,
    )
    from amudai.errors import (
        AmudaiError,
        Cancelled,
        CorruptedData,
        FilesInUseWarning,
        InvalidArgument,
        InvalidSchema,
        LimitExceeded,
        NeedlessIndexWarning,
        StorageError,
        UnsupportedFeature,
    )
    from amudai.interop import (
        QueryExplanation,
        QueryLimits,
        QueryResult,
        attach_iceberg,
        kql,
        open_iceberg,
        read_pandas,
        scan_polars,
        sql,
        sql_result,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.api": (
                "BadRecord BlockLayout BufferLayout CachedStore Column CsvWriter Dataset Explanation Extension Field "
                "FieldLayout FieldStats Garbage HashIndex Index JsonLinesWriter Limits LostRows Predicate Problem "
                "Progress Salvage Scan Shard ShardFile ShardLayout ShardWriter Source Stripe StripeField StripeLayout "
                "Task TermIndex Verification add_indexes append attach col collect_garbage compact copy dataset delete "
                "drop_columns follow gc ingest materialize merge open read_files refresh rename_columns salvage "
                "undelete upsert with_columns write write_dataset"
            ),
            "amudai.errors": (
                "AmudaiError Cancelled CorruptedData FilesInUseWarning InvalidArgument InvalidSchema LimitExceeded "
                "NeedlessIndexWarning StorageError UnsupportedFeature"
            ),
            "amudai.interop": (
                "QueryExplanation QueryLimits QueryResult attach_iceberg kql open_iceberg read_pandas scan_polars sql "
                "sql_result"
            ),
        },
    )

__all__ = [
    "AmudaiError",
    "BadRecord",
    "BlockLayout",
    "BufferLayout",
    "CachedStore",
    "Cancelled",
    "Column",
    "CorruptedData",
    "CsvWriter",
    "Dataset",
    "Explanation",
    "Extension",
    "Field",
    "FieldLayout",
    "FieldStats",
    "FilesInUseWarning",
    "Garbage",
    "HashIndex",
    "Index",
    "InvalidArgument",
    "InvalidSchema",
    "JsonLinesWriter",
    "LimitExceeded",
    "Limits",
    "LostRows",
    "NeedlessIndexWarning",
    "Predicate",
    "Problem",
    "Progress",
    "QueryExplanation",
    "QueryLimits",
    "QueryResult",
    "Salvage",
    "Scan",
    "Shard",
    "ShardFile",
    "ShardLayout",
    "ShardWriter",
    "Source",
    "StorageError",
    "Stripe",
    "StripeField",
    "StripeLayout",
    "Task",
    "TermIndex",
    "UnsupportedFeature",
    "Verification",
    "add_indexes",
    "append",
    "attach",
    "attach_iceberg",
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
    "kql",
    "materialize",
    "merge",
    "open",
    "open_iceberg",
    "read_files",
    "read_pandas",
    "refresh",
    "rename_columns",
    "salvage",
    "scan_polars",
    "sql",
    "sql_result",
    "undelete",
    "upsert",
    "with_columns",
    "write",
    "write_dataset",
]

__version__ = "0.1.0"
