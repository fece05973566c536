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
        Column,
        CsvWriter,
        Explanation,
        Field,
        FieldLayout,
        FieldStats,
        HashIndex,
        Index,
        JsonLinesWriter,
        Limits,
        Predicate,
        Problem,
        Progress,
        Scan,
        Shard,
        ShardLayout,
        ShardWriter,
        Source,
        Stripe,
        StripeLayout,
        Task,
        TermIndex,
        Verification,
        add_indexes,
        col,
        collect_garbage,
        ingest,
        open,  # noqa: A004
        read_files,
        write,
    )
    from amudai.errors import (
        AmudaiError,
        CorruptedData,
        InvalidArgument,
        InvalidSchema,
        LimitExceeded,
        NeedlessIndexWarning,
        StorageError,
        UnsupportedFeature,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.api": (
                "BadRecord BlockLayout BufferLayout Column CsvWriter Explanation Field FieldLayout FieldStats "
                "HashIndex Index JsonLinesWriter Limits Predicate Problem Progress Scan Shard ShardLayout ShardWriter "
                "Source Stripe StripeLayout Task TermIndex Verification add_indexes col collect_garbage ingest "
                "open read_files write"
            ),
            "amudai.errors": (
                "AmudaiError CorruptedData InvalidArgument InvalidSchema LimitExceeded NeedlessIndexWarning "
                "StorageError UnsupportedFeature"
            ),
        },
    )

__all__ = [
    "AmudaiError",
    "BadRecord",
    "BlockLayout",
    "BufferLayout",
    "Column",
    "CorruptedData",
    "CsvWriter",
    "Explanation",
    "Field",
    "FieldLayout",
    "FieldStats",
    "HashIndex",
    "Index",
    "InvalidArgument",
    "InvalidSchema",
    "JsonLinesWriter",
    "LimitExceeded",
    "Limits",
    "NeedlessIndexWarning",
    "Predicate",
    "Problem",
    "Progress",
    "Scan",
    "Shard",
    "ShardLayout",
    "ShardWriter",
    "Source",
    "StorageError",
    "Stripe",
    "StripeLayout",
    "Task",
    "TermIndex",
    "UnsupportedFeature",
    "Verification",
    "add_indexes",
    "col",
    "collect_garbage",
    "ingest",
    "open",
    "read_files",
    "write",
]

__version__ = "0.1.0"
